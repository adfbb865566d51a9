"""The figures of the pages Context, Intervene and Attribute, through their own JSON."""

from __future__ import annotations

import re

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert
import xarray as xr

from triattn_core.views.charts import anova, anova_text, perturbation
from triattn_core.views.charts.grids import label_expression, token_axis
from triattn_core.views.lib.palette import THEMES

QUERIES, KEYS = ["who", "</b>", "who"], ["a", "b", 'c"', "d", "e"]
LABELS = (QUERIES, KEYS)
DRAW = np.random.default_rng(5)


def grid(values: np.ndarray) -> xr.DataArray:
    return xr.DataArray(values, dims=("query", "key"), attrs={"quantity": "weight"})


def rows(spec: dict, number: int = 0) -> list[dict]:
    return list(spec["datasets"].values())[number]


def shares(rows: int = 1) -> pd.DataFrame:
    """Of two layers and three heads, for some rows of a file."""
    drawn = DRAW.dirichlet(np.ones(len(anova.PARTS)), rows * 6)
    table = pd.DataFrame(drawn, columns=list(anova.PARTS))
    table["site"] = [f"layer.{i // 3 % 2}/a_over_b" for i in range(rows * 6)]
    table["head"], table["row"] = [i % 3 for i in range(rows * 6)], [i // 6 for i in range(rows * 6)]
    return table.assign(
        among_keys=table["key"] + table["query_key"], redirected=table["key_context"] + table["three_way"]
    )


def test_the_legend_of_the_parts_calls_axes_by_their_labels():
    labels = {"query": "residue i", "key": "residue j", "context": "ligand"}
    spec = anova.parts(shares(), 1, 2, axes=labels).to_dict()
    legend = spec["layer"][0]["encoding"]["color"]["legend"]["values"]
    assert legend[1:4] == ["residue i × residue j", "residue j × ligand", "residue i × residue j × ligand"]
    assert {row["part"] for row in rows(spec)} == {*legend}


def test_parts_are_stacked_and_the_chosen_head_is_framed():
    table = shares()
    spec = anova.parts(table, 1, 2).to_dict()
    data = pd.DataFrame(rows(spec))
    assert len(data) == 6 * len(anova.PARTS) and data.groupby("place")["share"].sum().to_numpy() == pytest.approx(1)
    bars, frame = spec["layer"]
    assert [row["place"] for row in spec["datasets"][frame["data"]["name"]]] == ["1.2"]  # one, round the whole column
    assert len({*anova.colours("light").values()}) == len({*anova.colours("dark").values()}) == len(anova.PARTS)
    assert bars["encoding"]["x"]["scale"]["domain"] == ["0.0", "0.1", "0.2", "gap 1", "1.0", "1.1", "1.2"]
    assert spec["params"][0]["name"] == "cell" and spec["params"][0]["select"]["fields"] == ["at_layer", "at_head"]
    ordered = anova.parts(table, 1, 2, by="context").to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    most = table[table["site"] == "layer.0/a_over_b"].sort_values("redirected", ascending=False)["head"]
    assert ordered[:3] == [f"0.{head}" for head in most]
    only = pd.DataFrame(rows(anova.parts(table, 0, 0, only=("three_way",)).to_dict()))
    assert only["share"].tolist() == pytest.approx(table["three_way"].tolist())


def test_the_residual_is_drawn_by_position_with_its_bits():
    values = DRAW.normal(size=(3, 5))
    spec = anova.residual(grid(values), np.array([0.5, 0.0, 1.5]), LABELS).to_dict()
    left, right = spec["hconcat"]
    left, dashes = left["layer"]
    data = pd.DataFrame(spec["datasets"][left["data"]["name"]])
    np.testing.assert_allclose(data.pivot(index="query", columns="key", values="value"), values)
    limit = np.abs(values).max()
    assert left["encoding"]["color"]["scale"]["domain"][::16] == pytest.approx([-limit, 0, limit])
    assert left["encoding"]["y"]["axis"]["labelExpr"] == label_expression(["who", "</b>", "who"])
    below = pd.DataFrame(spec["datasets"][dashes["data"]["name"]])
    assert len(below) == (values < 0).sum() and (below["value"] < 0).all(), "a dash on each cell below zero"
    bits = pd.DataFrame(spec["datasets"][right["layer"][0].get("data", right.get("data"))["name"]])
    assert bits["bits"].tolist() == [0.5, 0.0, 1.5]


def test_where_there_is_nothing_to_take_apart_zeros_are_drawn_and_one_sentence_says_so():
    table = shares().assign(redirected=0.0, key_context=0.0, three_way=0.0)
    assert anova_text.parts(table, table.iloc[0], 0, 0).endswith("there is nothing to decompose.")
    spec = anova.parts(table, 0, 0, only=("key_context", "three_way")).to_dict()
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1]
    bits = np.zeros(1)
    left, right = anova.residual(grid(np.zeros((1, 1))), bits, (["milk"], ["milk"])).to_dict()["hconcat"]
    assert left["layer"][0]["encoding"]["color"]["scale"]["domain"][16::8] == [0, 0.5, 1]
    assert right["layer"][0]["encoding"]["x"]["axis"]["values"] == [0]
    residual_grid = grid(np.zeros((3, 1)))
    assert anova_text.residual(residual_grid, "milk", QUERIES, ["a"], np.zeros(3)).startswith("There is only one key, ")
    none = anova_text.residual(grid(np.zeros((3, 5))), "milk", *LABELS, np.zeros(3))
    assert none.startswith("With “milk” as context nothing is left")


