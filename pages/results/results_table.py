"""The Results page's table: the paper's layout, its figures and ours beside each other, dots on its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

from pages.results import dot_plot
from triattn_core.results import notes
from triattn_core.results.paper_comparison import Cell, best_cells, compare_column
from triattn_core.results.paper_schema import Row, Table, plain_name
from triattn_core.views.lib.number_format import half_up, minus

SPACE, POINT = "\u2007", "\u2008"  # as wide as a digit and as a point: numbers of fewer digits stand below each other


def name(text: str) -> str:
    """HTML of a system's name, `TAN_{TAdd}` with its subscript."""
    return re.sub(r"_\{(.*?)\}", r"<sub>\1</sub>", escape(text))


def format_difference(value: float | None, digits: int) -> str:
    """A difference with its sign, its minus as wide as a plus; no sign on a zero; empty where there is none."""
    if value is None:
        return ""
    text = half_up(round(value, 6), digits)  # 57.35 - 65.1 is -7.7499…
    return minus(text if text.startswith("-") else f"+{text}")


def table(table: Table, cells: Sequence[Sequence[Cell]], plot_index: int) -> str:
    """HTML of some columns of a table.  plot_index: the column of the dots and the difference.

    cells: [rows][columns], as `paper_comparison.fill_table` gives them.
    """
    columns = list(zip(*cells))
    printed_indices = [i for i, column in enumerate(columns) if column[0].column.printed]
    marked = {ours: [best_cells(column, ours) for column in columns] for ours in (True, False)}
    scale, plot_column = dot_plot.Scale.of(columns[plot_index]), columns[plot_index][0].column
    num_columns = 2 + 2 * len(printed_indices) + 2 * len(columns) + plot_column.printed
    body, before = [], ""
    for number, (row, line) in enumerate(zip(table.rows, cells)):
        if row.group != before:
            empty = f'<td class="t-strip">{dot_plot.dots(None, scale)}</td>'
            body.append(f'<tr class="t-group"><td colspan="{num_columns}">{escape(row.group)}</td>{empty}</tr>')
            before = row.group
        texts = [
            _printed_cell(line[i], number in marked[False][i], i == printed_indices[0], columns[i])
            for i in printed_indices
        ]
        texts += _our_cells(line, [number in best for best in marked[True]])
        texts.append(f'<td class="r t-muted">{_runs(line)}</td>')
        texts += [
            f'<td class="r">{format_difference(line[plot_index].difference, plot_column.digits)}</td>'
        ] * plot_column.printed
        texts.append(f'<td class="t-strip">{dot_plot.dots(line[plot_index], scale, _colour(row))}</td>')
        body.append(f"<tr><td>{_row_name(row)}</td>{''.join(texts)}</tr>")
    run_unit = "fold" if any(cell.record and cell.record.folds for line in cells for cell in line) else "seed"
    head = _head([column[0].column for column in columns], printed_indices, plot_index, scale, run_unit)
    label = escape(describe_column(table, columns[plot_index]), quote=True)
    wide = " t-wide" * (len(printed_indices) + len(columns) + bool(plot_column.note) > 6)
    table_html = f'<table class="t-beside{wide}" aria-label="{label}">{head}{"".join(body)}</table>'
    return f'<div class="t-scroll">{table_html}</div><p class="t-note">{label}</p>'


def describe_column(table: Table, cells: Sequence[Cell]) -> str:
    """A sentence on one column: how far ours lie from what is printed, and the best of ours.  cells: [rows]."""
    column, gaps = cells[0].column, compare_column(cells)
    about = ", ".join(filter(None, (column.group, column.name)))
    sentences, first = [], min(best_cells(cells, True), default=None)
    if gaps:
        low, high = (format_difference(gap, column.digits) for gap in (gaps.low, gaps.high))
        several = f"of {gaps.rows} rows with both, ours is above the published number in {gaps.above} ({low} to {high})"
        one_row = f"{low} against the published number, in the one row with both"
        sentences.append(several if gaps.rows > 1 else one_row)
    if first is not None:
        sentences.append(
            f"best of ours: {plain_name(table.rows[first].name)}, {half_up(cells[first].ours or 0.0, column.digits)}"
        )
    return f"{about}: {'; '.join(sentences) or 'nothing of ours is measured'}."


def _head(columns, printed_indices: Sequence[int], plot_index: int, scale: dot_plot.Scale, run_unit: str) -> str:
    cells = columns[plot_index]
    names = [(columns[i].name, i == printed_indices[0]) for i in printed_indices]
    names += [(column.name, i == 0) for i, column in enumerate(columns)]
    below = "".join(f'<th class="n{" first" * first}">{escape(text)}</th><td></td>' for text, first in names)
    below += f'<th class="r">{run_unit}s</th>' + f'<th class="r">{escape(cells.name)}</th>' * cells.printed
    ours = escape(f"ours, {cells.note}" if cells.note else "ours")
    group_heads = (
        f'<th class="t-over" colspan="{2 * len(printed_indices)}"><span>published</span></th>'
        if printed_indices
        else ""
    )
    group_heads += f'<th class="t-over" colspan="{2 * len(columns) + 1}"><span>{ours}</span></th>'
    gap = '<th class="t-over" title="Ours less the published number."><span>difference</span></th>'
    group_heads += gap * cells.printed
    return (
        f'<tr><td></td>{group_heads}<th class="t-strip">{dot_plot.head(cells)}</th></tr>'
        f'<tr><td></td>{below}<th class="t-strip">{dot_plot.axis(scale)}</th></tr>'
    )


