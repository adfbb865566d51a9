"""One case beside the list: its texts, who answers what, how much context moved, where it opens, and a note to keep."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pandas as pd
import streamlit as st

from pages.common import (
    cards,
    case_list,
    case_rows,
    case_texts,
    compared,
    keeping,
    models,
    readers,
    reopen,
    state,
    style,
)
from pages.common.errors import shown
from pages.common.inputs import number
from triattn_core.analysis import agreement
from triattn_core.analysis.mined import Mined
from triattn_core.tasks import TASKS, pairs, questions


def listed(mined: Mined, rows: pd.DataFrame, examples: Mapping[int, object], left, right) -> None:
    """These rows of the table as a list, and beside it all about the one that is open."""
    with left:
        line = case_list.shown(mined, rows, examples)
    if line is not None:
        with right.container(key="aside"):
            lines = rows["row"].tolist()
            st.html(cards.section(f"Row {line:,}", f"{lines.index(line) + 1:,} of {len(rows):,}"))
            state.steps("row", lines, line)
            _aside(mined, line, examples.get(line))


def _aside(mined: Mined, line: int, example: object) -> None:
    """Its texts, answers and facts; where it opens, with what of its checkpoints is on the shelf; a note to keep."""
    row = mined.table[mined.table["row"] == line].iloc[0]
    if example is not None:
        case_texts.html(mined.about.task, example)
    else:
        with shown(stop=False):
            case_rows.ask(mined)
    st.html(_verdicts(mined, row, example))
    known = mined.about.task == questions.NAME and example is not None
    told = [("known answer", case_list.known(example) or "none")] if known else []
    st.html(cards.facts([*told, *_facts(mined, row)]))
    here = {card.name for card in models.shelf()}
    names = [name for name in mined.names if name in here]
    if example is None:
        return
    given, query, page = TASKS[mined.about.task].row(example), {compared.KEY: names}, "side_by_side"
    if mined.about.task == questions.NAME:
        query, page = {readers.KEY: names}, "similarity"
    with st.container(horizontal=True, key="open"):
        if len(names) > 1:
            reopen.link(mined.about.task, given, page, query)
        if tri := [name for name in mined.three_way if name in here]:
            reopen.link(mined.about.task, given, "cube", {"checkpoint": tri[0]})
    keeping.form(mined.about.task, given, page, query)


def _verdicts(mined: Mined, row: pd.Series, example) -> str:
    """HTML: what each checkpoint answers, with which probability, and whether that is right."""
    names = TASKS[mined.about.task].labels(example) if example is not None else pairs.LABELS
    lines = []
    for title, one in zip(agreement.titles(mined), mined.about.checkpoints):
        answer = int(row[f"{one.name} answer"])
        known = mined.about.task == "pairs" or example is not None
        said = names[answer] if known and answer < len(names) else f"answer {answer + 1}"
        if mined.about.task == questions.NAME and example is not None:
            said = case_list.spanned(example, row, one.name)
        right = "" if row["label"] < 0 else "right" if row[f"{one.name} right"] else "wrong"
        if right and mined.about.task == questions.NAME:
            right += f", F1 {row[f'{one.name} f1']:.2f}"
        cells = (said, number(float(row[f"{one.name} confidence"])), right)
        head = f"<td>{style.swatch(one.mechanism)}<b>{escape(title)}</b></td>"
        cells = "".join(f'<td class="{"r" * (i > 0)}">{escape(cell)}</td>' for i, cell in enumerate(cells))
        lines.append(f"<tr>{head}{cells}</tr>")
    return f'<table class="t-table t-said">{"".join(lines)}</table>'


def _facts(mined: Mined, row: pd.Series) -> list[tuple[str, str]]:
    """Names and numbers."""
    told = []
    if mined.about.task == "pairs":
        told.append(("gold", pairs.LABELS[row["label"]] if row["label"] >= 0 else "not judged"))
    for name in mined.three_way:
        column = f"{name} moved"
        above = int((mined.table[column] > row[column]).sum())
        which = f" {name}" if len(mined.three_way) > 1 else ""
        told.append((f"context moved{which}", f"{row[column]:.3g} bits"))
        told.append(("rank among all rows", f"{above + 1:,} of {len(mined.table):,}"))
    return [*told, ("length", f"{row['tokens']:,} tokens"), ("id", str(row["id"]))]
