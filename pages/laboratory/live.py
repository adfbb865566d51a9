"""Train a model of the page here: a job, which the page asks for its loss and its map every POLL seconds.

The run stays with the session: Cancel ends it where it is, what was reached by then is shown, and it can go on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from pages.laboratory import model_maps
from pages.shared import checkpoint_html, figures, model_jobs, style, url_state
from pages.shared.errors import escape_markdown
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.jobs import JOBS, Job
from triattn_core.tasks.laboratory import Example, LaboratoryTask
from triattn_core.views.charts import live_loss

if TYPE_CHECKING:
    from triattn_core.training.laboratory.live import LiveRun

KEY, DRAWN = "laboratory training", "laboratory training drawn"
POLL = 1.5  # seconds: drawing takes time from training
STEPS = (300, 1000, 3000)


def train_here(entries: Sequence[Entry], task: LaboratoryTask, example: Example) -> None:
    """Shows the training button, and below it the current or last training of this session for this task."""
    st.html(checkpoint_html.section("Train it here", "from random weights, on rows made as it goes; nothing is kept"))
    by_label = {model_maps.label(entry): entry for entry in entries}
    first = len(by_label) - 1
    with st.container(horizontal=True, vertical_alignment="bottom", key="live"):
        entry = by_label[url_state.pick("Model to train", list(by_label), f"{task.NAME}-train", first, width=200)]
        steps = url_state.segments("Steps", list(STEPS), f"{task.NAME}-steps", 1)
        training: Training | None = st.session_state.get(KEY)
        again = training is not None and training.repeats(entry, steps)
        runs = again and training.under_way()
        action = "Training" if runs else "Train it again" if again else "Train it here"
        st.button(action, key="live-start", width=130, on_click=_begin, args=(entry, steps), disabled=runs)
    if training is None or training.run.task.NAME != task.NAME:
        figures.note("Watch the loss fall, and the map find the truth or not.")
        return
    if not again:
        name, last = model_maps.label(entry), f"{training.name}, {training.run.steps:,} steps"
        figures.note(f"Below: {last}. “{action}” replaces it with {name}, {steps:,} steps.")
    polls = not training.is_done()
    st.fragment(_show_progress, run_every=POLL if polls else None)(training, example, polls)


@dataclass
class Training:
    """A run of this session, what it is called, the mechanism its colour is of, and the job that goes on with it."""

    name: str
    mechanism: str
    run: LiveRun
    job: Job | None = None

    def repeats(self, entry: Entry, steps: int) -> bool:
        """Whether a run of a model and a number of steps would differ from this one in the seed alone."""
        mine = self.run.task.NAME, self.name, self.run.steps
        return mine == (entry.config["task"], model_maps.label(entry), steps)

    def resume(self) -> None:
        """Begins, or goes on, in a job of its own; that ends soon after the page has gone."""
        self.run.stopped, self.run.watched = False, time.monotonic()
        key, title = (KEY, id(self.run)), f"training {self.name}"
        self.job, _ = JOBS.submit(self.run.device, key, title, self.run.train, KEY)

    def under_way(self) -> bool:
        """Whether its job still works; what went wrong in it is for `ended`."""
        return not self.job.wait(0.0)

    def is_done(self) -> bool:
        """Whether its job does no more.  Raises what went wrong in it."""
        ended = not self.under_way()
        if ended:
            self.job.answer()
        return ended


def _begin(entry: Entry, steps: int) -> None:
    from triattn_core.training.laboratory.live import LiveRun

    seed = entry.config["training"]["seed"]
    if old := st.session_state.get(KEY):
        old.run.stopped = True
        seed = old.run.seed + 1 if old.repeats(entry, steps) else seed
    training = Training(model_maps.label(entry), model_maps.colour(entry), LiveRun(entry.config, steps, seed))
    training.resume()
    st.session_state[KEY] = training


def _show_progress(training: Training, example: Example, polls: bool) -> None:
    """How far it is, drawn at each call; what was reached, once it has ended.  polls: whether it is called anew."""
    ended, run = training.is_done(), training.run
    if not ended and not polls:
        st.rerun()  # it goes on: the page asks again
    run.watched = time.monotonic()
    if not ended:
        with st.container(horizontal=True, vertical_alignment="center", key="live-under-way"):
            st.progress(run.done / run.steps, _describe(training))
            st.button("Cancel", key="live-cancel", width=84, on_click=_cancel, args=(run,))
    elif run.done < run.steps:
        with st.container(horizontal=True, vertical_alignment="center", key="live-cancelled"):
            st.html(f"Cancelled after {run.done:,} of {run.steps:,} steps.")
            st.button("Go on", key="live-go-on", width=84, on_click=training.resume)
    frames = sorted(run.snapshots)
    step = frames[-1]
    if ended and len(frames) > 1:
        step = st.select_slider("After step", frames, value=step, key=f"live-step-{step}", width=520)
    if ended:
        _outcome(training, step)
    with st.container(horizontal=True, gap="large", key="live-now"):
        with st.container(width=460):
            _loss(training)
        with st.container(width=model_maps.panel_width(example)):
            _map(training, example, step)
    if ended and st.session_state.get(DRAWN) != (id(run), run.done):
        st.session_state[DRAWN] = (id(run), run.done)
        st.rerun()  # the page stops asking


def _outcome(training: Training, step: int) -> None:
    """Accuracy on rows it was not trained on."""
    run = training.run
    right, chance = 100 * run.accuracy(step), run.task.baseline()["chance"]
    model = f"{training.name}, seed {run.seed}, after {step:,} steps"
    st.html(
        f'<p class="t-note">{escape(model)}: <b>{right:.1f} %</b> of held-out rows right, chance {chance:.1f} %. '
        f"{run.seconds:.0f} s of training. The map is of the row above: change a word there.</p>"
    )


def _map(training: Training, example: Example, step: int) -> None:
    run = training.run
    probabilities, weights = run.look(example, step)
    best = int(probabilities.argmax())
    answer, share = run.task.LABELS[best], float(probabilities[best])
    name = f"{training.name}, step {step:,}"
    model_maps.map_panel(name, training.mechanism, run.task, example, answer, share, weights, "live-map")


def _loss(training: Training) -> None:
    run, theme = training.run, style.theme()
    rows = pd.DataFrame(list(run.losses), columns=["step", "loss"])
    levels = live_loss.guesses(len(run.task.LABELS), run.task.baseline()["chance"])
    chart = live_loss.figure(rows, run.steps, levels, style.colour(training.mechanism), theme)
    figures.show(chart, live_loss.describe(rows, levels), "live-loss", width="content")


def _describe(training: Training) -> str:
    """How far it is, the pace measured so far with the time left at it, and the last loss."""
    run, status = training.run, replace(training.job.status(), remaining=None)  # of this run's own steps
    parts = [model_jobs.describe(training.name, status)]
    if pace := run.pace():
        parts.append("{:.3g} steps a second so far, about {:.0f} s left".format(*pace))
    if run.losses:
        parts.append(f"loss {run.losses[-1][1]:.3f}")
    return escape_markdown(", ".join(parts))


def _cancel(run: LiveRun) -> None:
    run.stopped = True
