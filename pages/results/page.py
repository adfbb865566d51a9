"""Results: the papers' tables beside ours, whether the order of the mechanisms holds, and what was left out."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.results import results_figure, results_notes, results_ranking, results_style, results_table
from pages.shared import checkpoint_html, style, url_state
from pages.shared.errors import notice
from triattn_core.results import curves, measured, notes, paper_comparison, published, ranking_test, ranks

MANY = 7  # tables beyond this are offered in a list


def choose_table(papers, found):
    """Paper and table, by default those with most to compare."""
    which, first = paper_comparison.default_table(papers, found)
    paper = papers[which]
    if len(papers) > 1:
        names = {one.paper.name: one for one in papers}
        paper = names[url_state.segments("Paper", list(names), "paper", which)]
        first = first if paper is papers[which] else paper_comparison.default_table([paper], found)[1]
    if not paper.tables:
        return paper, None
    tables = {one.label: one for one in paper.tables}
    pick = url_state.segments if len(tables) <= MANY else url_state.pick
    return paper, tables[pick("Table", list(tables), "table", first)]


def columns_of(table, cells):
    """The columns of one data set, and which of them is drawn, by their places in the table."""
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(table.columns):
        groups.setdefault(column.group, []).append(i)
    counts = [sum(bool(line[i].values) for line in cells for i in at) for at in groups.values()]
    group = next(iter(groups))
    if len(groups) > 1:
        group = url_state.segments("Data", list(groups), "data", counts.index(max(counts)))
    names = {table.columns[i].name: i for i in groups[group]}
    drawn = url_state.segments("Draw", list(names), "draw") if len(names) > 1 else next(iter(names))
    return groups[group], names[drawn]


style.heading(
    "Results",
    "What papers print beside what was measured here, in their own layout. A number of ours opens its checkpoint; bold "
    "is the best of its column.",
)
results_style.inject_style()
papers, (found, problems) = published.load_papers(), measured.all_records()
for said in (*(one for paper in papers for one in paper.problems), *problems):
    notice(said)
if not found:
    st.info("Nothing is measured here yet, so ours are empty: train a model with the command triattn train.")
if not papers:
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom"):
    paper, table = choose_table(papers, found)
    if table is not None:
        cells = paper_comparison.fill_table(table, found)
        at, drawn = columns_of(table, cells)
        column = table.columns[drawn]
        fitting = (one for one in paper.figures if column.ours and one.ours.items() >= column.ours.items())
        figure = next(fitting, None)
        lines = curves.measured_curves(figure, found) if figure else []
        results_figure.export_menu(paper, table, found, curves.export_rows(lines))
if table is not None:
    here = [[line[i] for i in at] for line in cells]
    st.html(checkpoint_html.section(f"{table.label}. {table.title}", results_notes.runs(cells)))
    st.html(results_table.table(table, here, at.index(drawn)))
    told = [*(paper.paper.setup if any(one.printed for one in table.columns) else ())]
    told += [one for one in table.notes if one.about in ("", column.group)]
    told += notes.notes_on_cells([one for line in here for one in line])
    with st.container(key="main"):
        left, right = st.columns(2, gap="large") if figure else (None, st.container())
        right.html(results_notes.notes_html(told))
        if figure:
            with left:
                results_figure.show_figure(figure, lines)
    rows = ranking_test.rank_mechanisms(paper.tables, found)
    if any(one.column.group == column.group for one in rows):
        st.html(results_notes.order(rows, column.group))
    elif told := results_ranking.ranking_html(ranks.rank_agreements(paper.tables, found), column.group):
        st.html(told)
if drawn_live := results_notes.figure_links(paper.paper.live, found):
    st.html(drawn_live)
st.html(results_notes.left_out_html(paper.paper.left_out))
st.html(f'<p class="t-note">{escape(paper.paper.cite)}</p>')
