"""The equation of each score with the numbers of one cell in it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import figures
from pages.shared.models import MODELS
from pages.third_order.pickers import score
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks.laboratory import Example, LaboratoryTask

if TYPE_CHECKING:
    import numpy as np

    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.inference.score_terms import ScoreTerms

HEADS = ("score", "equation", "in this cell", "weight", "weight on the truth", "three-way share", "answer")
RIGHT = ' class="r"'  # numbers stand at the right
MOST = 3  # parts of a score that are named
SEEN = 0.1  # weight from which on another true cell is named


def of(entry: Entry, row: Example) -> ScoreTerms:
    """What the scores of a model are made of on a row, kept."""

    def terms_of(bundle: Bundle) -> ScoreTerms:
        from triattn_core.inference.score_terms import score_terms  # needs torch

        return score_terms(bundle, row)

    return MODELS.answer(entry, f"Scoring with {entry.name}", terms_of, row)


def table(
    models: Sequence[Entry],
    found: Sequence[ScoreTerms],
    row: Example,
    task: LaboratoryTask,
    cell: tuple[int, int],
    truth: np.ndarray,
) -> None:
    """Shows a row for each model."""
    body = ""
    for entry, part in zip(models, found):
        prediction = MODELS.explain(entry, row).prediction
        right = "" if row.label is None else "\u00a0✓" if prediction.best == row.label else "\u00a0✗"
        member, weights = score(entry), part.weights[0]
        on_truth = f"{weights[truth].sum():.1%}" if truth.any() else "–"
        cells = (
            f'<td title="{escape(member.source, quote=True)}"><b>{escape(member.label)}</b></td>',
            f"<td>{member.equation}</td>",
            f'<td class="t-num">{numbers(part, cell)}</td>',
            *(f'<td class="r t-num">{text}</td>' for text in (f"{weights[cell]:.3f}", on_truth)),
            f'<td class="r t-num">{part.three_way[0]:.1%}</td>',
            f"<td>{escape(prediction.labels[prediction.best])}{right}</td>",
        )
        body += f"<tr>{''.join(cells)}</tr>"
    heads = "".join(f"<th{RIGHT * (3 <= i <= 5)}>{name}</th>" for i, name in enumerate(HEADS))
    st.html(f'<div class="t-scroll"><table class="t-table"><tr>{heads}</tr>{body}</table></div>')
    figures.folded(
        "What the three-way share is",
        f"How much of the variance of the scores, over all {task.TOKENS[0]}s the task knows, no sum of scores of two "
        "tokens can give (functional ANOVA). Strassen and tree have none by construction. "
        "Numbers in a cell are rounded.",
    )
    if others := elsewhere([score(entry).label for entry in models], found, row, cell):
        st.html(f'<p class="t-note">More weight on another true cell: {escape("; ".join(others))}.</p>')


def elsewhere(labels: Sequence[str], found: Sequence[ScoreTerms], row: Example, cell: tuple[int, int]) -> list[str]:
    """Where scores put at least twice the weight of a true cell on another true one: a clause for each of them."""
    clauses = []
    if row.truth and cell in row.truth:
        for label, part in zip(labels, found):
            weights = part.weights[0]
            i, j = max(row.truth, key=lambda place: weights[place])
            if weights[i, j] >= max(SEEN, 2 * weights[cell]):
                clauses.append(f"{label}, {row.keys[i]} and {row.context[j]}, {weights[i, j]:.3f}")
    return clauses


def _largest(parts: np.ndarray, name: str) -> str:
    """The MOST largest parts with their numbers, from 1, and the sum of the others."""
    order = sorted(range(len(parts)), key=lambda place: -abs(parts[place]))
    texts = [f"{name} {place + 1} = {parts[place]:.2f}" for place in order[:MOST]]
    if len(order) > MOST:
        texts.append(f"{len(order) - MOST} others = {sum(parts[place] for place in order[MOST:]):.2f}")
    return ", ".join(texts)


def numbers(part: ScoreTerms, cell: tuple[int, int]) -> str:
    """The score of a cell and, where it is a sum, its terms; else the largest of its parts.  Each is rounded."""
    total = f"{part.relevance[0][cell]:.2f}"
    terms = ", ".join(f"{name} = {values[0][cell]:.2f}" for name, values in part.terms.items())
    if part.parts is not None:
        terms = _largest(part.parts[0][cell], part.part)
    return (f"{terms}; sum {total}" if terms else total).replace("-", "−")
