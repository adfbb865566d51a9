"""Results: the papers' tables beside ours, whether the order of the mechanisms holds, and what was left out."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.results import (
    block_costs,
    commands,
    gpu_report,
    group_differences,
    pickers,
    results_figure,
    results_notes,
    results_ranking,
    results_style,
    results_table,
)
from pages.shared import checkpoint_html, style
from pages.shared.errors import notice, report_errors
from triattn_core.results import (
    curves,
    group_comparison,
    mechanism_order,
    paper_comparison,
    paper_results,
    row_order,
    run_records,
)

style.heading(
    "Results",
    "Published numbers next to ours, in the layout of each paper. An underlined number opens its checkpoint; "
    "bold marks the best of a column.",
)
results_style.inject_style()
papers, (records, problems) = paper_results.load_papers(), run_records.all_records()
for problem_line in (*(problem for paper in papers for problem in paper.problems), *problems):
    notice(problem_line)
if not records:
    st.info("No measurements yet: train a model with the command triattn train.")
if not papers:
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom"):
    paper, table = pickers.choose_table(papers, records)
    if table is not None:
        cells = paper_comparison.fill_table(table, records)
        column_indices, plot_index = pickers.choose_columns(table, cells)
        column = table.columns[plot_index]
        fitting = (figure for figure in paper.figures if column.ours and figure.ours.items() >= column.ours.items())
        figure = next(fitting, None)
        lines = curves.measured_curves(figure, records) if figure else []
        results_figure.export_menu(paper, table, records, curves.export_rows(lines))
if table is not None:
    group_cells = [[line[i] for i in column_indices] for line in cells]
    st.html(checkpoint_html.section(f"{table.label}. {table.title}", results_notes.runs(cells)))
    st.html(results_table.table(table, group_cells, column_indices.index(plot_index)))
    commands.show_table_commands(table, group_cells)
    if differences := group_differences.differences_html(group_comparison.compare_groups(table, cells)):
        st.html(differences)
    with st.container(key="main"):
        left, right = st.columns(2, gap="large") if figure else (None, st.container())
        right.html(results_notes.table_notes_html(paper, table, group_cells, column.group))
        if figure:
            with left:
                results_figure.show_figure(figure, lines)
    rankings = mechanism_order.rank_mechanisms(paper.tables, records)
    if any(ranking.column.group == column.group for ranking in rankings):
        st.html(results_notes.order(rankings, column.group))
    else:
        agreements = row_order.rank_agreements(table, paper.tables, records)
        if ranking := results_ranking.ranking_html(agreements, column.group, alone=table.ranked_alone):
            st.html(ranking)
if drawn_live := results_notes.figure_links(paper.paper.live, records):
    st.html(drawn_live)
st.html(results_notes.left_out_html(paper.paper.left_out))
st.html(f'<p class="t-note">{escape(paper.paper.cite)}</p>')
with report_errors(stop=False):
    if on_gpu := gpu_report.section():
        st.html(on_gpu)
block_costs.fold()
