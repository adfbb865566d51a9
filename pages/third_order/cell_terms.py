"""The equation of each score with the numbers of one cell in it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

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
        right = "" if row.label is None else " ✓" if prediction.best == row.label else " ✗"
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
    st.html(
        '<p class="t-note">Three-way share: how much of the variance of the scores, over all '
        f"{escape(task.TOKENS[0])}s the task knows, no sum of scores of two tokens can give (functional ANOVA). "
        "Strassen and tree have none by construction.</p>"
    )


def numbers(part: ScoreTerms, cell: tuple[int, int]) -> str:
    """The terms of a cell, which add up to its score."""
    total = f"{part.relevance[0][cell]:.2f}"
    if not part.terms:
        return total.replace("-", "−")
    values = (f"{name} {values[0][cell]:.2f}" for name, values in part.terms.items())
    return f"{' + '.join(values)} = {total}".replace("+ -", "− ").replace("-", "−")
