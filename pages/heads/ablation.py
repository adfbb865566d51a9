"""Each head ablated in turn: how the accuracy over the labelled rows changes."""

from __future__ import annotations

import pandas as pd

from pages.heads.atlas_rows import Rows
from pages.heads.pickers import Atlas
from pages.shared import figures, url_state
from pages.shared.errors import report_errors
from triattn_core.views.lib.number_format import minus

SAYS = "The head's output is set to zero; nothing else changes. One pass of the model for each row and head."


def losses(rows: Rows, atlas: Atlas) -> pd.DataFrame | None:
    """`head_ablation.summarize` of the heads of the atlas, after the toggle is on; None before."""
    with rows.settings:
        is_requested = url_state.toggle("Ablate each head", "off")
    if not is_requested:
        return None
    figures.note(SAYS)
    heads = [(str(site), int(head)) for site, head in atlas.alike.heads.itertuples(index=False)]
    with report_errors(stop=False):
        table = rows.without(heads, atlas.group)
        if table is None:
            return None
        return _show(table, atlas, rows)
    return None


def _show(table: pd.DataFrame, atlas: Atlas, rows: Rows) -> pd.DataFrame:
    from triattn_core.analysis.intervention import head_ablation

    summary = head_ablation.summarize(table)
    site, head = atlas.head
    row = summary[(summary["site"] == site) & (summary["head"] == head)].iloc[0]
    name = atlas.names[atlas.head_index]
    words = getattr(rows, "metric", "") == "next words right"
    answers = getattr(rows, "metric", "") == "exact answers"
    what, odds = ("rows", "log-probability of a word") if words else ("labelled rows", "log-odds of the label")
    what, odds = ("rows", "log-odds of the answer") if answers else (what, odds)
    test = "flipped signs" if words else "McNemar"
    sentence = (
        f"Without {name}: {row['accuracy']:.1f} % right, with it {row['own']:.1f} % of {row['rows']:,} {what}; "
        f"lost {row['lost']}, won {row['won']}; {test} p {row['p']:.2g} after Holm over {len(summary)} heads; "
        f"{odds} {row['change']:+.3f}. Heads that matter only in combination are not detected."
    )
    figures.note(minus(sentence))
    return summary
