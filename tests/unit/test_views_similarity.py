"""Maps of similarity functions through their own payload."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from tests.support.similarity_traces import M, N, make_trace, panels, softmax
from triattn_core.errors import InputError
from triattn_core.trace import AttentionTrace
from triattn_core.views import similarity
from triattn_core.views.charts import distributions
from triattn_core.views.lib.palette import SignedScale
from triattn_core.views.similarity import spread
from triattn_core.views.similarity.terms import cancel_note


@pytest.mark.parametrize("quantity", ["relevance", "centred", "weight"])
@pytest.mark.parametrize("shared", [True, False])
def test_levels_are_those_of_their_scale(quantity, shared):
    two = panels()
    payload = similarity.figure(two, quantity, shared).payload
    assert list(payload["scales"]) == (["main"] if shared else ["0", "1"])
    assert all(scale["title"].endswith("one scale") == shared for scale in payload["scales"].values())
    for i, (panel, sent_panel) in enumerate(zip(two, payload["panels"])):
        scale = payload["scales"][sent_panel["cells"]["scale"]]
        scores = panel.trace.site("attention/relevance").values
        expected = scores - scores.mean(1, keepdims=True) if quantity == "centred" else scores
        if quantity == "weight":
            expected = panel.trace.site("attention/weight").values
            levels = np.clip(255 * np.log(expected / scale["low"]) / np.log(scale["high"] / scale["low"]), 0, 255)
        else:
            levels = SignedScale(scale["limit"]).levels(expected)
        np.testing.assert_allclose(sent_array(payload, i, "levels").astype(float), levels, atol=0.51)
        for end in ("start", "end"):
            np.testing.assert_array_equal(sent_array(payload, i, end), panel.trace.site(f"{end}/weight").values)


def test_exact_numbers_are_sent_with_a_file_alone():
    two = panels()
    payload = similarity.figure(two).payload
    assert "values" not in payload["panels"][0]["arrays"] and "≈ {levels:level}" in str(payload["readout"]["tip"])
    canvas = similarity.figure(two, "weight", exact=True, cell=(4, 2, 1))
    for i, panel in enumerate(two):
        weights = panel.trace.site("attention/weight").values
        np.testing.assert_array_equal(sent_array(canvas.payload, i, "values"), weights)
    page = canvas.html()
    assert "<boat>" not in page and "\\u003cboat>" in page and canvas.payload["cell"] == [4, 2, 1]


def test_the_answer_of_a_function_is_marked_and_said():
    first, second = similarity.figure(panels()).payload["panels"]
    assert first["answer"] == {"label": "blue boat", "probability": 0.4, "share": "0.400", "right": True,
                               "score": "next 0.200: The"}  # fmt: skip
    assert second["answer"]["score"] == "in part 4" and second["answer"]["right"] is False
    said = [(span["says"], span["look"], span["share"]) for span in first["spans"]]
    assert said == [("answers", "answer", "0.400"), ("next best", "next", "0.200")]
    lost = replace(panels()[0], spans=())
    payload = similarity.figure([lost]).payload
    assert payload["panels"][0]["spans"][0]["says"] == "answers nothing" and not payload["panels"][0]["answer"]["share"]
    assert sent_array(similarity.figure(panels()).payload, 0, "answered").tolist() == [0, 0, 0, 0, 0, 1, 1]


TRILINEAR = {"alike": ["w_p·h"], "alike_down": ["w_q·u"]}
BOTH, BIDAF = (TRILINEAR | {"over_passage": {"one_for_all": shared}} for shared in (False, True))


@pytest.mark.parametrize("facts", [TRILINEAR, BOTH, BIDAF])
@pytest.mark.parametrize("quantity", ["relevance", "centred", "weight"])
def test_over_the_question_the_passage_words_own_term_cancels(facts, quantity):
    note = cancel_note(quantity, facts)
    assert note.startswith("w_p·h: the same for") and "softmax over the question" in note


def test_over_the_passage_the_question_words_own_term_cancels_but_not_in_bidaf():
    note = cancel_note("over passage", BOTH)
    assert note.startswith("w_q·u: the same for") and note.endswith("softmax over the passage takes it away")
    assert cancel_note("over passage", BIDAF).startswith("w_p·h: counts here")
    assert cancel_note("weight", {}) == cancel_note("over passage", {"over_passage": {"one_for_all": False}}) == ""


def test_it_opens_at_the_answer_of_the_last_function():
    first, second = panels()
    assert similarity.answer_words(first) == [5, 6]
    weights = first.trace.site("attention/weight").values
    assert similarity.first_cell([second, first]) == (5, int(weights[5].argmax()), 1)
    lost = similarity.FunctionPanel("dot", make_trace(3))  # no answer here: where it is likeliest to start
    assert similarity.first_cell([lost])[0] == int(lost.trace.site("start/weight").values.argmax())


def test_readers_of_different_words_are_not_drawn_together():
    with pytest.raises(InputError, match="cut the passage in different places"):
        similarity.figure([panels()[0], similarity.FunctionPanel("fnn", make_trace(m=5))])


def test_every_cell_is_a_row_and_every_site_is_saved(tmp_path):
    two = panels()
    rows = similarity.table(two)
    assert len(rows) == 2 * M * N
    row = rows[(rows["function"] == "cosine") & (rows["passage_at"] == 4) & (rows["question_at"] == 2)].iloc[0]
    assert row["passage"] == "the" and row["question"] == "left?" and row["checkpoint"] == "two"
    assert row["relevance"] == two[1].trace.site("attention/relevance").values[4, 2]
    assert row["end"] == two[1].trace.site("end/weight").values[4]
    joined = similarity.joined(two)
    joined.save(tmp_path / "trace.nc")
    again = AttentionTrace.load(tmp_path / "trace.nc")
    assert set(map(str, again.sites)) == {f"{one.title}/{name}" for one in two for name in one.trace.sites}
    np.testing.assert_array_equal(again.site("cosine/attention/weight"), two[1].trace.site("attention/weight"))


def test_titles_tell_readers_apart():
    def model(similarity, output="O_2", mechanism="baseline"):
        return {"similarity": similarity, "output": output, "mechanism": mechanism}

    assert similarity.titles({"a": model("fnn"), "b": model("t_trilinear")}) == {"a": "FNN", "b": "T-trilinear"}
    both = similarity.titles({"a": model("dot"), "b": model("dot", "O_1"), "c": model("dot", mechanism="dcn")})
    assert both == {"a": "dot-product", "b": "dot-product, no product", "c": "DCN dot-product"}
    assert similarity.titles({"a": model("dot"), "b": model("dot")})["b"] == "dot-product (b)"


def test_weights_that_no_passage_word_changes_are_said():
    one, other = panels()
    assert "same weights" not in similarity.alt([one, other])
    weights = one.trace.site("attention/weight")
    even = weights.copy(data=np.broadcast_to(softmax(np.arange(float(N))), weights.shape))
    sites = {**one.trace.sites, "attention/weight": even}
    flat = replace(one, trace=replace(one.trace, sites=sites))
    assert f"{flat.title} gives every passage word the same weights" in similarity.alt([flat, other])
    assert similarity.alt([flat, other]).startswith(f"Maps of {M} passage words by {N} question words: ")
    assert similarity.counted(flat.trace) == f"{M} words and marks"


def test_centred_scores_are_those_the_softmax_sees():
    panel = panels()[0]
    scores = panel.trace.site("attention/relevance").values.astype(float)
    centred = spread.scores(panel, "centred").reshape(scores.shape)
    np.testing.assert_allclose(centred, scores - scores.mean(1, keepdims=True), atol=1e-6)
    statistics = spread.numbers([panel], "centred").iloc[0]
    assert statistics["mean"] == pytest.approx(0, abs=1e-6) and statistics["deviation"] == pytest.approx(centred.std())
    rows = distributions.counts(centred.ravel(), distributions.edges([centred]))
    spec = json.loads(distributions.histogram(rows, top=0.75).to_json())
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 0.75]
