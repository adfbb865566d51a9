"""What the answer loses without one weight: the weights against loops, the cost against runs one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles.cell_removal import without_cell
from tests.support.analysis_checkpoints import examples, use_checkpoints
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.intervention.cell_removal import cell_costs, remove_cells
from triattn_core.attention.tap import recording
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import InputError
from triattn_core.inference.batch import collate
from triattn_core.trace.site import Site

B, HEADS, N, I, J = 2, 3, 5, 7, 11


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


@pytest.mark.parametrize("head", [None, 1])
@pytest.mark.parametrize("sizes", [(N, I), (N, I, J)])
def test_weights_without_a_cell_are_those_of_the_loops(sizes, head):
    weights = torch.rand(B, HEADS, *sizes, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    cells = [(2, 6, 10), (4, 0, 3)]
    cells = torch.tensor([cell[: len(sizes)] for cell in cells])
    changed = remove_cells(weights, cells, head).numpy()
    heads = list(range(HEADS)) if head is None else [head]
    for row in range(B):
        expected = without_cell(weights[row].numpy(), tuple(cells[row].tolist()), heads)
        np.testing.assert_allclose(changed[row], expected, rtol=1e-12)
    np.testing.assert_allclose(changed.sum(tuple(range(3, changed.ndim))), weights.sum(tuple(range(3, weights.ndim))))


def test_a_query_whose_weight_is_all_on_the_cell_keeps_nothing():
    weights = torch.zeros(1, 1, 2, 3)
    weights[0, 0, 1, 2] = 1.0
    assert remove_cells(weights, torch.tensor([[1, 2]])).abs().sum() == 0


def test_the_cost_is_that_of_runs_one_by_one():
    bundle, example, site = load("pairs-tri"), examples("pairs")[0], Site(layer=0, role="a_over_b", quantity="weight")
    query, cells = run_query(bundle, example), [(0, 1, 2), (1, 0, 3)]
    costs = cell_costs(bundle, example, site, cells, head=0)
    with torch.inference_mode():
        encoded = bundle.encoder(collate([query.roles], bundle.tokenizer))
        with recording(lambda at: at == site) as record:
            before = query.log_odds(bundle.model(encoded).float())
        weights = record.sites[site].tensor
        for cell, cost in zip(cells, costs):
            changed = torch.tensor(without_cell(weights[0].double().numpy(), cell, [0])).to(weights.dtype)[None]
            with replacing(lambda at, own, keeps, changed=changed: changed if at == site else own):
                after = query.log_odds(bundle.model(encoded).float())
            assert cost == pytest.approx(float(before - after), abs=1e-5)
    assert np.abs(costs).max() > 0


def test_a_site_that_is_not_there_is_said():
    with pytest.raises(InputError, match="computes no weights"):
        cell_costs(
            load("pairs-tri"), examples("pairs")[0], Site(layer=9, role="a_over_b", quantity="weight"), [(0, 0, 0)]
        )