def _runs(line: Sequence[Cell]) -> str:
    """How many seeds or folds are behind a row of ours; "vote of 5" for an ensemble."""
    measured = [cell for cell in line if cell.values and cell.record]
    voters = max((cell.record.settings.get("voters", 0) for cell in measured), default=0)
    seeds = max((len(cell.values) for cell in measured if cell.column.split != "run"), default=0)
    return f"vote of {voters}" if voters else str(seeds or "")


def _row_name(row: Row) -> str:
    square = f'<span class="t-swatch" style="background:{_colour(row)}"></span>' if row.ours else ""
    return square + name(row.name)


def _colour(row: Row) -> str:
    mechanism = re.sub(r"\W", "", str((row.ours or {}).get("mechanism", "")))
    return f"var(--t-{mechanism}, var(--t-bar))" if mechanism else "var(--t-bar)"


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _printed_cell(cell: Cell, bold: bool, first: bool, column: Sequence[Cell]) -> str:
    css_class = "n first" if first else "n"
    if cell.printed is None:
        return f'<td class="{css_class} t-muted" title="The paper has no number here.">–</td><td></td>'
    number, spread = cell.printed.number, cell.printed.spread_text
    widest = max(_decimals(cell.printed.number) for cell in column if cell.printed)
    fill = POINT * ("." not in number and widest > 0) + SPACE * (widest - _decimals(number))
    text = f"<b>{number}</b>{fill}" if bold else number + fill
    return f'<td class="{css_class}">{text}</td><td class="s">{f"±{spread}" if spread else ""}</td>'


def _our_cells(line: Sequence[Cell], bold: Sequence[bool]) -> list[str]:
    """The cells of ours; one reason for all of them where they share it."""
    if len({cell.reason for cell in line}) == 1 and not any(cell.values for cell in line):
        return [_reason_cell(line[0].reason, 2 * len(line))]
    return [_our_cell(cell, strong, first) for cell, strong, first in zip(line, bold, [True] + [False] * len(line))]


def _our_cell(cell: Cell, bold: bool, first: bool) -> str:
    if not cell.values or cell.record is None:
        return _reason_cell(cell.reason, 2)
    text = f"{cell.ours:.{cell.digits}f}"
    text = f"<b>{text}</b>" if bold else text
    entry = cell.record.entry
    if not cell.record.file and not entry.problem:
        text = f'<a href="checkpoints?checkpoint={quote(entry.name)}" target="_self">{text}</a>'
    spread = "" if cell.spread is None else f"±{cell.spread:.{cell.digits}f}"
    hover = f'title="{escape(cell_tooltip(cell), quote=True)}"'
    return f'<td class="n{" first" * first}" {hover}>{text}</td><td class="s" {hover}>{spread}</td>'


def _reason_cell(reason: str, span: int) -> str:
    short = reason.partition(":")[0]
    return f'<td class="why" colspan="{span}" title="{escape(reason, quote=True)}">{escape(short)}</td>'


def cell_tooltip(cell: Cell) -> str:
    """The origin of a measured number: seeds, rows, record, machine and date, or that they are not recorded."""
    if cell.record is None or not cell.values:
        return cell.reason
    metrics, split = cell.record.entry.metrics, cell.column.split
    values_text = ", ".join(f"{value:.{cell.digits}f}" for value in cell.values)
    rows = cell.record.rows(split)
    voters = cell.record.settings.get("voters")
    one = f"the vote of {voters} seeds" if voters else f"one {cell.record.unit}"
    parts = [
        f"{len(cell.values)} {cell.record.unit}s: {values_text}" if len(cell.values) > 1 else one,
        (f"{rows:,} {split} rows" if rows else f"number of {split} rows not recorded") * (split != "run"),
        cell.record.entry.name + (f" ({cell.record.file}.jsonl)" if cell.record.file else ""),
        machines(metrics),
        str(metrics.get("date") or "day not recorded"),
    ]
    parts += notes.reader_sizes(cell.record)
    parts += [f"the best on dev of {cell.others + 1} such records"] if cell.others else []
    return "; ".join(filter(None, parts))


def machines(metrics: Mapping) -> str:
    """The machines of a run's seeds: its own, and those that a seed names because it was trained elsewhere."""
    each = metrics.get("each_seed")
    seeds = each if isinstance(each, list) else []
    names = [metrics.get("machine"), *(seed.get("machine") for seed in seeds if isinstance(seed, Mapping))]
    return " and ".join(dict.fromkeys(str(name) for name in names if name)) or "machine not recorded"
