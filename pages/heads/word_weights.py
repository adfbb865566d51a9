"""A list of words over all rows: their weight by head and by feature, with the band of other places, and the rows."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pandas as pd
import streamlit as st

from pages.heads.atlas_rows import Rows
from pages.heads.pickers import Atlas, names
from pages.shared import checkpoint_html, figures, style, url_state
from pages.shared.errors import report_errors
from triattn_core.errors import InputError
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.charts import head_atlas as view

OPENS = {"en": ("not, never, no", "how, what, why"), "zh": ("不, 没, 没有", "怎么, 什么")}  # the first that occur
WAYS = {
    "to_key": ("as keys", "mean weight that they get as keys", ""),
    "to_context": ("as context", "mean weight that they get as context", ""),
    "from_query": ("as queries", "how much their own rows differ from the mean row", "bits"),
    "by_feature": ("as keys, by feature", "mean weight that they get as keys in a feature", ""),
}
SAYS = (
    "Bar: middle 95 % of 400 random draws of the same number of positions from the same rows; red: outside this "
    "range, two-sided p ≤ 0.05. The weights of every query sum to one; only their distribution can differ."
)
COLUMNS = {
    "mean": "mean of the words",
    "even": "mean of other places",
    "low": "band, low",
    "high": "band, high",
    "p": "p, two-sided",
    "places": "places",
    "rows": "rows",
}
FEATURES = 15  # features that are drawn, those farthest from the mean of their draws


@st.cache_resource(max_entries=24, show_spinner="Weighing the words")
def weigh(_table: pd.DataFrame, key: str, words: tuple[str, ...]) -> pd.DataFrame:
    """`weigh_words` of a group of heads."""
    from triattn_core.analysis.maps.word_weights import weigh_words

    return weigh_words(_table, words)


@st.cache_data(max_entries=16, show_spinner=False)
def find_places(
    _table: pd.DataFrame, key: str, words: tuple[str, ...], site: str, head: int, axis: str
) -> pd.DataFrame:
    """The places of the words behind one number of a head; key: see `weigh`."""
    from triattn_core.analysis.maps.word_weights import list_places

    return list_places(_table, words, site, head, axis)


def show(rows: Rows, atlas: Atlas) -> None:
    """Shows the word list, the chart by head or by feature of the chosen head, and the rows behind the chosen head."""
    from triattn_core.analysis.maps.word_weights import split_words

    st.html(checkpoint_html.section("Weight of words", "mean over their places, by head"))
    opens = _opening(rows, atlas)
    with st.container(horizontal=True, vertical_alignment="bottom", key="words-settings"):
        if st.session_state.get("words") == st.session_state.get("words-opened"):  # other rows, other words
            st.session_state["words"] = opens
        st.session_state["words-opened"] = opens
        text = st.text_input("Words, separated by commas", opens, key="words", bind="query-params", width=320)
        place = st.container(width="content")
    with report_errors(stop=False):
        words = split_words(text)
        try:
            weights = weigh(atlas.table, _key(rows, atlas), words)
        except InputError as error:  # the words that the page opens with are nobody's mistake
            figures.note(str(error))
            return
        with place:
            axes = [axis for axis in WAYS if axis in set(weights["way"])]
            axis = url_state.segments("Count them", axes, "way", show=lambda name: WAYS[name][0])
        _chart(weights[weights["way"] == axis], atlas, words, axis)
        site, head = atlas.head
        places = find_places(atlas.table, _key(rows, atlas), words, site, head, axis)
        title = f"The {len(places)} place{'s' * (len(places) != 1)} behind {atlas.names[atlas.head_index]}"
        measured = {"value": "KL, bits" if axis == "from_query" else "weight", "even": "mean of its row"}
        figures.numbers(title, places.rename(columns=measured), "words-rows")


def _key(rows: Rows, atlas: Atlas) -> str:
    return f"{rows.key} {atlas.group} {len(atlas.table)}"


def _opening(rows: Rows, atlas: Atlas) -> str:
    """The words that the page opens with: such as occur in the rows, where there are any."""
    from triattn_core.analysis.maps.word_weights import split_words

    if rows.task in LABORATORY:
        return ", ".join(LABORATORY[rows.task].vocabulary.texts("context")[:2])
    lists = OPENS.get(rows.language, OPENS["en"])
    for opens in lists:
        with suppress(InputError):
            weigh(atlas.table, _key(rows, atlas), split_words(opens))
            return opens
    return lists[0]


def _chart(weights: pd.DataFrame, atlas: Atlas, words: tuple[str, ...], axis: str) -> None:
    _, label, unit = WAYS[axis]
    if axis == "by_feature":
        site, head = atlas.head
        head_rows = weights[(weights["site"] == site) & (weights["head"] == head)]
        rows = head_rows.assign(name=[f"feature {feature + 1}" for feature in head_rows["feature"]])
        chart_rows = rows.loc[(rows["mean"] - rows["even"]).abs().sort_values(ascending=False).index[:FEATURES]]
        subject = f"features of {atlas.names[atlas.head_index]}"
    else:
        rows = weights.assign(name=names(weights))
        chart_rows, subject = rows.sort_values("mean", ascending=False), "heads"
    sentence = view.describe_bands(rows, words, subject)
    chart = partial(view.bands, chart_rows, label, unit, style.theme())
    figures.show(chart, sentence, f"words-{axis}", width="content")
    figures.note(sentence)
    figures.note(SAYS)
    figures.numbers(
        "All as numbers", number_table(rows, "feature" if axis == "by_feature" else "head"), "words-numbers"
    )


def number_table(rows: pd.DataFrame, first: str) -> pd.DataFrame:
    """Rows of `weigh_words` with their `name` under the headings that a page shows; first: heading of the names."""
    headings = {"name": first, **COLUMNS}
    return rows[list(headings)].rename(columns=headings)
