"""How far methods of attribution agree, and what integrated gradients share out, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from pages.attribute.attribution_table import PENDING, ink
from pages.shared import checkpoint_html
from triattn_core.analysis.catalogue import JOINT_METHODS, METHODS
from triattn_core.scenes.attribute import describe_agreement
from triattn_core.views.lib.number_format import minus
from triattn_core.views.lib.palette import DIVERGING, ramp, rgb

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions

CSS = """
.t-ranks {border-collapse: separate; border-spacing: 1px; font-size: 12px; font-variant-numeric: tabular-nums}
.t-ranks td {width: 38px; height: 30px; text-align: center; padding: 0}
.t-ranks td:empty {background: var(--t-hairline)}
.t-ranks th {font-weight: 400; text-align: right; padding-right: 7px; white-space: nowrap}
.t-ranks tr > th.top {text-align: left; padding-left: 5px; max-width: 0; overflow: visible}
@media (min-width: 901px) and (max-width: 1200px) {
  .t-ranks {font-size: 11px} .t-ranks td {width: 26px} .t-ranks th {padding-right: 4px}
}
"""


def heading() -> str:
    """HTML: what stands above the picker of the role and the correlations."""
    return checkpoint_html.section("Do they agree?", "Spearman, on size")


def show_rank_correlation(
    ranked: Attributions, role: str, theme: str, missing: str = PENDING, methods: Sequence[str] = tuple(METHODS)
) -> str:
    """HTML: Spearman's correlation of each two methods over the tokens of a role, and a sentence; cells of methods that
    are still being computed, or were cancelled (`missing`), are empty.  methods: all that are computed."""
    ranks = ranked.correlations()
    names, colours, rows = list(methods), ramp(DIVERGING[theme], 256), ""
    for a, name in enumerate(names):
        cells = ""
        for b in range(a):
            if not {name, names[b]} <= {*ranks}:
                cells += "<td></td>"
                continue
            value = ranks.loc[name, names[b]]
            fill = colours[int(127.5 * (1 + min(max(value, -1), 1)))] if isfinite(value) else rgb("#888888") * 255
            text = minus(f"{value:.2f}") if isfinite(value) else "–"
            css = f"background:rgb({','.join(str(int(part)) for part in fill)});color:{ink(fill)}"
            cells += f'<td style="{css}" title="{escape(name)} and {escape(names[b])}">{text}</td>'
        short = escape(JOINT_METHODS[name].short)
        last = f'<th class="top" scope="col">{short}</th>' * (a < len(names) - 1)  # nothing below it
        rows += f'<tr><th scope="row">{escape(name)}</th>{cells}{last}</tr>'
    pending = [name for name in names if name not in ranks]
    if pending:
        note = f'<p class="t-note">{missing.capitalize()}: {escape(", ".join(pending))}.</p>'
    else:
        said = escape(describe_agreement(ranked, role))
        note = f'<details class="t-note"><summary>What of it is evidence</summary><div>{said}</div></details>'
    return f'<style>{CSS}</style><table class="t-ranks">{rows}</table>{note}'


def completeness(rows: list[tuple[str, str]], warning: str) -> str:
    """HTML: what integrated gradients add up to, and what is missing."""
    note = f'<p class="t-note">{escape(warning)}</p>' if warning else ""
    head = checkpoint_html.section("Completeness", "integrated gradients, log-odds")
    return f'<div style="max-width:400px">{head}{checkpoint_html.facts(rows)}{note}</div>'
