"""Below the Results page's table: what to know before comparing, the order of the mechanisms, what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from pages.results.results_table import cell_tooltip
from pages.shared import checkpoint_html, style
from triattn_core.analysis.significance import RankingTest
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.mechanism_order import EXPECTED, MechanismRanking
from triattn_core.results.notes import notes_on_cells
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_results import PaperRecord, missing_checkpoints
from triattn_core.results.paper_schema import LeftOut, Live, Note, Ours, Table, plain_name
from triattn_core.results.run_records import Record, has_settings
from triattn_core.trace.axes import MECHANISM_LABELS

STATUS = {"holds": "It holds.", "against": "It does not hold.", "open": "Not shown.", "untested": "Not tested."}
TEST = "Welch's test over runs, Holm's correction within a row, p < 0.05"


def table_notes_html(paper: PaperRecord, table: Table, cells: Sequence[Sequence[Cell]], group: str) -> str:
    """HTML: what to know of a table before comparing its columns of one data set, [rows][columns]."""
    sentences = [*(paper.paper.setup if any(column.printed for column in table.columns) else ())]
    sentences += [note for note in table.notes if note.about in ("", group)]
    rows = [plain_name(row.name) for row, line in zip(table.rows, cells) for _ in line]
    return notes_html([*sentences, *notes_on_cells([cell for line in cells for cell in line], rows)])


def notes_html(notes: Sequence[Note]) -> str:
    """HTML: a line a note, its head as the mark that it is behind."""
    lines = "".join(
        f'<details class="t-note"><summary>{escape(note.head)}</summary><div>{escape(note.text)}</div></details>'
        for note in notes
    )
    return checkpoint_html.section("What to know before comparing", "a click opens a note") + f"<div>{lines}</div>"


def waiting_text(command: str) -> str:
    """For which checkpoints a command waits; empty where it can run."""
    names = " and ".join(missing_checkpoints(command))
    return f"The command that produces its records waits for {names}, not available yet." if names else ""


def left_out_html(entries: Sequence[LeftOut]) -> str:
    """HTML: what could not be reached, and why."""
    lines = "".join(f"<b>{escape(entry.what)}</b><span>{escape(entry.why)}</span>" for entry in entries)
    return checkpoint_html.section("Left out") + f'<div class="t-know">{lines or "<span>Nothing.</span>"}</div>'


def figure_links(entries: Sequence[Live], records: Sequence[Record]) -> str:
    """HTML: the paper's figures that a page draws, each a link, or what it waits for; empty where there is none."""
    lines = "".join(
        _live(entry, [record.entry for record in records if is_shipped(record, entry.needs)]) for entry in entries
    )
    return (
        f'{checkpoint_html.section("Its figures, drawn by a page")}<div class="t-know">{lines}</div>' if lines else ""
    )


def is_shipped(record: Record, needs: Ours) -> bool:
    """Whether it is a checkpoint here that can be opened and has these settings."""
    return not record.file and not record.entry.problem and has_settings(record, needs)


def _live(live: Live, entries: Sequence[Entry]) -> str:
    if live.needs and not entries:
        return f"<b>{escape(live.figure)}</b><span>{escape(live.waits)}</span>"
    link = live.link + (f"&checkpoint={quote(entries[0].name)}" if live.needs else "")
    figure_html = f'<a href="{escape(link, quote=True)}" target="_self">{escape(live.figure)}</a>'
    return f"<b>{figure_html}</b><span>{escape(live.says)}</span>"


def runs(cells: Sequence[Sequence[Cell]]) -> str:
    """How many runs the records hold that a table's numbers of ours come from, and the day of the last."""
    used = {id(cell.record): cell.record for line in cells for cell in line if cell.values}.values()
    count = sum(record.runs for record in used)
    days = sorted(str(record.entry.metrics["date"]) for record in used if record.entry.metrics.get("date"))
    return f"ours: {count} run{'s' * (count != 1)}" + (f", the last of {days[-1]}" if days else "")


def order(rows: Sequence[MechanismRanking], group: str) -> str:
    """HTML: the mechanisms of each similarity on one data set, and a sentence on whether Tri is ahead of both others.

    The sentence above is over all data sets.
    """
    names, group_rows = list(reversed(EXPECTED)), [row for row in rows if row.column.group == group]
    has_printed = any(cell.printed for row in group_rows for cell in row.cells.values())
    heads = "".join(
        f'<th class="n{" first" * (i == 0)}">{style.swatch(name)}{MECHANISM_LABELS[name]}</th>'
        for i, name in enumerate(names)
    )
    body, metric = [], ""
    for row in group_rows:
        cells, metric = [row.cells[name] for name in names], row.column.name
        printed_cells = "".join(
            _td(cell.printed.text if cell.printed else "–", i == 0, "") for i, cell in enumerate(cells)
        )
        ours = "".join(_td(_mean(cell), i == 0, cell_tooltip(cell)) for i, cell in enumerate(cells))
        order_cells = _describe_order(row.printed) * has_printed + _describe_order(row.ours)
        similarity = escape(row.similarity.replace("_", " "))
        body.append(f"<tr><td>{similarity}</td>{printed_cells * has_printed}{ours}{order_cells}</tr>")
    titles = [("published", 3)] * has_printed + [("ours", 3)] + [("in the paper", 1)] * has_printed + [("here", 1)]
    group_heads = "".join(f'<th class="t-over" colspan="{span}"><span>{text}</span></th>' for text, span in titles)
    num_groups = 1 + has_printed
    head = f"<tr><th>{escape(metric)}</th>{group_heads}</tr>"
    head += f"<tr><td></td>{heads * num_groups}{'<td></td>' * num_groups}</tr>"
    table = f'<table class="t-beside t-order">{head}{"".join(body)}</table>'
    title = f"Is Tri ahead of Bi and C-Bi{f' on {group}' if group else ''}, as the paper claims?"
    note = f'<p class="t-note">{_sentence(rows)}</p>'
    return f'{checkpoint_html.section(title, TEST)}<div class="t-scroll">{table}</div>{note}'


def _sentence(rows: Sequence[MechanismRanking]) -> str:
    parts = []
    both = {"in the paper's printed figures": [row.printed for row in rows], "in ours": [row.ours for row in rows]}
    for name, orders in both.items():
        counts = Counter(ranking.status for ranking in orders)
        num_tested = len(orders) - counts["missing"] - counts["untested"]
        back = f" ({counts['against']} with one of them ahead of it)" if counts["against"] else ""
        parts.append(f"{name} Tri is ahead of both in {counts['holds']} of {num_tested} rows{back}")
    sentence = f"Over all data sets and similarities, where all three have several runs: {', '.join(parts)}."
    return escape(f"{sentence} The test covers variance between runs, on one test set and one encoder.")


def _td(text: str, first: bool, hover: str) -> str:
    title = f' title="{escape(hover, quote=True)}"' if hover else ""
    return f'<td class="n{" first" * first}"{title}>{escape(text.replace("± ", "±"))}</td>'


def _mean(cell: Cell) -> str:
    if cell.ours is None:
        return "–"
    spread = "" if cell.spread is None else f" ± {cell.spread:.2f}"
    return f"{cell.ours:.{cell.digits}f}{spread}"


def _describe_order(ranking: RankingTest) -> str:
    return f'<td class="say t-muted"><b>{STATUS.get(ranking.status, "")}</b> {escape(ranking.words)}</td>'
