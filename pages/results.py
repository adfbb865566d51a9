"""Results: the papers' tables beside ours, whether the order of the mechanisms holds, and what was left out."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.common import cards, results, results_about, results_figure, results_ranks, results_style, state, style
from pages.common.errors import notice
from triattn_core.results import beside, curves, notes, order, ours, published, ranks

MANY = 7  # tables beyond this are offered in a list


def chosen(papers, found):
    """Paper and table, by default those with most to compare."""
    which, first = beside.opening(papers, found)
    paper = papers[which]
    if len(papers) > 1:
        names = {one.paper.name: one for one in papers}
        paper = names[state.segments("Paper", list(names), "paper", which)]
        first = first if paper is papers[which] else beside.opening([paper], found)[1]
    if not paper.tables:
        return paper, None
    tables = {one.label: one for one in paper.tables}
    pick = state.segments if len(tables) <= MANY else state.pick
    return paper, tables[pick("Table", list(tables), "table", first)]


def columns_of(table, cells):
    """The columns of one data set, and which of them is drawn, by their places in the table."""
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(table.columns):
        groups.setdefault(column.group, []).append(i)
    counts = [sum(bool(line[i].values) for line in cells for i in at) for at in groups.values()]
    group = next(iter(groups))
    if len(groups) > 1:
        group = state.segments("Data", list(groups), "data", counts.index(max(counts)))
    names = {table.columns[i].name: i for i in groups[group]}
    drawn = state.segments("Draw", list(names), "draw") if len(names) > 1 else next(iter(names))
    return groups[group], names[drawn]


style.heading(
    "Results",
    "What papers print beside what was measured here, in their own layout. A number of ours opens its checkpoint; bold "
    "is the best of its column.",
)
results_style.styled()
papers, (found, problems) = published.papers(), ours.everything()
for said in (*(one for paper in papers for one in paper.problems), *problems):
    notice(said)
if not found:
    st.info("Nothing is measured here yet, so ours are empty: train a model with the command triattn train.")
if not papers:
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom"):
    paper, table = chosen(papers, found)
    if table is not None:
        cells = beside.filled(table, found)
        at, drawn = columns_of(table, cells)
        column = table.columns[drawn]
        fitting = (one for one in paper.figures if column.ours and one.ours.items() >= column.ours.items())
        figure = next(fitting, None)
        lines = curves.curves(figure, found) if figure else []
        results_figure.saved(paper, table, found, curves.rows(lines))
if table is not None:
    here = [[line[i] for i in at] for line in cells]
    st.html(cards.section(f"{table.label}. {table.title}", results_about.runs(cells)))
    st.html(results.table(table, here, at.index(drawn)))
    told = [*(paper.paper.setup if any(one.printed for one in table.columns) else ())]
    told += [one for one in table.notes if one.about in ("", column.group)]
    told += notes.computed([one for line in here for one in line])
    with st.container(key="main"):
        left, right = st.columns(2, gap="large") if figure else (None, st.container())
        right.html(results_about.known(told))
        if figure:
            with left:
                results_figure.drawn(figure, lines)
    rows = order.compared(paper.tables, found)
    if any(one.column.group == column.group for one in rows):
        st.html(results_about.order(rows, column.group))
    elif told := results_ranks.ranks(ranks.agreements(paper.tables, found), column.group):
        st.html(told)
if drawn_live := results_about.live(paper.paper.live, found):
    st.html(drawn_live)
st.html(results_about.left_out(paper.paper.left_out))
st.html(f'<p class="t-note">{escape(paper.paper.cite)}</p>')
