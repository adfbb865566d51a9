"""Does context matter, in words and numbers: the parts of one head, what the residual says, and a file of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from pages.common import asking, cards, case_rows, figures, mining, state
from pages.common.errors import shown
from pages.common.figures import minus
from triattn_core.views import anova

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

CSS = """
.t-parts {display: grid; grid-template-columns: repeat(3, 1fr); gap: 0 26px; font-size: 13.5px; margin-top: 4px}
.t-parts div {display: grid; grid-template-columns: 1fr auto; gap: 2px 10px; align-content: start;
  font-variant-numeric: tabular-nums} .t-parts span i {display: inline-block; width: 11px; height: 11px;
  margin-right: 8px; border: 1px solid var(--t-hairline)}
.t-parts b {grid-column: 1 / -1; border-top: 2px solid var(--t-bar); margin-top: 4px; padding-top: 3px;
  font-weight: 400; color: var(--t-muted)} .t-parts .strong b {border-color: var(--t-accent); font-weight: 600;
  color: var(--t-text)}
"""
GROUPS = (
    ("without context", ("key", "query_key"), ""),
    ("context redirects", ("key_context", "three_way"), "strong"),
    ("which context is read, no key moves", ("context", "query_context"), ""),
)


def legend(row: pd.Series, theme: str) -> str:
    """HTML: the parts of one head by what they do."""
    fill = anova.colours(theme)
    found = ""
    for title, names, look in GROUPS:
        lines = "".join(
            f'<span><i style="background:{fill[name]}"></i>{anova.PARTS[name]}</span><span>{percent(row[name])}</span>'
            for name in names
        )
        found += f'<div class="{look}">{lines}<b>{title} {percent(sum(row[name] for name in names))}</b></div>'
    return f'<style>{CSS}</style><div class="t-parts">{found}</div>'


def percent(share: float) -> str:
    """One decimal, aligned."""
    return f"{100 * share:.1f} %"


def summary(table: pd.DataFrame, row: pd.Series, layer: int, head: int) -> str:
    """A sentence on the chosen head against all."""
    every = table["redirected"]
    most = table.loc[every.idxmax()]
    place = int(most["site"].split("/")[0].removeprefix("layer.")) + 1
    return (
        f"In layer {layer + 1}, head {head + 1}, context redirects {percent(row['redirected'])} of the relevance that "
        f"softmax sees; the median of {len(every)} heads is {percent(every.median())}, the most "
        f"{percent(every.max())} (layer {place}, head {int(most['head']) + 1}). A two-way map cannot hold that part."
    )


def strongest(part: xr.DataArray) -> int:
    """The context position with the largest three-way cell, special tokens aside."""
    return int(abs(part).max(["query", "key"]).where(part["context_special"] == 0, -1).values.argmax())


def first(table: pd.DataFrame) -> tuple[int, int]:
    """Layer and head that context redirects most, from 0."""
    row = table.loc[table["redirected"].idxmax()]
    return int(row["site"].split("/")[0].removeprefix("layer.")), int(row["head"])


def residual_said(cells: xr.DataArray, word: str, queries: list[str], keys: list[str], bits: np.ndarray) -> str:
    """A sentence on the strongest cell of the map, and on the bits."""
    if len(queries) == 1 and len(cells.values) == 1:
        return "There is one query: what only query, key and context together say is 0 by definition."
    told = f"Mean over queries {bits.mean():.3g} bits; 0 would mean that no context token changes which key is chosen."
    at, _ = divmod(int(abs(cells.values).argmax()), cells.shape[1])
    row = cells.values[at]
    up, down = int(row.argmax()), int(row.argmin())
    parts = f"drawn to “{keys[up]}” ({row[up]:+.2g}) and pushed from “{keys[down]}” ({row[down]:+.2g})"
    said = f"With “{word}” as context, “{queries[at]}” is {parts}, beyond what any two of the words explain. "
    return minus(said + told)


def over(question: asking.Question, here: pd.DataFrame) -> None:
    """The same shares over a file of rows: the project's own at once, or a file of the reader's."""
    st.html(cards.section("Over many rows", "bar: quartiles, thin line: 5 to 95 %, diamond: this example"))
    with st.container(horizontal=True, vertical_alignment="bottom", key="rows-settings"):
        chosen = state.pick("Rows", [case_rows.OWN, case_rows.FILE], "rows", width=170)
        count = state.segments("How many", [12, 48, 200], "count")
    with shown():
        source = case_rows.asked(chosen, question.task, question.language)
        found = mining.asked(("context",), [question.card], source, _rows, count) if source else None
    if found is None:
        return
    said = distribution_said(found)
    figures.drawn(anova.over(found, here, asking.theme()), said, "context-over")
    figures.note(said)
    figures.numbers("Quantiles as numbers", anova.quantiles(found), "over-numbers")
    data = found.to_csv(index=False).encode("utf-8-sig")
    st.download_button("All rows, CSV", data, "context.csv", "text/csv", on_click="ignore")


def distribution_said(found: pd.DataFrame) -> str:
    """A sentence: how many rows, and the median share and information by layer."""
    layer = found["site"].str.extract(r"layer\.(\d+)", expand=False).astype(int) + 1
    medians = found.groupby(layer)[["redirected", "information"]].median()
    told = [(at, percent(one["redirected"]), one["information"]) for at, one in medians.iterrows()]
    parts = [f"layer {at}: {share}, {bits:.3g} bits" for at, share, bits in told]
    rows = found["row"].nunique()
    return f"Over {rows} rows, all heads and both directions, context redirects in the median {'; '.join(parts)}."


def _rows(bundles, rows):
    from triattn_core.analysis import contexts

    return contexts.over(bundles[0], rows)
