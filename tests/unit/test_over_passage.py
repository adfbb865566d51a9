"""The weights of question words over the passage, from the model to the map, the table and the command."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from tests.support.reader_checkpoints import make_system
from tests.support.similarity_traces import softmax
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import InputError
from triattn_core.inference.explain import explain
from triattn_core.inference.span_decoding import cell_facts, score_terms
from triattn_core.tasks import questions
from triattn_core.trace.token_grouping import TokenGrouping
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
    np.testing.assert_array_equal(sent_array(payload, 0, "values"), expected)
    np.testing.assert_array_equal(similarity.table([shown])["weight_over_passage"], expected.ravel())
    sums = expected.sum(0)
    assert (sums < 1 - 1e-6).all() if mechanism == "dcn" else np.allclose(sums, 1, atol=1e-5)
    assert ("one distribution" in payload["notes"]) == (mechanism == "bidaf")
    assert payload["panels"][0]["help"].endswith("one for all question words") == (mechanism == "bidaf")
    assert "question → passage" in payload["notes"] and "the cell" not in payload["blocks"]["corner"]
    taken = f"dcn: its sentinel takes {1 - sums.mean():.1%} of a column on average."
    assert (taken in payload["notes"]) == (mechanism == "dcn") == ("sentinel" in payload["notes"])


@pytest.mark.parametrize("mechanism", ["dcn", "qanet"])
def test_groups_share_out_what_their_words_do(mechanism):
    """Passage words are summed where they share one distribution, else averaged; a sentinel has the rest."""
    trace = panel(mechanism).trace
    grouped = TokenGrouping.of(("red boat", "the harbour"), query="phrases").trace(trace)
    cells = grouped.site(SITE)["query_cells"].values
    starts = np.cumsum(cells) - cells
    assert cells.max() == 2
    down = np.add.reduceat(trace.site(SITE).values, starts, 0)
    np.testing.assert_allclose(grouped.site(SITE).values, down, rtol=1e-5)
    across = np.add.reduceat(trace.site("attention/weight").values, starts, 0) / cells[:, None]
    np.testing.assert_allclose(grouped.site("attention/weight").values, across, rtol=1e-5)
    for quantity, reduction in (("weight", "averaged"), (OVER_PASSAGE, "summed")):
        notes = similarity.figure([FunctionPanel(mechanism, grouped)], quantity).payload["notes"]
        before, after = re.search(rf"weights are {reduction}, mass before (.+) and after (.+?)\. ", notes).groups()
        assert before == after and (float(before) < 0.999) == (mechanism == "dcn")


def test_a_baseline_has_none():
    with pytest.raises(InputError, match="do not attend to the passage"):
        similarity.figure([panel("baseline")], OVER_PASSAGE)
    assert "weight_over_passage" not in similarity.table([panel("baseline")])


FLOWS = {"bidaf": "question -> passage, one for all question words"}


@pytest.mark.parametrize("mechanism", ["bidaf", "dcn", "qanet"])
def test_the_command_prints_weight_and_rank(mechanism, tmp_path, capsys):
    row = tmp_path / "row.json"
    row.write_text(json.dumps(ROW), "utf-8")
    trace = panel(mechanism).trace
    column, weights = trace.site(SITE).values, trace.site("attention/weight").values[CELL[0]]
    column = column if column.ndim == 1 else column[:, CELL[1]]
    rank = sorted(column, reverse=True).index(column[CELL[0]]) + 1
    assert main(["explain", f"squad-{mechanism}-trilinear", str(row), "--terms", "3.1"]) in (0, None)
    output, flow = capsys.readouterr().out, FLOWS.get(mechanism, "question -> passage")
    assert f"{column[CELL[0]]:.6g}  weight, {flow}, rank {rank} of {len(column)}\n" in output
    assert f"{weights[CELL[1]]:.6g}  weight, passage -> question, rank " in output
    left = [float(line.split()[0]) for line in output.splitlines() if line.endswith("left to the sentinel")]
    expected = [1 - weights.sum(), 1 - column.sum()] if mechanism == "dcn" else []
    assert left == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("mechanism", ["bidaf", "dcn", "qanet"])
def test_terms_cancel_in_the_softmax_that_is_said(mechanism):
    """Without w_q·u the weights over the passage are the same; not in BiDAF, which has one distribution for all."""
    bundle, example = load(f"squad-{mechanism}-trilinear"), questions.Example(ROW["context"], ROW["question"])
    trace = panel(mechanism).trace
    scores, column = trace.site("attention/relevance").values.astype(float), trace.site(SITE)
    facts = cell_facts(trace, score_terms(bundle, example, *CELL), *CELL)
    assert facts["over_passage"]["one_for_all"] == (mechanism == "bidaf") == ("key" not in column.dims)
    assert (facts["alike"], facts["alike_down"]) == (["w_p·h"], ["w_q·u"])
    terms = [score_terms(bundle, example, CELL[0], key) for key in range(scores.shape[1])]
    reduced = scores - [float(word["w_q·u"].sum()) for word in terms]
    if mechanism == "bidaf":
        same = [np.allclose(softmax(S.max(1)), column.values, atol=1e-5) for S in (scores, reduced)]
        assert same == [True, False]
    else:
        shares = column.values / column.values.sum(0)  # of the words, without a sentinel
        np.testing.assert_allclose(softmax(reduced.T).T, shares, atol=1e-5)
