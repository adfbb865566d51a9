"""Below the Results page's table: its rows in two groups of columns beside each other, such as a system with its own
function and with another."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.results.results_table import cell_tooltip, format_difference, name
from pages.shared import checkpoint_html
from triattn_core.analysis.significance import LEVEL
from triattn_core.results.group_comparison import GroupDifference
from triattn_core.results.paper_comparison import Cell

TEST = (
    "p: two-sided z-test over the test rows, Holm's correction over the systems. It treats the rows of two models as "
    "independent samples, although both were evaluated on the same rows, so it is conservative."
)


def differences_html(rows: Sequence[GroupDifference]) -> str:
    """HTML: a line a row, printed and ours, their differences and whether these have the same sign."""
    if not rows:
        return ""
    base, other = rows[0].base.column, rows[0].other.column
    groups = [*(f'<th class="t-over" colspan="3"><span>{side}</span></th>' for side in ("published", "ours"))]
    own = "".join(
        f'<th class="n{" first" * (i == 0)}">{escape(text)}</th>'
        for i, text in enumerate((base.group, other.group, "difference"))
    )
    head = f"<tr><td></td>{''.join(groups)}<td></td><td></td></tr>"
    head += f'<tr><th>{escape(base.name)}</th>{own * 2}<th class="r">p</th><th class="r">same sign</th></tr>'
    body = "".join(map(_line, rows))
    title = checkpoint_html.section(f"{other.group} against {base.group[0].lower()}{base.group[1:]}, {base.name}")
    table = f'<div class="t-scroll"><table class="t-beside t-pairs">{head}{body}</table></div>'
    return f'{title}{table}<p class="t-note">{escape(describe(rows))}</p>'


def describe(rows: Sequence[GroupDifference]) -> str:
    """Sentences: in how many rows ours has the paper's sign, which are beyond noise, and what the test leaves out."""
    signs = [row.same_sign for row in rows if row.same_sign is not None]
    beyond = [row for row in rows if row.p is not None and row.p < LEVEL and row.ours is not None]
    named = ", ".join(f"{row.row.name} {format_difference(row.ours, 1)}" for row in beyond)
    return (
        f"{sum(signs)} of {len(signs)} differences of ours have the sign of the paper's. "
        f"Beyond the noise of the rows: {named or 'none'} (p < {LEVEL:g}). {TEST} {_over_seeds(rows)}"
    )


def _over_seeds(rows: Sequence[GroupDifference]) -> str:
    """Which rows have several seeds, with the test over them; the others' variance between seeds is not known."""
    tested = [(row, row.p_over_seeds) for row in rows if row.p_over_seeds is not None]
    if not tested:
        return "All single runs of one seed: variance between seeds is not included."
    named = ", ".join(
        f"{row.row.name} p {p:.2g} ({len(row.base.values)} and {len(row.other.values)} seeds)" for row, p in tested
    )
    return f"Over seeds (Welch's t-test): {named}. A row not named here has runs of one seed."


def _line(row: GroupDifference) -> str:
    digits = row.base.column.digits
    printed = [cell.printed.number if cell.printed else "–" for cell in (row.base, row.other)]
    texts = [_td(text, i == 0) for i, text in enumerate(printed)]
    texts.append(_td(format_difference(row.printed, digits)))
    texts += [_td(_ours(cell), i == 0, cell_tooltip(cell)) for i, cell in enumerate((row.base, row.other))]
    texts.append(_td(f"<b>{format_difference(row.ours, digits)}</b>"))
    p = "" if row.p is None else "&lt; 0.001" if row.p < 0.001 else f"{row.p:.3f}"
    sign = "" if row.same_sign is None else "yes" if row.same_sign else "no"
    end = f'<td class="r t-muted">{p}</td><td class="r">{sign}</td>'
    return f"<tr><td>{name(row.row.name)}</td>{''.join(texts)}{end}</tr>"


def _ours(cell: Cell) -> str:
    return "–" if cell.ours is None else f"{cell.ours:.{cell.digits}f}"


def _td(text: str, first: bool = False, hover: str = "") -> str:
    title = f' title="{escape(hover, quote=True)}"' if hover else ""
    return f'<td class="n{" first" * first}"{title}>{text}</td>'
