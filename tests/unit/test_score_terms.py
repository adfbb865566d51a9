"""The terms of a score, and the three-way share whose right value theory gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from triattn_core.checkpoint.bundle import load, save
from triattn_core.configs.laboratory import LaboratoryCheckpoint
from triattn_core.inference.explain import explain
from triattn_core.inference.score_terms import score_terms
from triattn_core.models.laboratory import LaboratoryModel
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.trace.site import Site

TASK = "false-friends"
WITHOUT = ("strassen", "tree")  # no term reads all three
PARTS = {"scaled_dot": ("feature", 6), "determinant": ("block", 2), "additive": ("feature", 6)}  # six a head
TERMS = {"strassen": ["q·k", "q·c", "k·c"], "tree": ["q·k", "k·c"]}


@pytest.fixture(params=["scaled_dot", "determinant", "additive", *WITHOUT])
def bundle(request, tmp_path):
    """A model whose weights are drawn."""
    raw = {
        "format": 1,
        "kind": "laboratory",
        "task": TASK,
        "model": {"mechanism": "tri", "similarity": request.param, "heads": 2, "hidden": 12},
        "training": {"epochs": 1},
    }
    config = LaboratoryCheckpoint.model_validate(raw)
    torch.manual_seed(3)
    save(tmp_path / "drawn", config, LaboratoryModel(config.model, LABORATORY[TASK]))
    return load(tmp_path / "drawn", "cpu")


def test_terms_add_up_and_the_three_way_share_is_that_of_theory(bundle):
    row, similarity = bundle.task.examples()[0], bundle.config.model.similarity
    parts, (_, trace) = score_terms(bundle, row), explain(bundle, row)
    site = Site(layer=0, role="a_over_b")
    np.testing.assert_allclose(parts.relevance, trace.site(site.with_quantity("relevance")).values[:, 0], atol=1e-5)
    np.testing.assert_allclose(parts.weights, trace.site(site.with_quantity("weight")).values[:, 0], atol=1e-6)
    assert list(parts.terms) == TERMS.get(similarity, [])
    if parts.terms:
        np.testing.assert_allclose(sum(parts.terms.values()), parts.relevance, atol=1e-5)
        assert parts.parts is None
    else:
        assert (parts.part, parts.parts.shape[-1]) == PARTS[similarity]
        np.testing.assert_allclose(parts.parts.sum(-1), parts.relevance, atol=1e-5)
    assert parts.three_way.shape == (2,)
    if similarity in WITHOUT:
        assert np.abs(parts.three_way).max() < 1e-9
    else:
        assert parts.three_way.min() > 0.01
