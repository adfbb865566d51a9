"""Maps of similarity functions through their own payload."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.support.similarity_traces import M, N, make_trace, panels, softmax
from triattn_core.errors import InputError
from triattn_core.trace import AttentionTrace
from triattn_core.views import similarity
from triattn_core.views.charts import distributions
from triattn_core.views.lib.palette import SignedScale
from triattn_core.views.similarity import spread


def unpack(packed: str, kind: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed), kind).reshape(shape)


@pytest.mark.parametrize("quantity", ["relevance", "centred", "weight"])
@pytest.mark.parametrize("shared", [True, False])
def test_levels_are_those_of_their_scale(quantity, shared):
    two = panels()
    payload = similarity.figure(two, quantity, shared).payload
    scales = [one["scale"] for one in payload["panels"]]
    assert (scales[0] == scales[1]) == shared and payload["title"].endswith("one scale") == shared
    for panel, payload_panel in zip(two, payload["panels"]):
        scores = panel.trace.site("attention/relevance").values
        expected = scores - scores.mean(1, keepdims=True) if quantity == "centred" else scores
        if quantity == "weight":
            expected = panel.trace.site("attention/weight").values
            share = np.log(expected / payload_panel["scale"]["low"]) / np.log(
                payload_panel["scale"]["high"] / payload_panel["scale"]["low"]
            )
            levels = np.clip(255 * share, 0, 255)
        else:
            levels = SignedScale(payload_panel["scale"]["limit"]).levels(expected)
        sent_levels = unpack(payload_panel["levels"], "u1", M, N).astype(float)
        np.testing.assert_allclose(sent_levels, levels, atol=0.51)
        for end in ("start", "end"):
            np.testing.assert_array_equal(unpack(payload_panel[end], "f4", M), panel.trace.site(f"{end}/weight").values)


def test_exact_numbers_are_sent_with_a_file_alone():
    two = panels()
    assert "relevance" not in similarity.figure(two).payload["panels"][0]
    canvas = similarity.figure(two, exact=True, cell=(4, 2, 1))
    for panel, payload_panel in zip(two, canvas.payload["panels"]):
        for name in ("relevance", "weight"):
            np.testing.assert_array_equal(
                unpack(payload_panel[name], "f4", M, N), panel.trace.site(f"attention/{name}").values
            )
    page = canvas.html()
    assert "<boat>" not in page and "\\u003cboat>" in page and canvas.payload["cell"] == [4, 2, 1]


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


def test_a_probability_is_said_as_the_figure_writes_it():
    texts_by_value = {
        0.0: "0.000",
        1e-5: "< 0.001",
        0.0004999: "< 0.001",
        0.0005: "0.001",
        0.9994: "0.999",
        0.99951: "> 0.999",
    }
    assert {value: similarity.chance(value) for value in texts_by_value} == texts_by_value and similarity.chance(
        1.0
    ) == "1.000"


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
