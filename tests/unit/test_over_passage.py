"""The weights of question words over the passage, from the model to the map, the table and the command."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from tests.support.reader_checkpoints import make_system
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import InputError
from triattn_core.inference.explain import explain
from triattn_core.tasks import questions
from triattn_core.views import similarity
from triattn_core.views.similarity import OVER_PASSAGE, FunctionPanel

SITE = "attention/over_passage/weight"
ROW = {"context": "The red boat left the harbour at noon.", "question": "What left?"}
CELL = 3, 1


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkpoints")
    for mechanism in ("baseline", "bidaf", "dcn", "qanet"):
        make_system(root, mechanism, "trilinear")
    return root


@pytest.fixture(autouse=True)
def checkpoint_folder(world, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(world))


def panel(mechanism: str) -> FunctionPanel:
    _, trace = explain(load(f"squad-{mechanism}-trilinear"), questions.Example(ROW["context"], ROW["question"]))
    return FunctionPanel(mechanism, trace)


@pytest.mark.parametrize("mechanism", ["bidaf", "dcn", "qanet"])
def test_the_map_and_the_table_have_the_weights_of_the_trace(mechanism):
    shown = panel(mechanism)
    weights = shown.trace.site(SITE)
    expected = weights.values if weights.ndim == 2 else np.repeat(weights.values[:, None], 3, 1)
    assert (weights.ndim == 1) == (mechanism == "bidaf")
    payload = similarity.figure([shown], OVER_PASSAGE, exact=True).payload
    sent = np.frombuffer(base64.b64decode(payload["panels"][0][OVER_PASSAGE]), "f4").reshape(expected.shape)
    np.testing.assert_array_equal(sent, expected)
    np.testing.assert_array_equal(similarity.table([shown])["weight_over_passage"], expected.ravel())
    sums = expected.sum(0)
    assert (sums < 1 - 1e-6).all() if mechanism == "dcn" else np.allclose(sums, 1, atol=1e-5)
    assert ("one distribution" in payload["notes"]) == (mechanism == "bidaf")


def test_a_baseline_has_none():
    with pytest.raises(InputError, match="do not attend to the passage"):
        similarity.figure([panel("baseline")], OVER_PASSAGE)
    assert "weight_over_passage" not in similarity.table([panel("baseline")])


@pytest.mark.parametrize("mechanism", ["bidaf", "qanet"])
def test_the_command_prints_weight_and_rank(mechanism, tmp_path, capsys):
    row = tmp_path / "row.json"
    row.write_text(json.dumps(ROW), "utf-8")
    column = panel(mechanism).trace.site(SITE).values
    column = column if column.ndim == 1 else column[:, CELL[1]]
    rank = sorted(column, reverse=True).index(column[CELL[0]]) + 1
    assert main(["explain", f"squad-{mechanism}-trilinear", str(row), "--terms", "3.1"]) in (0, None)
    line = f"{column[CELL[0]]:.6g}  weight over the passage, rank {rank} of {len(column)}\n"
    assert line in capsys.readouterr().out
