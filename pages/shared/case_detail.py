"""One case beside the list: its texts, who answers what, how much context moved, where it opens, and a note to keep."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import inf

import pandas as pd
import streamlit as st

from pages.shared import (
    case_list,
    case_texts,
    checkpoint_html,
    checkpoint_picker,
    deep_links,
    figures,
    models,
    qa_models,
    row_source,
    save_case,
    style,
    text_lookup,
    url_state,
)
from pages.shared.errors import report_errors
from triattn_core.analysis.mining import agreement
from triattn_core.analysis.mining.case_rows import Filter
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.views.lib.number_format import probability

BITS = (
    "The Jensen-Shannon divergence between the attention of the first layer with and without context, from 0 "
    "(context moves nothing) to 1."
)


def show_rows(cases: Cases, selection: case_list.CaseSelection, examples: Mapping[int, object], left, right) -> None:
    """Shows these rows as a list, and beside it the details of the open one."""
    with left:
        examples = text_lookup.shown_examples(cases, examples, selection.rows["row"].tolist())
        line = case_list.show_list(cases, selection, examples)
    if line is not None:
        with right.container(key="aside"):
            lines = selection.rows["row"].tolist()
            st.html(checkpoint_html.section(f"Row {line:,}", f"{lines.index(line) + 1:,} of {len(lines):,}"))
            url_state.steps("row", lines, line)
            _show_case(cases, selection.rows.iloc[lines.index(line)], examples.get(line))


def _show_case(cases: Cases, row: pd.Series, example: object) -> None:
    """Show the texts, answers and facts of a case, links to the pages that open it, and the form of its note."""
    if example is not None:
        case_texts.html(cases.about.task, example)
    else:
        with report_errors(stop=False):
            row_source.ask_for_file(cases)
    st.html(_verdicts(cases, row, example))
    has_known_answers = form(cases.about.task) is InputForm.PASSAGE and example is not None
    answers = [("known answer", case_list.known_answers(example) or "none")] if has_known_answers else []
    st.html(checkpoint_html.facts([*answers, *_facts(cases, row)]))
    if cases.three_way:
        figures.folded("Bits", BITS)
    names_here = {entry.name for entry in models.entries()}
    names = [name for name in cases.names if name in names_here]
    if example is None:
        return
    example_row, query, page = TASKS[cases.about.task].row(example), {checkpoint_picker.KEY: names}, "side_by_side"
    if form(cases.about.task) is InputForm.PASSAGE:
        query, page = {qa_models.KEY: names}, "similarity"
    with st.container(horizontal=True, key="open"):
        if len(names) > 1:
            deep_links.link(cases.about.task, example_row, page, query)
        if tri := [name for name in cases.three_way if name in names_here]:
            deep_links.link(cases.about.task, example_row, "cube", {"checkpoint": tri[0]})
    save_case.form(cases.about.task, example_row, page, query)


def _verdicts(cases: Cases, row: pd.Series, example) -> str:
    """HTML: what each checkpoint answers, with which probability, and whether that is right."""
    task, pair = TASKS.get(cases.about.task), form(cases.about.task) is InputForm.PAIR
    names = task.labels(example) if example is not None else task.LABELS if pair else ()
    lines = []
    shown = zip(agreement.short_names(cases), cases.about.checkpoints, agreement.colours(cases))
    for title, checkpoint, colour in shown:
        answer = int(row[f"{checkpoint.name} answer"])
        label = names[answer] if answer < len(names) else f"answer {answer + 1}"
        if form(cases.about.task) is InputForm.PASSAGE and example is not None:
            label = case_list.predicted_answer(example, row, checkpoint.name)
        right = "" if row["label"] < 0 else "right" if row[f"{checkpoint.name} right"] else "wrong"
        if right and form(cases.about.task) is InputForm.PASSAGE:
            right += f", F1 {row[f'{checkpoint.name} f1']:.2f}"
        cells = (label, probability(float(row[f"{checkpoint.name} confidence"])), right)
        head = f"<td>{style.swatch(colour)}<b>{escape(title)}</b></td>"
        cells = "".join(f'<td class="{"r" * (i > 0)}">{escape(cell)}</td>' for i, cell in enumerate(cells))
        lines.append(f"<tr>{head}{cells}</tr>")
    return f'<table class="t-table t-predictions">{"".join(lines)}</table>'


def _facts(cases: Cases, row: pd.Series) -> list[tuple[str, str]]:
    """Names and numbers."""
    facts = []
    if form(cases.about.task) is InputForm.PAIR:
        facts.append(("gold", TASKS[cases.about.task].LABELS[row["label"]] if row["label"] >= 0 else "not judged"))
    titles = dict(zip(cases.names, agreement.short_names(cases)))
    for name in cases.three_way:
        column = f"{name} moved"
        at_least = cases.rows.count(Filter(between={column: (row[column], inf)}))
        equal = cases.rows.count(Filter(equal={column: (row[column],)}))
        facts.append((f"context moves {titles[name]}'s attention by", f"{row[column]:.3g} bits"))
        facts.append(("rank among all rows, by these bits", f"{at_least - equal + 1:,} of {len(cases.rows):,}"))
    return [*facts, ("length", f"{row['tokens']:,} tokens"), ("id", str(row["id"]))]
