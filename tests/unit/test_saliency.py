"""Saliency of source sub-words against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from triattn_core.analysis.maps import saliency
from triattn_core.configs.translation import TranslationConfig
from triattn_core.models.translation import TranslationModel, padded

STEP = 1e-5


@pytest.mark.parametrize("rows", [1, 16])
def test_saliency_is_the_gradient_times_the_vectors(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saliency, "ROWS", rows)
    torch.manual_seed(4)
    config = TranslationConfig(mechanism="mtsa", out=8, heads=2, layers=1, feed_forward=8, scale_t="identity")
    model = TranslationModel(config, 11).double().eval()
    source, target, following = padded([[3, 5, 7]], 0), padded([[0, 4]], 0), [4, 9]
    found = saliency.source_saliency(model, source, target, following)
    vectors = model.table.weight[torch.tensor([3, 5, 7])].detach()

    def scores(place: int, feature: int, change: float) -> np.ndarray:
        def moved(module, given, output):
            if output.shape[1] == 3:
                output = output.clone()
                output[0, place, feature] += change
            return output

        hook = model.table.register_forward_hook(moved)
        with torch.no_grad():
            rows = model(source, target)[0].log_softmax(-1)
        hook.remove()
        return np.array([float(row[one]) for row, one in zip(rows, following)])

    for place in range(3):
        slopes = [(scores(place, d, STEP) - scores(place, d, -STEP)) / (2 * STEP) for d in range(8)]
        expected = np.abs(sum(slope * float(vectors[place, d]) for d, slope in enumerate(slopes)))
        np.testing.assert_allclose(found[:, place], expected, rtol=1e-4, atol=1e-8)
    assert found.shape == (2, 3) and (found > 0).all()
