"""The scores of each function on one input, as histograms and as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.distributions import run_spread
from pages.shared import cell_command, checkpoint_html, figures, pair_input, style
from triattn_core.scenes.similarity import panel
from triattn_core.sources.explanation import Explanation, describe_duration
from triattn_core.tasks import questions
from triattn_core.views import similarity
from triattn_core.views.charts import distributions as view
from triattn_core.views.similarity import spread

CENTRED = {"relevance": "", "centred": ", minus the mean of their row"}
ACROSS = 4


def show(
    explanations: Sequence[Explanation],
    titles: Mapping[str, str],
    example: questions.Example,
    quantity: str,
    shared_axis: bool,
    row: DeltaGenerator,
) -> None:
    """Draws one histogram per reader.  titles: by checkpoint.  shared_axis: one axis for all.  row: place of Export."""
    part, parts = explanations[0].prediction.option, explanations[0].prediction.parts
    panels = [panel(titles[explanation.entry.name], explanation, example, part) for explanation in explanations]
    values, table = [spread.scores(panel_data, quantity) for panel_data in panels], spread.numbers(panels, quantity)
    bins = [view.counts(scores, view.edges(values if shared_axis else [scores])) for scores in values]
    top = max(counts.share.max() for counts in bins) if shared_axis else None
    with row, st.popover("Export", width=92, key="export"):
        run_spread.save_button("Scores in numbers, CSV", f"distributions-{quantity}.csv", table)
        run_spread.save_button("All scores, CSV", "scores.csv", lambda: similarity.table(panels))
    where = f", part {part + 1} of {parts} of the passage" if parts > 1 else ""
    cells = f"{values[0].size:,} scores each; {describe_duration(explanations)}{where}"
    with st.container(key="scores"):
        lead, widths = map(escape, view.compare_scores(table))
        st.html(checkpoint_html.section(f"Scores before the softmax on this input{CENTRED[quantity]}", cells))
        for start in range(0, len(values), ACROSS):
            for i, column in zip(range(start, len(values)), st.columns(ACROSS, gap="medium")):
                with column:
                    st.html(f"<b>{escape(table.iloc[i]['function'])}</b>")
                    summary = view.describe_scores(table.iloc[i].to_dict())
                    chart = partial(view.histogram, bins[i], style.theme(), top=top)
                    figures.show(chart, summary, f"scores-{i}-chart")  # its numbers stand in the table below
                    st.html(_words(table.iloc[i]))
        st.html(f'<p class="t-outcome">{lead}<span class="t-muted">{widths}</span></p>')
        st.html(run_spread.table(table))
        names = [explanation.entry.name for explanation in explanations]
        part_argument = f" --part {part + 1}" if parts > 1 else ""
        arguments = f"--spread {quantity}{part_argument}"
        cell_command.commands(names, questions.row(example), arguments, "The rows of this table again")
        if notes := pair_input.notes(explanations):
            st.html(notes)


def _words(row: Mapping) -> str:
    """HTML: the share of the question words that the weights are spread over."""
    share = style.bar(row["even"] / row["of"], style.colours()["accent"])
    return f'<div class="t-says">{share}<span class="t-muted t-num">{row["even"]:.1f} of {row["of"]} words</span></div>'
