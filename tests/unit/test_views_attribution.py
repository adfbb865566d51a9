"""Attributions as figures: their numbers, their colours, and what is left out."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import vl_convert
from matplotlib.image import imread

from pages.attribute.attribution_table import marks
from triattn_core.analysis.catalogue import METHODS
from triattn_core.scenes.charts import Chart, repack_png
from triattn_core.views.charts import attribution
from triattn_core.views.lib.palette import DIVERGING, SignedScale, ramp

ROLES = ["query"] * 2 + ["key"] * 3 + ["context"] * 5
TABLE = pd.DataFrame({"role": ROLES, "token": list("ab<猫<") + ["[CLS]", "a", "b", "<", "[SEP]"]}).assign(
    special=[0] * 5 + [1, 0, 0, 0, 1]
)
SHARES = pd.DataFrame(
    {
        "occlusion": [0.04, -0.0019, 0.0, -0.002001, 0.01, 0.7, 0.25, -0.16, 0.01, -0.1],
        "attention": [0.1, 0.2, 0.3, 0.2, 0.2, *[np.nan] * 5],
    }
)
NAMES = {"query": "A", "key": "B"}


def layers(theme: str = "light") -> list[list[dict]]:
    """The rows of map and dashes, role by role, as they are drawn."""
    spec = attribution.strips(TABLE, SHARES, NAMES, theme).to_dict()
    data = spec["datasets"]
    return [[data[layer["data"]["name"]] for layer in chart["layer"]] for chart in spec["hconcat"]], spec


def test_a_label_is_cut_between_words_and_a_long_word_anywhere():
    assert attribution.abbreviate("built a new bridge beside", 25) == "built a new bridge beside"
    assert attribution.abbreviate("built a new bridge beside", 24) == "built a new bridge …"
    assert attribution.abbreviate("built a new bridge beside", 20) == "built a new bridge …"
    assert attribution.abbreviate("猫" * 9, 5) == "猫猫猫猫…" and len(attribution.abbreviate("a b" * 9, 5)) <= 5


def test_methods_that_agree_are_listed_as_in_a_sentence():
    shares = pd.DataFrame(dict.fromkeys(METHODS, SHARES["occlusion"]))
    describe = lambda columns: attribution.describe_strongest(TABLE, shares[columns], NAMES)  # noqa: E731
    assert describe([*METHODS]).startswith("Strongest by all five methods: “a” as context.")
    two = [*METHODS][:2]
    assert describe(two).startswith(f"Strongest by {two[0]} and {two[1]}: “a” as context.")
    apart = shares.assign(attention=[0] * 4 + [1] + [0] * 5)
    sentence = attribution.describe_strongest(TABLE, apart, NAMES)
    assert "integrated gradients, gradient × input, occlusion and rollout: “a”" in sentence


def test_each_cell_is_a_share_of_a_token_and_a_dash_says_against():
    drawn, spec = layers()
    assert [chart["title"] for chart in spec["hconcat"]] == ["query: A", "key: B", "context"]
    for (cells, less), role in zip(drawn, attribution.ROLES):
        at = (TABLE["role"] == role) & (TABLE["special"] == 0)
        tokens = {"query": ["a", "b"], "key": ["<", "猫", "<²"], "context": ["a", "b", "<"]}[role]
        shares = {(cell["place"], cell["method"]): cell["share"] for cell in cells}
        wanted = {
            (i, name): value for name in SHARES for i, value in enumerate(SHARES.loc[at, name]) if np.isfinite(value)
        }
        assert shares == wanted and all(cell["token"] == tokens[cell["place"]] for cell in cells)
        assert {(one["place"], one["method"]) for one in less} == {k for k, v in wanted.items() if v < -0.002}
    assert len(drawn[0][1]) == 0 and len(drawn[1][1]) == 1 and len(drawn[2][1]) == 1


def test_the_sentence_tells_like_words_of_a_role_apart_and_names_roles_as_the_task_does():
    sentence = attribution.describe_strongest(TABLE, SHARES.assign(attention=[0, 0, 0.1, 0, 0.9, *[np.nan] * 5]), NAMES)
    assert sentence.startswith("Strongest by occlusion: “a” as context; by attention: “<²” as B. [CLS] and [SEP] are")
    html = marks(TABLE.assign(segment=""), SHARES, NAMES, 32, "light")
    assert 'title="&lt;²: +1 %">&lt;</span>' in html  # the text itself stays as it is
    assert "as context</span>" in html and "as B</span>" in html and "as key" not in html


def test_a_method_that_is_still_computed_has_its_row_in_plain_text():
    html = marks(TABLE.assign(segment=""), SHARES, NAMES, 32, "light")
    rows = html.split('<div class="name">')[1:]
    waiting = [row for row in rows if "being computed" in row]
    assert len(rows) == len(METHODS) and len(waiting) == len(METHODS) - 2
    assert all('texts wait"' in row and "title=" not in row and row.count("猫") == 1 for row in waiting)
    assert all('title="猫: ' in row and "wait" not in row for row in rows if row not in waiting)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_those_of_the_signed_scale_of_all_methods(theme):
    scale = attribution.scale_of(TABLE, SHARES)
    assert scale.limit == 0.3  # the special token's 0.7 is no part of it
    _, spec = layers(theme)
    colour = spec["hconcat"][0]["layer"][0]["encoding"]["color"]
    drawn, table = colour["scale"], ramp(DIVERGING[theme], SignedScale.steps)
    assert drawn["type"] == "pow" and drawn["exponent"] == 0.5 and len(drawn["domain"]) == len(drawn["range"]) == 33
    for value, shade in zip(drawn["domain"], drawn["range"]):
        level = 127 + 127 * np.sign(value) * np.sqrt(abs(value) / 0.3)
        assert level == pytest.approx(round(level), abs=1e-6)
        assert shade == "#" + bytes(table[round(level)].tolist()).hex()
    fill = attribution.fill_of(0.3 * (64 / 127) ** 2, scale, theme)
    np.testing.assert_array_equal(fill, table[127 + 64])


def test_ranks_are_the_lower_triangle_with_a_dash_where_there_is_none():
    names = ["p", "q", "r"]
    ranks = pd.DataFrame([[1, -0.5, np.nan], [-0.5, 1, 0.25], [np.nan, 0.25, 1]], names, names)
    spec = attribution.ranks(ranks, ["P", "Q", "R"]).to_dict()
    rows = spec["datasets"][spec["data"]["name"] if "data" in spec else spec["layer"][0]["data"]["name"]]
    assert [(row["a"], row["b"], row["said"]) for row in rows] == [
        ("q", "P", "\u22120.50"),
        ("r", "P", "–"),
        ("r", "Q", "0.25"),
    ]


def test_a_chart_is_the_same_bytes_again_and_its_text_is_text():
    first, second = (Chart.of(attribution.strips(TABLE, SHARES, NAMES), "Which", "It says.", "one") for _ in range(2))
    assert first.svg() == first.svg() == second.svg() and first.png(72) == second.png(72)
    assert first.html() == second.html()
    svg = first.svg().decode()
    assert "猫" in svg and "&lt;" in svg and "Noto Sans CJK SC" in svg and "It says." in svg
    assert "<猫<" not in svg and 'src="data:image/svg+xml;base64,' in first._repr_html_()


def test_a_latin_font_comes_first_where_there_is_no_chinese():
    english = Chart.of(attribution.strips(TABLE.replace("猫", "cat"), SHARES, NAMES), "Which", "“It” says.")
    chinese = Chart.of(attribution.strips(TABLE, SHARES, NAMES), "Which", "“It” says.")
    for chart, first in ((english, '"Noto Sans"'), (chinese, '"Source Sans"')):
        spec = chart.titled()
        assert all(one.startswith(first) for one in (spec["config"]["font"], spec["title"]["subtitleFont"]))


def test_more_than_5000_cells_are_drawn():
    table = pd.DataFrame({"role": ["query", "key", *["context"] * 5003], "token": "a", "special": 0})
    chart = Chart.of(attribution.strips(table, pd.DataFrame({"x": [0.1] * 5005}), NAMES), "Which", "It says.")
    assert max(map(len, chart.spec["datasets"].values())) == 5003


def test_a_picture_packed_again_has_the_same_pixels():
    chart = Chart.of(attribution.strips(TABLE, SHARES, NAMES), "Which", "It says.")
    loose = vl_convert.vegalite_to_png(chart.titled(), vl_version=chart.version, ppi=72)
    tight = repack_png(loose)
    assert len(tight) < len(loose)
    np.testing.assert_array_equal(imread(BytesIO(tight)), imread(BytesIO(loose)))


def test_a_chart_keeps_the_parameters_that_it_uses() -> None:
    import altair as alt

    level, click = alt.param("level", value=1), alt.selection_point(name="cell")
    base = alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_bar().encode(x="x:Q")
    used = Chart.of(base.transform_filter("datum.x > level").add_params(level, click), "Which", "It says.")
    assert [one["name"] for one in used.spec["params"]] == ["level"] and b"<svg" in used.svg()
    assert "params" not in Chart.of(base.add_params(click), "Which", "It says.").spec
