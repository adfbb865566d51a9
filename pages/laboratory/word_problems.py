"""Word problems in the Laboratory: which two of the numbers make this one, and which attention looks at them."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.laboratory import problem_evidence, problem_input, where_it_pays
from pages.shared import figures, models, study_strip, style
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from triattn_core.analysis.operand_weights import fitting_mask, pair_weights, strongest_pair
from triattn_core.analysis.truth import measures
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.operand_runs import form
from triattn_core.studies.which_two_numbers import BY_QUESTION
from triattn_core.tasks.operands.example import Example, Pair
from triattn_core.tasks.operands.typed_problem import equation
from triattn_core.tasks.operands.typed_problem import show as show_number
from triattn_core.trace.listing import listing
from triattn_core.views.charts import truth_map

if TYPE_CHECKING:
    import numpy as np

OUTLINED = "makes the number"
ABOUT = {  # by form
    "Tri": "one weight for each pair, from the number asked for and both numbers together",
    "pairwise scores": "one weight for each pair, added up from two at a time, never from all three",
    "two-way, one layer": "first and second are chosen apart: neither reads what both make",
}
CELLS = (
    "Key and context are the numbers of the problem, the query is the number asked for; a number makes no pair with "
    "itself, and both orders of a pair count together. “Twenty-five” is 25, “25 %” is 25 too, “2 dozen” "
    "is 2 and 12."
)
ANSWERS = "word problem's answers"


def show(settings: DeltaGenerator) -> None:
    """Shows the problem, the maps, and what is known of the models.  settings: the row of pickers, which it extends."""
    with settings:
        st.space("stretch")
        problem_input.menu()
    order = list(ABOUT)
    entries = sorted(
        (entry for entry in models.operands() if form(entry.config) in ABOUT),
        key=lambda entry: order.index(form(entry.config)),
    )
    with report_errors(stop=False):  # what was measured below needs no problem
        example = problem_input.example()
        study_strip.note_example(example)
        if entries:
            _answer(entries, example)
    if not entries:
        st.info("No model of word problems is here: triattn train checkpoints/operands/…/config.json makes one.")
        return
    problem_evidence.show()
    where_it_pays.show()


def _answer(entries: list[Entry], example: Example) -> None:
    """The problem with its numbers lit, what makes the number, and each model's map."""
    weights = {form(entry.config): pair_weights(MODELS.explain(entry, example).trace) for entry in entries}
    pair, _ = strongest_pair(next(iter(weights.values())))
    # Before anything is drawn: a click may end this run early, and the number is to follow the text all the same.
    fitting = [fitting for fitting in example.fitting if _equation(example, fitting)]
    problem_input.remember(example, pair if pair in fitting or not fitting else fitting[0])
    st.html(problem_input.lit(example, pair))
    found = [made for fitting in example.fitting if (made := _equation(example, fitting))]
    with st.container(horizontal=True, vertical_alignment="center", key="outcome"):
        st.html(f'<p class="t-outcome">{_truth(example, found)}</p>', width="content")
        if step := _equation(example, pair):
            arguments = (step, example.numbers)
            about = "Writes it below the problem: its result is then one of the numbers."
            st.button("Take it as a step", key="take-step", help=about, on_click=problem_input.add_step, args=arguments)
    with st.container(horizontal=True, gap="medium", key="maps"):
        for entry in entries:
            with st.container(width=_width(example), key=f"map-{entry.name}"):
                _panel(entry, example, weights[form(entry.config)])
    _changes(example, {name: strongest_pair(cells)[0] for name, cells in weights.items()})
    for note in problem_input.notes(example):
        figures.note(note)
    st.html(
        f'<p class="t-note">{truth_map.legend(style.theme(), OUTLINED)}</p><details class="t-note">'
        f"<summary>How to read the maps</summary><div>{CELLS} {BY_QUESTION}</div></details>"
    )


def _truth(example: Example, found: list[str]) -> str:
    """HTML: what makes the number, by arithmetic alone."""
    made = f"Which two make <b>{escape(show_number(example.result))}</b>?"
    if not found:
        return f"{made} By one of the four operations no pair does. The models still point at one."
    if len(found) == 1:
        return f"{made} <b>{escape(found[0])}</b>"
    return f"{made} {escape(listing(found))}: <b>{len(found)} pairs fit</b>, and words and places must decide."


def _equation(example: Example, pair: Pair) -> str:
    left, right = (example.numbers[i].value for i in pair)
    return equation(left, right, example.result)


def _says(example: Example, pair: Pair) -> str:
    """What a pair makes, or that it does not make the number."""
    left, right = (show_number(example.numbers[i].value) for i in pair)
    return _equation(example, pair) or f"{left} and {right} do not make {show_number(example.result)}"


def _panel(entry: Entry, example: Example, weights: np.ndarray) -> None:
    """One model: its pair, whether that makes the number, and its map."""
    name, mask = form(entry.config), fitting_mask(example)
    pair, share = strongest_pair(weights)
    st.html(
        f'<div class="t-says t-answer"><span>{style.swatch(entry.config["model"]["mechanism"])}<b>'
        f"{escape(name[0].upper() + name[1:])}</b></span><span><b>{escape(_says(example, pair))}</b></span>"
        f'<span class="t-muted t-num">weight {share:.2f}; {escape(ABOUT[name])}</span></div>'
    )
    labels = _labels(example)
    found = measures(weights, mask, len(labels) * (len(labels) - 1)) if mask.any() else {}
    sentence = truth_map.describe(found, "pairs that fit") if found else "No pair fits: there is nothing to find."
    chart = partial(truth_map.figure, weights, labels, labels, mask, style.theme(), OUTLINED, alone=False)
    figures.show(chart, f"{name}: {_says(example, pair)}. {sentence}", f"figure-{entry.name}", width="content")
    figures.note(sentence)


def _labels(example: Example) -> list[str]:
    """The numbers as they stand on the axes; those written as a word with their value."""
    texts = [example.text[slice(*number.span)] for number in example.numbers]
    return [
        f"{text} ({show_number(number.value)})" if number.kind == "word" else show_number(number.value)
        for text, number in zip(texts, example.numbers)
    ]


def _width(example: Example) -> int:
    """Pixels that a map and its labels take."""
    labels = _labels(example)
    return max(300, truth_map.width(labels, labels, alone=False))


def _changes(example: Example, pairs: dict[str, Pair]) -> None:
    """A sentence: where each model's pair was before the last change, and where it is now."""
    now = (example, {name: _says(example, pair) for name, pair in pairs.items()})
    before, current = st.session_state.get(ANSWERS, (None, None))
    if current is not None and current[0] != example:
        before = current
    st.session_state[ANSWERS] = before, now
    if before is not None:
        moves = [f"{name}: {before[1][name]} \N{RIGHTWARDS ARROW} {says}" for name, says in now[1].items()]
        st.html(f'<p class="t-note" data-history><b>Your change.</b> {escape("; ".join(moves))}.</p>')
