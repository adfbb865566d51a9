"""Each stored trace is what its model computes, and is found for its checkpoint and example alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
import xarray as xr

from tests.oracles.cell_removal import without_cell
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.intervention.cell_removal import cell_costs
from triattn_core.attention.tap import recording
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.inference import stored_traces
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain
from triattn_core.inference.stored_traces.__main__ import defaults
from triattn_core.trace.site import Site

DEFAULTS = {entry.name: (entry, example) for entry, example in defaults()}
AGAIN = "python -m triattn_core.inference.stored_traces computes them again"
MOST_BYTES = 3_000_000  # of all files
VOLATILE = {"seconds", "device", stored_traces.DATE}
TOLERANCE = 3e-5  # of the largest number, at least of 1: threads and processors add up in other orders


def test_the_files_are_those_of_the_pages() -> None:
    expected = {stored_traces.path(*default).name for default in DEFAULTS.values()}
    files = list(stored_traces.FOLDER.glob("*.npz"))
    assert {file.name for file in files} == expected, AGAIN
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_stored_trace_is_that_of_the_model(name: str) -> None:
    entry, example = DEFAULTS[name]
    stored = stored_traces.find(entry, example)
    assert stored is not None, AGAIN
    (prediction, trace), (live_prediction, live) = stored, explain(load(entry.path, "cpu"), example)
    assert list(trace.sites) == list(live.sites) and trace.texts == live.texts, AGAIN
    for site, array in live.sites.items():
        assert trace.sites[site].attrs == array.attrs
        largest = float(np.abs(array.values, where=np.isfinite(array.values), out=np.zeros_like(array.values)).max())
        xr.testing.assert_allclose(trace.sites[site], array, rtol=0, atol=TOLERANCE * max(1.0, largest))
        kinds = [{name: dtype.kind for name, dtype in one.coords.dtypes.items()} for one in (trace.sites[site], array)]
        assert trace.sites[site].dtype == array.dtype and kinds[0] == kinds[1]
    assert {name: trace.meta[name] for name in trace.meta if name not in VOLATILE} == {
        name: live.meta[name] for name in live.meta if name not in VOLATILE
    }
    assert type(prediction) is type(live_prediction)
    assert getattr(prediction, "parts", 1) == 1  # pages offer no choice of a part of a stored passage
    np.testing.assert_allclose(prediction.probabilities, live_prediction.probabilities, rtol=0, atol=TOLERANCE)
    numbers = {"probabilities": (), "spans": ()} if hasattr(prediction, "spans") else {"probabilities": ()}
    assert replace(prediction, **numbers) == replace(live_prediction, **numbers)
    for one, other in zip(getattr(prediction, "spans", ()), getattr(live_prediction, "spans", ()), strict=True):
        assert one[:2] == other[:2] and one.window == other.window


def test_another_digest_example_or_option_has_no_stored_trace() -> None:
    entry, example = DEFAULTS["quora-tri-living"]
    assert stored_traces.find(entry, example) is not None
    other_encoder = {**entry.config, "encoder_digest": "0" * 64}
    for changed in (
        (replace(entry, digest="0" * 64), example),
        (replace(entry, config=other_encoder), example),
        (entry, replace(example, text_a=f"{example.text_a}?")),
        (entry, example, 0),
    ):
        assert stored_traces.find(*changed) is None


def test_a_file_under_the_name_of_another_is_not_taken(tmp_path) -> None:
    """The name has twelve digits of the key, the file has all of them."""
    entry, example = DEFAULTS["squad-dot"]
    file = stored_traces.path(entry, example)
    shutil.copy(file, tmp_path)
    assert stored_traces.find(entry, example, folder=tmp_path) is not None
    shutil.copy(stored_traces.path(*DEFAULTS["squad-cosine"]), tmp_path / file.name)
    assert stored_traces.find(entry, example, folder=tmp_path) is None


def test_nothing_is_lost_on_the_way(tmp_path) -> None:
    entry, example = DEFAULTS["false-friends-cbi"]
    prediction, trace = explain(load(entry.path, "cpu"), example)
    stored_traces.write(tmp_path / "one.npz", "key", prediction, trace, "2026-01-31")
    key, stored_prediction, stored = stored_traces.read(tmp_path / "one.npz")
    assert (key, stored_prediction) == ("key", prediction)
    assert stored.meta == {**trace.meta, stored_traces.DATE: "2026-01-31"} and json.dumps(dict(stored.meta))
    for site, array in trace.sites.items():
        xr.testing.assert_identical(stored.sites[site], array)


def test_stored_costs_are_those_of_the_model() -> None:
    entry, example = DEFAULTS["quora-tri-living"]
    stored = stored_traces.find(entry, example)
    assert stored is not None
    bundle, site = load(entry.path, "cpu"), next(site for site in stored[1].sites if site.quantity == "weight")
    for head in (None, 5):
        costs = stored_traces.find_costs(entry, example, site, head)
        assert len(costs) >= 8, AGAIN
        found = cell_costs(bundle, example, site, list(costs), head)
        np.testing.assert_allclose(list(costs.values()), found, rtol=0, atol=TOLERANCE, err_msg=AGAIN)
    assert not stored_traces.find_costs(replace(entry, digest="0" * 64), example, site, None)


def test_cells_are_those_of_the_trace_where_special_tokens_are_left_out_of_it():
    """Nothing attends to special tokens in this model: its cube has more places than the trace shows."""
    entry, example = DEFAULTS["quora-tri-living"]
    bundle, site = load(entry.path, "cpu"), Site(layer=0, role="a_over_b", quantity="weight")
    shown = explain(bundle, example)[1].site(site).values  # [head, query, key, context]
    query, head = run_query(bundle, example), 5
    cell = np.unravel_index(shown[head].argmax(), shown[head].shape)
    with torch.inference_mode():
        encoded = bundle.encoder(collate([query.roles], bundle.tokenizer))
        with recording(lambda at: at == site) as record:
            before = query.log_odds(bundle.model(encoded).float())
        weights = record.sites[site].tensor[0].double().numpy()
        assert weights.shape[-1] > shown.shape[-1]
        place = tuple(int(at[0]) for at in np.where(weights[head] == weights[head].max()))
        assert weights[(head, *place)] == pytest.approx(shown[(head, *cell)], abs=1e-6)
        changed = torch.tensor(without_cell(weights, place, [head])).float()[None]
        with replacing(lambda at, own, keeps: changed if at == site else own):
            after = query.log_odds(bundle.model(encoded).float())
    (cost,) = cell_costs(bundle, example, site, [tuple(map(int, cell))], head)
    assert cost == pytest.approx(float(before - after), abs=1e-5)
    assert abs(cost) > 1e-4
