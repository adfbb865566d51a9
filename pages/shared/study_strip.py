"""The strip of a study, above the figure of the page that its link opens: what is claimed, what would refute it, a word
to change, number and answers, and once the input is edited those of the edit beside them."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from html import escape
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import model_jobs, models, url_state
from pages.shared.errors import notice
from pages.shared.models import MODELS
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import TriattnError, choices, quote
from triattn_core.inference.device import choose_device
from triattn_core.studies import Study, studies
from triattn_core.views.lib.number_format import minus, probability

if TYPE_CHECKING:
    from triattn_core.inference.predictions import Prediction

KEY = "study"  # in the URL
UNCOMPARED = ("label", "id", "answers", "speakers")  # fields of an example that no user types


@dataclass
class Strip:
    """The study of the link, the place of its numbers, and the example that the page shows, once it has one."""

    name: str
    study: Study
    place: DeltaGenerator
    example: Any = None


_strip: ContextVar[Strip | None] = ContextVar("strip of this run", default=None)


def show() -> None:
    """Draws the strip where the link names a study; call it below the heading of every page."""
    _strip.set(None)
    name = st.query_params.get(KEY)
    place = st.container(key=KEY)  # always there: what follows keeps its place when the strip is closed
    if name is None:
        return
    if name not in studies():
        notice(f"The link asks for study {quote(name)}; {choices(name, studies())}.")
        return
    study = studies()[name]
    with place, st.container(horizontal=True, key="study-strip"):
        st.html(
            f'<p><b>{escape(study.title)}</b> {escape(study.result)} <span class="t-muted">'
            f"{escape(study.limits)}</span></p><p><b>Would refute it:</b> {escape(study.refuted)}</p>"
            f"<p><b>Try it:</b> {escape(study.change)}</p>"
        )
        numbers = st.empty()
        st.button("Close", key="close-study", type="tertiary", on_click=_close)
    _strip.set(Strip(name, study, numbers))


def note_example(example: Any) -> None:
    """Notes what goes in, for `show_effect`."""
    if (strip := _strip.get()) is not None:
        strip.example = example


def show_effect() -> None:
    """Shows the study's number and the answers of its checkpoints, also for an edited input; call it at the end of a
    page."""
    strip = _strip.get()
    if strip is None or type(strip.example) is not type(strip.study.edited):
        return
    study, first = strip.study, strip.study.examples[0]
    entries = models.of_studies()
    if not {*study.checkpoints} <= {*entries}:
        return
    examples = [first] if _url_values(strip.example) == _url_values(first) else [first, strip.example]
    try:
        study_entries = [entries[name] for name in study.checkpoints]
        columns = [_numbers(strip.name, study, study_entries, example) for example in examples]
    except TriattnError as error:
        strip.place.html(f"<p><b>With your input:</b> {escape(str(error))}</p>")
        return
    strip.place.html(_table(study, columns))


def _close() -> None:
    url_state.drop(KEY)


def _url_values(example: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(example).items() if name not in UNCOMPARED}


def _numbers(name: str, study: Study, entries: Sequence[Entry], example: Any) -> tuple[float, list[str]]:
    """The number of a study for an example, and each checkpoint's answer.  Raises TriattnError."""

    def run() -> float:
        return float(study.measure([MODELS.load(entry) for entry in entries], example))

    key = ("study number", name, *(entry.digest for entry in entries), example)
    value = model_jobs.result(choose_device(), key, f"The number of “{study.title}”", run)
    return value, [_answer(MODELS.explain(entry, example).prediction, example) for entry in entries]


def _answer(prediction: Prediction, example: Any) -> str:
    """What a model says, and whether that is right where it is known."""
    best, gold = prediction.best, getattr(example, "label", None)
    right = "" if gold is None else ", right" if gold == best else ", wrong"
    return f"{shorten(prediction.labels[best], 40)} {probability(prediction.probabilities[best])}{right}"


def _table(study: Study, numbers: Sequence[tuple[float, list[str]]]) -> str:
    """HTML: a row for the number and one for the answer of each checkpoint; a column for the study, and one for the
    edited input."""
    columns = [[minus(f"{value:#.3g}".rstrip(".")), *answers] for value, answers in numbers]
    names = [f"{study.number}, {study.unit}", *(f"answer of {name}" for name in study.checkpoints)]
    kinds = ["t-before", "t-after"], *([["t-answer"] * 2] * len(study.checkpoints))
    rows = "".join(
        f"<tr><td>{escape(name)}</td>"
        + "".join(f'<td class="r {kind}">{escape(cell)}</td>' for kind, cell in zip(classes, cells))
        + "</tr>"
        for name, classes, cells in zip(names, kinds, zip(*columns))
    )
    titles = ("in the study", "with your input")[: len(columns)]
    heads = "<tr><td></td>" + "".join(f'<th class="r">{title}</th>' for title in titles) + "</tr>"
    return f'<div class="t-scroll"><table class="t-table">{heads}{rows}</table></div>'