def test_a_layer_or_head_that_is_alone_is_not_named():
    table = shares()
    first_layer = table[table["site"].str.startswith("layer.0")].reset_index(drop=True)
    words = anova_text.parts(first_layer, first_layer.iloc[0], 0, 0)
    assert words.startswith("In head 1, context redirects ") and "layer" not in words
    assert anova_text.parts(table, table.iloc[0], 0, 0).startswith("In layer 1, head 1, context redirects ")
    alone = anova_text.parts(first_layer[:1], first_layer.iloc[0], 0, 0)
    assert alone.startswith("Context redirects ") and "median" not in alone and "head" not in alone


def test_quantiles_over_rows_are_by_layer():
    table = shares(11)
    quantiles = anova.quantiles(table).set_index(["measure", "layer"])
    of = table[table["site"].str.startswith("layer.1")]
    assert quantiles.loc[("context redirects", "layer 2"), "median"] == pytest.approx(of["redirected"].median())
    assert quantiles.loc[("without context", "layer 2"), "q3"] == pytest.approx(of["among_keys"].quantile(0.75))
    read = 1 - of["redirected"] - of["among_keys"]
    assert quantiles.loc[("which context is read", "layer 2"), "low"] == pytest.approx(read.quantile(0.05))
    drawn = anova.spread_chart(table, table[table["row"] == 3]).to_dict()
    data = pd.DataFrame(rows(drawn)).set_index(["measure", "layer"])
    here = table[(table["row"] == 3) & table["site"].str.startswith("layer.0")]["redirected"].median()
    assert data.loc[("context redirects", "layer 1"), "here"] == pytest.approx(here)


def curves() -> pd.DataFrame:
    points = [
        (method, draw, share, at, value := DRAW.normal(), -value)
        for method, draws in (("occlusion", 1), ("rollout", 1), ("random", 40))
        for draw in range(draws)
        for at, share in enumerate((0.0, 0.1, 0.5))
    ]
    return pd.DataFrame(points, columns=["method", "draw", "share", "tokens", "comprehensiveness", "sufficiency"])


