"""The family of third-order scores as a table to take away: CSV with every source, and LaTeX for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from triattn_core.results.third_order import MEMBERS, TASKS, Reached, reached
from triattn_core.results.third_order_theory import CLAIMS, MEANING, ONE_LAYER, TWO_WAY, Claim, agreement
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up, per_cent

EQUATIONS = {  # of MEMBERS, in LaTeX
    "scaled_dot": r"\sum_d q_d k_d c_d / \sqrt{D}",
    "determinant": r"\sum_b \det[q_b, k_b, c_b] / \sqrt{D}",
    "additive": r"p \cdot \tanh(W q + U k + H c)",
    "strassen": r"(q \cdot k + q \cdot c + k \cdot c) / \sqrt{D}",
    "tree": r"(q \cdot k + k \cdot c) / \sqrt{D}",
    "triangle": r"q_{ij} \cdot k_{kj} / \sqrt{D} + b_{ki}",
}
CSV_COMMAND = "python -m docs.tables.family --csv"
COMMAND = "python -m docs.tables.family --latex"
ACROSS = 4  # scores beside each other: the columns of more have no room on a page
CAPTION = (
    "Right rows of 4,000 in per cent, each seed. One layer with each score, of one width, on the same rows, steps and "
    "rate; best two-way: of C-Bi and of one and two layers of two-way attention, the one with the highest mean, named "
    "beside it."
)
FRAMES = (
    "Weights of each score: frames hold what adds up to 1, bars sums over rows and columns; outlined are the true "
    "cells, dashed one that is chosen."
)
LETTERS = {  # of our texts, which LaTeX does not print as they are
    **{letter: "\\" + letter for letter in "&%#_"},
    "±": r"$\pm$",
    "−": "$-$",
    "Σ": r"$\sum$",
    "×": r"$\times$",
    "·": r"$\cdot$",
}


def rows() -> pd.DataFrame:
    """A row for each task and score with a measured number, or with something proved: accuracy and weight on the true
    cells of each seed, in per cent, what is proved, whether both agree, the sources, and the command."""
    table = reached()
    found = []
    for task in TASKS:
        for score in (*MEMBERS, TWO_WAY, ONE_LAYER):
            cell, claim = table.get((task, score)), CLAIMS.get((task, score))
            if cell is None and claim is None:
                continue
            member = MEMBERS.get(score)
            found.append(
                {
                    "task": LABORATORY[task].LABEL,
                    "score": member.label if member else score,
                    "model": cell.model if cell else "",
                    "chance": LABORATORY[task].baseline()["chance"],
                    "steps": cell.steps if cell else None,
                    "accuracy": seeds_text(cell.accuracy) if cell else "",
                    "weight on the true cells": seeds_text(cell.mass) if cell and cell.mass else "",
                    "proved": claim.says if claim else "",
                    "because": claim.why if claim else "",
                    "proof": claim.source if claim else "",
                    "against the proof": agreement(task, score, cell.accuracy) if cell else "",
                    "source of the score": member.source if member else "",
                    "command": CSV_COMMAND,
                }
            )
    return pd.DataFrame(found).astype({"steps": "Int64"})


def seeds_text(values: tuple[float, ...]) -> str:
    """The values of all seeds."""
    return ", ".join(per_cent(value) for value in values)


def latex() -> str:
    """Accuracy by task and score as a `table*` of booktabs, no wider than 6.75 inches: two tables below each other,
    and below them, as notes, each equation, source and proof, and the command."""
    columns = [*MEMBERS, TWO_WAY]
    lines = [rf"% {COMMAND}", r"\begin{table*}", rf"\caption{{{CAPTION}}}", r"\label{tab:third-order}"]
    lines += [r"\centering\footnotesize", *_tabular(columns[:ACROSS]), r"\\[6pt]", *_tabular(columns[ACROSS:])]
    lines += [r"\\[4pt]", r"\begin{minipage}{\linewidth}\footnotesize\raggedright", *_notes(), r"\end{minipage}"]
    return "\n".join([*lines, r"\end{table*}"]) + "\n"


def caption(row: str, models: Sequence[tuple[str, str]]) -> str:
    """The caption of maps on a row, in LaTeX: the row, what frames and outlines mean, each score with its source, and
    the models.  models: names of MEMBERS and of checkpoints."""
    scores = dict.fromkeys(name for name, _ in models)
    sources = "; ".join(
        rf"{MEMBERS[name].label}: ${EQUATIONS[name]}$ ({_escape(MEMBERS[name].source)})" for name in scores
    )
    return (
        rf"\caption{{{_escape(row)} {_escape(FRAMES)} {sources}. One layer each, of triattn's "
        rf"{_escape(', '.join(checkpoint for _, checkpoint in models))}.}}" + "\n"
    )


def _tabular(columns: Sequence[str]) -> list[str]:
    """The lines of a table of some scores: a row for each task with a measured number of any score."""
    table = reached()
    names = [MEMBERS[column].label if column in MEMBERS else column for column in columns]
    lines = [rf"\begin{{tabular}}{{lr{'r' * len(columns)}}}", r"\toprule"]
    lines += [" & ".join(["Task", "chance", *names]) + r" \\", r"\midrule"]
    for task in [task for task in TASKS if any(place[0] == task for place in table)]:
        cells = [table.get((task, column)) for column in columns]
        texts = [_cell(cell) if cell else "--" for cell in cells]
        chance = half_up(LABORATORY[task].baseline()["chance"], 1)
        lines.append(" & ".join([LABORATORY[task].LABEL, chance, *texts]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _cell(cell: Reached) -> str:
    """All seeds, and which model it is where a column has several."""
    return seeds_text(cell.accuracy) + (f" ({cell.model})" if cell.model else "")


def _notes() -> Iterator[str]:
    """Paragraphs: each score's equation and source, each proof with the tasks and scores it is of, and the command."""
    scores = (rf"{member.label}: ${EQUATIONS[name]}$ ({_escape(member.source)})" for name, member in MEMBERS.items())
    yield rf"Scores. {'; '.join(scores)}.\par"
    places: dict[Claim, list[str]] = {}
    for (task, score), claim in CLAIMS.items():
        label = MEMBERS[score].label if score in MEMBERS else score
        places.setdefault(claim, []).append(f"{LABORATORY[task].LABEL}, {label}")
    proofs = (
        _escape(f"{'; '.join(of)}: {claim.says}, as {claim.why} ({claim.source})") for claim, of in places.items()
    )
    yield rf"Proofs. {_escape(MEANING)}. {'. '.join(proofs)}.\par"
    yield rf"Made by \texttt{{{COMMAND.replace('--', '-{}-')}}} of triattn."


def _escape(text: str) -> str:
    return "".join(LETTERS.get(letter, letter) for letter in text)
