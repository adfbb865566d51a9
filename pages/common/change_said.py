"""What an intervention changed, in words and numbers: the answer, the scale for it, and the maps."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from pages.common import inputs, style
from pages.common.asking import Question
from pages.common.changed import Wanted
from pages.common.figures import minus
from triattn_core.analysis import compare
from triattn_core.views import strongest
from triattn_core.views.grids import cells_of

if TYPE_CHECKING:
    import xarray as xr

SAYS = {
    "remove": "Without {}",
    "mask": "With attention not seeing {}, which the encoder has read,",
    "replace": "With {} replaced",
    "reorder": "With the context in another order",
    "swap": "With another example's context",
}


def said(found, wanted: Wanted, alone: pd.DataFrame | None, lots: pd.DataFrame | None = None) -> str:
    """A sentence: what was done, what became of the answer, and the scale for it."""
    best = found.before.prediction
    answer = best.labels[followed(best)]
    did = SAYS[wanted.how].format(wanted.words)
    if wanted.how == "replace":
        did += f" by “{wanted.more.strip()}”" if (wanted.more or "").strip() else " by [MASK]"
    told = f"{did} the log-odds of “{answer}” change by {found.change:+.3g}"
    after = found.after.prediction
    told += f": the answer flips to “{after.labels[after.best]}”." if found.flipped else "; the answer stays."
    if alone is not None and len(wanted.names) > 1:
        total = alone.set_index("unit").loc[list(wanted.names), "change"].sum()
        told += f" One by one the {len(wanted.names)} units sum to {total:+.3g}."
    if lots is not None:
        mean, spread, flips = lots["change"].mean(), lots["change"].std(), int(lots["flips"].sum())
        told += f" As many units at random, {len(lots)} times: {mean:+.3g} ± {spread:.2g}, {flips} flips."
    return minus(told)


def alone_said(alone: pd.DataFrame, known: dict[str, str]) -> str:
    """A sentence on the strongest unit, and how many alone flip the answer."""
    row = alone.loc[alone["change"].abs().idxmax()]
    flips = int(alone["flips"].sum())
    count = f"{flips} of {len(alone)} units alone flip the answer" if flips else "no unit alone flips the answer"
    return minus(f"Most is changed by “{known[row['unit']]}” ({row['change']:+.3g}); {count}.")


def followed(said) -> int:
    """The answer whose log-odds are given: of two labels the best, of several options the one that is looked at."""
    return said.best if said.labels[0].startswith("not ") else said.option


def answers(found, question: Question) -> str:
    """HTML: what is said before and after, as bars and numbers."""
    colour, rows = style.colour(question.found.mechanism), ""
    at = followed(found.before.prediction)
    for name, one in (("before", found.before), ("after", found.after)):
        best, share = one.prediction.best, one.prediction.probabilities
        flips = "<b>flips</b> to " if name == "after" and found.flipped else ""
        rows += (
            f'<tr><td class="t-muted">{name}</td><td>{flips}{escape(one.prediction.labels[best][:90])}</td>'
            f"<td>{style.bar(share[at], colour)}</td>"
            f'<td class="r">{inputs.number(share[at])}</td>'
            f'<td class="r">{minus(f"{one.log_odds:+.3g}")}</td></tr>'
        )
    of = escape(found.before.prediction.labels[at][:60])
    head = f'<tr><th></th><th>says</th><th>probability of “{of}”</th><th></th><th class="r">log-odds</th></tr>'
    return f'<table class="t-table" style="max-width:860px">{head}{rows}</table>'


def maps(found, site: str, head: str | int) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
    """Weights before and after, their labels, and a sentence on how far attention moved."""
    at = None if head == "mean" else head - 1
    before, after = (compare.two_way(one.trace.site(site), at) for one in (found.before, found.after))
    texts = dict(found.before.trace.texts)
    labels = tuple(strongest.labels(before, texts, axis) for axis in ("query", "key"))
    apart = compare.jensen_shannon(before, after)
    gap = after.values - before.values
    query, key = divmod(int(abs(gap).argmax()), gap.shape[1])
    word = f"“{labels[0][query]}” to “{labels[1][key]}”"
    numbers = f"{before.values[query, key]:.3g} before, {after.values[query, key]:.3g} after"
    told = (
        f"Attention moves by {float(apart.mean()):.3g} bits in the mean of {len(labels[0])} queries (Jensen-Shannon "
        f"divergence, 0 to 1), most from {word}: {numbers}."
    )
    return before, after, labels, told


def cells(before: xr.DataArray, after: xr.DataArray, labels: tuple) -> pd.DataFrame:
    """A row for each cell: before, after, difference."""
    rows = cells_of(before, labels).rename(columns={"value": "before"})
    rows["after"] = cells_of(after, labels)["value"]
    return rows.assign(difference=rows["after"] - rows["before"])