@pytest.mark.parametrize("measure", perturbation.TITLES)
def test_curves_stand_beside_the_middle_of_the_random_ones(measure):
    table = curves()
    spec = perturbation.figure(table, measure, "rollout", "dark").to_dict()
    sets = spec["datasets"].values()
    band = next(one for one in sets if {row.get("line") for row in one} == {"random"} and len(one) > 1)
    random_draws = table[(table["method"] == "random") & (table["share"] == 0.5)][measure]
    middle = {row["x"]: row for row in band}[50.0]
    assert (middle["low"], middle["high"]) == pytest.approx(tuple(random_draws.quantile([0.025, 0.975])))
    assert middle["mean"] == pytest.approx(random_draws.mean())
    lines = [layer for layer in spec["layer"] if layer["mark"].get("strokeWidth") == 2.4]
    assert [line["mark"]["color"] for line in lines] == [THEMES["dark"]["accent"]]
    assert "rollout" in str(lines[0]["transform"])


def test_labels_of_curves_are_placed_on_the_scale_that_is_drawn():
    table = curves().assign(sufficiency=lambda rows: 5 + rows["sufficiency"] / 100)
    spec = perturbation.figure(table, "sufficiency", "rollout").to_dict()
    scales = [layer["encoding"]["y"].get("scale") for layer in spec["layer"] if "y" in layer.get("encoding", {})]
    stated = [scale for scale in scales if scale]
    assert stated and all(scale["zero"] is False and scale["domain"][0] > 4.9 for scale in stated)


def test_shares_that_name_the_same_tokens_are_one_point_and_said():
    table = curves()
    both = pd.concat([table[table["share"] == 0.1].assign(share=0.05), table], ignore_index=True)
    spec = perturbation.figure(both, "sufficiency", "rollout").to_dict()
    assert spec["layer"][0]["encoding"]["x"]["title"].endswith(", %; 5 and 10 % are the same token")
    points = {row["x"] for dataset in spec["datasets"].values() for row in dataset if "x" in row}
    assert points == {0.0, 10.0, 50.0}
    assert perturbation.same_tokens_note(table) == ""


def test_areas_over_rows_have_their_bands():
    gains = pd.DataFrame(
        {
            "checkpoint": ["x", "y"] * 2,
            "method": ["occlusion"] * 2 + ["random"] * 2,
            "measure": "sufficiency",
            "rows": 7,
            **{name: [0.1, 0.2, 0.3, 0.4] for name in ("mean", "low", "high", "gain", "gain_low", "gain_high")},
        }
    )
    spec = perturbation.mean_gains(gains, "sufficiency", {"x": "bi", "y": "tri"}).to_dict()
    assert len(rows(spec)) == 4
    scale = spec["layer"][1]["encoding"]["color"]["scale"]
    assert scale["range"] == [THEMES["light"]["bi"], THEMES["light"]["tri"]]
    shapes = spec["layer"][1]["encoding"]["shape"]["scale"]["range"]
    assert len(set(shapes)) == 2  # colour is not alone
    assert not rows(perturbation.mean_gains(gains, "comprehensiveness", {"x": "bi", "y": "tri"}).to_dict())


def test_the_word_if_is_a_label_as_any_other():
    words = ["if", "you </b>", "if"]
    chart = alt.Chart(pd.DataFrame({"key": range(3)})).mark_point().encode(token_axis("key", words))
    drawn = vl_convert.vegalite_to_svg(chart.to_dict())
    assert drawn.count(">if<") == 2 and "you &lt;/b&gt;" in drawn


def test_no_two_ticks_of_an_axis_are_written_alike():
    """Up to 0.12 by 0.02: to one figure the last two would both be 0.1."""
    table = curves().assign(comprehensiveness=lambda rows: rows["tokens"] * 0.06)
    drawing = vl_convert.vegalite_to_svg(perturbation.figure(table, "comprehensiveness", "rollout").to_dict())
    ticks = re.findall(r">(0\.\d+)</text>", drawing)
    assert "0.12" in ticks and len(set(ticks)) == len(ticks)
