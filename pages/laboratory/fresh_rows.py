"""One row may be chance: the chosen models on a hundred rows that nobody has seen."""

from __future__ import annotations

import random
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.laboratory import model_maps
from pages.shared.models import MODELS
from triattn_core.analysis.significance import wilson_interval
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks.laboratory import LaboratoryTask

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle

ROWS = 100
SEEDS = 1000, 999_999  # seeds below are those of training, dev, test and examples


def trial(entries: Sequence[Entry], task: LaboratoryTask) -> None:
    """A button that draws a seed; then the accuracy of each model on its rows, and the command that repeats it."""
    key = f"{task.NAME}-fresh-seed"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="fresh"):
        st.button(f"Try {ROWS} fresh rows", key="fresh-rows", width=160, on_click=_draw, args=(key,))
        if (seed := st.session_state.get(key)) is None:
            return
        right = {entry.name: _accuracy(entry, task.NAME, seed) for entry in entries}
        scores = ", ".join(f"{model_maps.label(entry)} {_score(right[entry.name])}" for entry in entries)
        chance = task.baseline()["chance"]
        command = f"triattn evaluate {' '.join(right)} laboratory:{task.NAME} --seed {seed} --rows {ROWS}"
        sentence = f"{scores} right (95 % interval); chance {chance:.1f} %. <code>{escape(command)}</code>"
        st.html(f'<p class="t-note">{sentence}</p>')


def _accuracy(entry: Entry, name: str, seed: int) -> float:
    """In per cent, on ROWS rows of a seed, at the model's own size."""

    def measure(bundle: Bundle) -> float:
        from triattn_core.inference.laboratory import evaluate_laboratory, rows_of

        return evaluate_laboratory(bundle, rows_of(name, seed, ROWS, bundle.config.data.size))["metrics"]["accuracy"]

    return MODELS.answer(entry, f"Trying {ROWS} rows", measure, name, seed)


def _score(percent: float) -> str:
    """HTML: a share of ROWS rows in per cent, and Wilson's interval of it."""
    low, high = wilson_interval(round(percent / 100 * ROWS), ROWS)
    return f"<b>{percent:.0f} %</b> ({100 * low:.0f} to {100 * high:.0f})"


def _draw(key: str) -> None:
    st.session_state[key] = random.randint(*SEEDS)
