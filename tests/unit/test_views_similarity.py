"""Maps of similarity functions through their own payload, and histograms, box plots and curves through their data."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from triattn_core.checkpoint.registry import Card
from triattn_core.errors import InputError
from triattn_core.results import spreads
from triattn_core.results.run_records import Record
from triattn_core.trace import AttentionTrace
from triattn_core.views import similarity
from triattn_core.views.charts import distributions
from triattn_core.views.lib.palette import SignedScale

PASSAGE = "The red <boat> left, the blue boat stayed."
QUESTION = "Which boat left?"
M, N = 7, 3


def coords(axis: str, text: str, name: str, count: int) -> dict:
    found, start = [], 0
    for word in text.split()[:count]:
        at = text.index(word, start)
        found.append((word, at, at + len(word)))
        start = at + len(word)
    columns = {"token": [one[0] for one in found], "start": [one[1] for one in found], "end": [one[2] for one in found]}
    columns |= {"text": [name] * count, "special": [0] * count, "segment": [""] * count, "tokens": [1] * count}
    return {f"{axis}_{what}": (axis, values) for what, values in columns.items()}


def softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def made(seed: int = 1, size: float = 1.0, m: int = M, checkpoint: str = "one") -> AttentionTrace:
    draw = np.random.default_rng(seed)
    query, key = coords("query", PASSAGE, "passage", m), coords("key", QUESTION, "question", N)
    scores = size * draw.normal(size=(m, N))
    sites = {
        "attention/relevance": (scores, query | key, ("query", "key"), {"quantity": "relevance", "sums_over": ""}),
        "attention/weight": (
            softmax(scores),
            query | key,
            ("query", "key"),
            {"quantity": "weight", "sums_over": "key"},
        ),
    }
    for end in ("start", "end"):
        values = softmax(3 * draw.normal(size=m))
        sites[f"{end}/weight"] = (values, query, ("query",), {"quantity": "weight", "sums_over": "query"})
    arrays = {n: xr.DataArray(v.astype(np.float32), c, d, attrs=a) for n, (v, c, d, a) in sites.items()}
    return AttentionTrace(arrays, {"passage": PASSAGE, "question": QUESTION}, {"checkpoint": checkpoint})


def panels() -> list[similarity.Panel]:
    """The best answer of the first is `blue boat`; that of the second stands in another part."""
    left = PASSAGE.index("blue")
    return [
        similarity.Panel("dot-product", made(1), ((left, left + 9, 0.4), (0, 3, 0.2)), True),
        similarity.Panel("cosine", made(2, 0.1, checkpoint="two"), ((0, 3, 0.3),), False, 4),
    ]


def unpack(packed: str, kind: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed), kind).reshape(shape)


@pytest.mark.parametrize("quantity", similarity.SCALES)
@pytest.mark.parametrize("shared", [True, False])
def test_levels_are_those_of_their_scale(quantity, shared):
    two = panels()
    payload = similarity.figure(two, quantity, shared).payload
    scales = [one["scale"] for one in payload["panels"]]
    assert (scales[0] == scales[1]) == shared and payload["title"].endswith("one scale") == shared
    for panel, one in zip(two, payload["panels"]):
        scores = panel.trace.site("attention/relevance").values
        expected = scores - scores.mean(1, keepdims=True) if quantity == "centred" else scores
        if quantity == "weight":
            expected = panel.trace.site("attention/weight").values
            share = np.log(expected / one["scale"]["low"]) / np.log(one["scale"]["high"] / one["scale"]["low"])
            levels = np.clip(255 * share, 0, 255)
        else:
            levels = SignedScale(one["scale"]["limit"]).levels(expected)
        found = unpack(one["levels"], "u1", M, N).astype(float)
        np.testing.assert_allclose(found, levels, atol=0.51)
        for end in ("start", "end"):
            np.testing.assert_array_equal(unpack(one[end], "f4", M), panel.trace.site(f"{end}/weight").values)


def test_exact_numbers_are_sent_with_a_file_alone():
    two = panels()
    assert "relevance" not in similarity.figure(two).payload["panels"][0]
    canvas = similarity.figure(two, exact=True, cell=(4, 2, 1))
    for panel, one in zip(two, canvas.payload["panels"]):
        for name in ("relevance", "weight"):
            np.testing.assert_array_equal(unpack(one[name], "f4", M, N), panel.trace.site(f"attention/{name}").values)
    page = canvas.html()
    assert "<boat>" not in page and "\\u003cboat>" in page and canvas.payload["cell"] == [4, 2, 1]


def test_it_opens_at_the_answer_of_the_last_function():
    first, second = panels()
    assert similarity.answer_words(first) == [5, 6]
    weights = first.trace.site("attention/weight").values
    assert similarity.first_cell([second, first]) == (5, int(weights[5].argmax()), 1)
    lost = similarity.Panel("dot", made(3))  # no answer here: where it is likeliest to start
    assert similarity.first_cell([lost])[0] == int(lost.trace.site("start/weight").values.argmax())


def test_readers_of_different_words_are_not_drawn_together():
    with pytest.raises(InputError, match="cut the passage in different places"):
        similarity.figure([panels()[0], similarity.Panel("fnn", made(m=5))])


def test_every_cell_is_a_row_and_every_site_is_saved(tmp_path):
    two = panels()
    rows = similarity.table(two)
    assert len(rows) == 2 * M * N
    one = rows[(rows["function"] == "cosine") & (rows["passage_at"] == 4) & (rows["question_at"] == 2)].iloc[0]
    assert one["passage"] == "the" and one["question"] == "left?" and one["checkpoint"] == "two"
    assert one["relevance"] == two[1].trace.site("attention/relevance").values[4, 2]
    assert one["end"] == two[1].trace.site("end/weight").values[4]
    joined = similarity.joined(two)
    joined.save(tmp_path / "trace.nc")
    again = AttentionTrace.load(tmp_path / "trace.nc")
    assert set(again.sites) == {f"{one.title}/{name}" for one in two for name in one.trace.sites}
    np.testing.assert_array_equal(again.site("cosine/attention/weight"), two[1].trace.site("attention/weight"))


def test_titles_tell_readers_apart():
    def model(similarity, output="O_2", mechanism="baseline"):
        return {"similarity": similarity, "output": output, "mechanism": mechanism}

    assert similarity.titles({"a": model("fnn"), "b": model("t_trilinear")}) == {"a": "FNN", "b": "T-trilinear"}
    both = similarity.titles({"a": model("dot"), "b": model("dot", "O_1"), "c": model("dot", mechanism="dcn")})
    assert both == {"a": "dot-product, O_2", "b": "dot-product, O_1", "c": "DCN dot-product, O_2"}
    assert similarity.titles({"a": model("dot"), "b": model("dot")})["b"] == "dot-product (b)"


# --- distributions ---


def test_bins_count_every_score_once():
    values = [distributions.scores(one) for one in panels()]
    at = distributions.edges(values, 11)
    for one in values:
        found = distributions.counts(one, at)
        expected = [0] * 11
        for value in one:
            expected[min(int((value - at[0]) / (at[-1] - at[0]) * 11), 10)] += 1
        assert found.cells.tolist() == expected and found.share.sum() == pytest.approx(1)
    flat = distributions.edges([np.full(5, 2.0)])
    assert distributions.counts(np.full(5, 2.0), flat).cells.sum() == 5 and flat[0] < 2 < flat[-1]


def test_a_histogram_draws_its_bins_from_zero():
    rows = distributions.counts(distributions.scores(panels()[0]), np.linspace(-5, 5, 8))
    spec = json.loads(distributions.histogram(rows).to_json())
    assert spec["encoding"]["y2"] == {"datum": 0} and spec["encoding"]["x"]["scale"]["domain"] == [-5, 5]
    assert sum(row["cells"] for row in next(iter(spec["datasets"].values()))) == M * N


def test_numbers_of_a_function_are_those_of_its_scores():
    first, _ = panels()
    row = distributions.numbers([first]).iloc[0]
    scores = sorted(first.trace.site("attention/relevance").values.astype(float).ravel())
    assert (row["least"], row["greatest"], row["median"]) == (scores[0], scores[-1], scores[len(scores) // 2])
    mean = sum(scores) / len(scores)
    assert row["mean"] == pytest.approx(mean)
    assert row["deviation"] == pytest.approx((sum((one - mean) ** 2 for one in scores) / len(scores)) ** 0.5)
    weights = first.trace.site("attention/weight").values.astype(float)
    each = [exp(-sum(w * log(w) for w in line)) for line in weights]
    assert row["even"] == pytest.approx(sum(each) / M) and (row["of"], row["cells"]) == (N, M * N)
    assert row["beyond"] == pytest.approx(0, abs=1e-6)


def test_a_sentinels_share_is_told_and_weights_are_even_among_the_words():
    first, _ = panels()
    whole = first.trace.site("attention/weight").values.astype(float)
    left = np.linspace(0.1, 0.9, M)[:, None]  # of each row, what the words keep
    first.trace.site("attention/weight").values[:] = whole * left
    row = distributions.numbers([first]).iloc[0]
    assert row["beyond"] == pytest.approx(0.5, abs=1e-6)
    assert row["even"] == pytest.approx(sum(exp(-sum(w * log(w) for w in line)) for line in whole) / M, rel=1e-6)


def record(similarity_: str, values: tuple[float, ...], width: int = 64, file: str = "", **more) -> Record:
    model = {"mechanism": "baseline", "similarity": similarity_, "output": "O_2", "vectors": "layer:4", "width": width}
    config = {"kind": "reader", "task": "questions", "encoder": "e", "model": model, "data": {"train": ["s/train"]}}
    each = [{"seed": i + 1, "test": {"em": value, "n": 70}} for i, value in enumerate(values)]
    told = {"each_seed": each, "test": {"n": 70}, **more}
    return Record(Card(similarity_, Path(similarity_), config, told, "", 1), file)


def test_runs_are_rows_and_those_trained_otherwise_stand_apart():
    shelf, sweep = record("dot", (40.0, 41.0, 40.0)), record("dot", (41.5, 41.0), file="sweep")
    all_ = [shelf, sweep, record("fnn", (3.0,), width=32)]
    found = spreads.seed_runs(all_, "test", "em")
    assert found.value.tolist() == [40.0, 41.0, 40.0, 41.5, 3.0]  # seed 2 of the sweep is that of the shelf
    assert found.recipe.nunique() == 2 and found.seed.tolist() == ["1", "2", "3", "1", "1"] and set(found.rows) == {70}
    assert spreads.seed_runs(all_, "dev", "em").empty and spreads.loss_curves(all_, "dev").empty
    history = [{"step": 100, "train_loss": 5.0}, {"step": 130, "dev_loss": 4.0}]
    losses = spreads.loss_curves([record("dot", (), history=history)], "train")
    assert losses[["step", "value"]].values.tolist() == [[100, 5.0]]


@pytest.mark.parametrize(
    ("part", "setting"),
    [
        *product(("training",), ("rate", "batch", "optimizer", "schedule", "average", "weight_decay", "epochs")),
        *product(("model",), ("dropout", "longest", "width", "hidden", "vectors")),
        *product((None,), ("max_tokens", "encoder")),
    ],
)
def test_a_recipe_is_another_where_anything_but_the_function_and_the_seed_is(part, setting):
    def run(seed: int, value: int) -> str:
        one = record("dot", ())
        config = {**one.card.config, "training": {"seed": seed}}
        (config[part] if part else config)[setting] = value
        return spreads.training_recipe(replace(one, card=replace(one.card, config=config)))

    assert run(1, 17) == run(2, 17) != run(1, 19)


def test_two_runs_of_a_function_are_two_curves_told_apart_by_what_differs():
    def run(name: str, ends: float, **training) -> Record:
        one = record("dot", (), history=[{"step": 9, "dev_loss": 7.0}, {"step": 19, "dev_loss": ends}])
        one.card.config["training"] = {"seed": 1, "rate": 0.1} | training
        return Record(replace(one.card, name=name))

    losses = spreads.loss_curves([run("one", 3.0), run("two", 2.0, seed=5)], "dev")
    assert losses[["checkpoint", "apart"]].drop_duplicates().values.tolist() == [["one", "seed 1"], ["two", "seed 5"]]
    table = losses.assign(function="dot, " + losses.apart)
    told = "Losses of 2 checkpoints end at 2.000 to 3.000; dot, seed 5 lowest, at step 19."
    assert distributions.describe_curves(table) == told
    spec = json.loads(distributions.curves(table, ["two"]).to_json())
    names = [one for one in spec["layer"] if one["mark"]["type"] == "text"]
    assert [spec["datasets"][one["data"]["name"]][0]["function"] for one in names] == ["dot, seed 1", "dot, seed 5"]
    same = spreads.loss_curves([run("one", 3.0), run("two", 2.0)], "dev")
    assert list(same.apart.unique()) == ["one", "two"]
    assert set(spreads.loss_curves([run("one", 3.0)], "dev").apart) == {""}


def test_a_box_has_the_quartiles_of_its_runs():
    values = [3.0, 9.0, 4.0, 7.0, 5.0]
    runs = pd.DataFrame({"function": ["dot"] * 5 + ["fnn"], "value": [*values, 8.0], "seed": "1", "checkpoint": "x"})
    found = distributions.summary(runs).set_index("function")
    assert found.loc["dot"].tolist() == [3.0, 4.0, 5.0, 7.0, 9.0, 5.6, 5.0]
    spec = json.loads(distributions.boxes(runs, ["fnn", "dot"], "EM, %").to_json())
    boxed = spec["datasets"][spec["layer"][1]["data"]["name"]]
    assert [row["function"] for row in boxed] == ["dot"]  # one run alone has no box
    marked = [spec["datasets"][spec["layer"][i]["data"]["name"]] for i in (3, 4)]
    assert [[row["function"] for row in rows] for rows in marked] == [["dot"], ["dot"]]  # one run is its own mean
    dots = spec["datasets"][spec["layer"][2]["data"]["name"]]
    assert sorted(row["value"] for row in dots) == sorted([*values, 8.0])


def test_the_chosen_curves_stand_out_and_each_has_its_name():
    rows = pd.DataFrame(
        {"function": ["dot", "dot", "fnn", "fnn"], "step": [1, 2, 1, 2], "value": [5.0, 3.0, 6.0, 3.01]}
    ).assign(checkpoint=lambda rows: "squad-" + rows.function)
    spec = json.loads(distributions.curves(rows, ["squad-fnn"]).to_json())
    grey, lit = (spec["datasets"][spec["layer"][i]["data"]["name"]] for i in (0, 1))
    assert {row["function"] for row in grey} == {"dot"} and {row["function"] for row in lit} == {"fnn"}
    names = [one for one in spec["layer"] if one["mark"]["type"] == "text"]
    assert [one["mark"]["fontWeight"] for one in names] == [600, 400]
    assert names[1]["mark"]["dy"] - names[0]["mark"]["dy"] > 12  # the ends lie together, their names do not


def test_names_at_the_ends_of_lines_keep_apart_within_the_figure():
    assert distributions.apart([5.0, 6.0, 60.0], 14.0, 200.0) == [5.0, 19.0, 60.0]
    assert distributions.apart([50.0, 190.0, 199.0], 14.0, 200.0) == [50.0, 186.0, 200.0]
    assert distributions.apart([], 14.0, 200.0) == []
    rows = pd.DataFrame({"function": [str(i) for i in range(30)], "step": 1, "value": 3.0})
    spec = json.loads(distributions.curves(rows.assign(checkpoint=rows.function), []).to_json())
    assert spec["height"] >= 14 * 30


def test_a_function_that_no_table_names_has_its_row_too():
    runs = pd.DataFrame({"function": ["dot", "of my own", "BiDAF FNN"], "value": [3.0, 4.0, 5.0], "seed": 1})
    spec = json.loads(distributions.boxes(runs.assign(checkpoint="x"), ["fnn", "dot"], "EM, %").to_json())
    rows = spec["layer"][2]["encoding"]["y"]["sort"]
    assert rows == ["dot", "of my own", "BiDAF FNN"] and spec["height"] > 3 * 24
    assert similarity.titles({"mine": {"similarity": "of_my_own"}}) == {"mine": "of my own"}


def test_a_probability_is_said_as_the_figure_writes_it():
    said = {0.0: "0.000", 1e-5: "< 0.001", 0.0004999: "< 0.001", 0.0005: "0.001", 0.9994: "0.999", 0.99951: "> 0.999"}
    assert {value: similarity.chance(value) for value in said} == said and similarity.chance(1.0) == "1.000"


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
    one = panels()[0]
    scores = one.site("attention/relevance").values.astype(float)
    found = distributions.scores(one, "centred").reshape(scores.shape)
    np.testing.assert_allclose(found, scores - scores.mean(1, keepdims=True), atol=1e-6)
    told = distributions.numbers([one], "centred").iloc[0]
    assert told["mean"] == pytest.approx(0, abs=1e-6) and told["deviation"] == pytest.approx(found.std())
    rows = distributions.counts(found.ravel(), distributions.edges([found]))
    spec = json.loads(distributions.histogram(rows, top=0.75).to_json())
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 0.75]
