"""Laboratory models side by side: what each answers, and its weights with the truth outlined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import figures, models, style, url_state
from pages.shared.models import MODELS
from triattn_core.analysis.truth import measures, truth_mask
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.third_order import RELATIVES
from triattn_core.sources.explanation import Explanation
from triattn_core.tasks.laboratory import Example, LaboratoryTask
from triattn_core.views.charts import truth_map

if TYPE_CHECKING:
    import numpy as np

    from triattn_core.checkpoint.bundle import Bundle

ORDER = ("bi_joint", "cbi", "tri")


def entries(task: LaboratoryTask) -> list[Entry]:
    """The sound models of a task: two-way ones first, then by layers and similarity.  Scores that others than the
    Tri-Attention paper proposed stand on Third order."""
    trained = [
        entry
        for entry in models.laboratory()
        if entry.config["task"] == task.NAME and _facts(entry)[0] in ORDER and _facts(entry)[2] not in RELATIVES
    ]
    return sorted(trained, key=lambda entry: (ORDER.index(_facts(entry)[0]), *_facts(entry)[1:]))


def _facts(entry: Entry) -> tuple[str, str, str]:
    """Mechanism, layers and similarity."""
    mechanism, layers, similarity = (
        metadata.model_setting(entry, name) for name in ("mechanism", "layers", "similarity")
    )
    return mechanism, layers, similarity


def label(entry: Entry) -> str:
    """What a model is called here."""
    mechanism, layers, similarity = _facts(entry)
    if mechanism == "bi_joint":
        return f"Bi-joint, {layers} layer{'s' * (layers != '1')}"
    return "C-Bi" if mechanism == "cbi" else f"Tri, {similarity.replace('_', ' ')}"


def colour(entry: Entry) -> str:
    """The mechanism that its colour is of."""
    return _facts(entry)[0].removesuffix("_joint")


def chosen_models(all_: Sequence[Entry], task: LaboratoryTask) -> list[Entry]:
    """The models to show, in the URL; by default the two-way ones, and the Tri-Attention best on dev."""
    by_label = {label(entry): entry for entry in all_}
    tri = {name: entry for name, entry in by_label.items() if _facts(entry)[0] == "tri"}
    dev = {name: entry.metrics["dev"] for name, entry in tri.items()}
    best = max(tri, key=lambda name: (dev[name]["accuracy"], dev[name]["mass"]), default=None)
    default = [name for name in by_label if name not in tri or name == best]
    entries = [by_label[name] for name in url_state.several("Models", list(by_label), default, f"{task.NAME}-models")]
    return sorted(entries, key=lambda entry: _facts(entry)[0] != "tri")  # first, so that narrow windows show it too


def answer_weights(explanation: Explanation) -> np.ndarray:
    """The query's weights in the last layer, mean over heads: see `views.charts.truth_map`."""
    site = sorted(site for site in explanation.trace.sites if site.quantity == "weight")[-1]
    return explanation.trace.site(site).mean("head").values[0]


def panel(entry: Entry, *about) -> None:
    """One model: its answer, right or wrong, and its map."""
    map_panel(label(entry), colour(entry), *about)


def map_panel(name: str, mechanism: str, task: LaboratoryTask, example: Example, answer: str, share: float | None,
              weights: np.ndarray, key: str, right_share: float | None = None) -> None:  # fmt: skip
    """The same of whatever gave the answer and the weights.  mechanism: its colour is of it.

    share, right_share: probabilities of its answer and of the right one.
    """
    truth = truth_mask(example, weights.shape)
    verdict = "" if example.label is None else "right" if answer == task.LABELS[example.label] else "wrong"
    found = measures(weights, truth, task.cells(weights.shape)) if truth.any() else {}
    sentence = truth_map.describe(found)
    certainty = "" if share is None else f"probability {share:.2f}"
    if verdict == "wrong" and right_share is not None:
        certainty += f", of the right answer {right_share:.2f}"
    chance = f'<span class="t-muted t-num">{certainty}</span>' if certainty else ""
    st.html(
        f'<div class="t-says t-answer"><span>{style.swatch(mechanism)}<b>{escape(name)}</b></span>'
        f"<span>{escape(answer)}{': ' * bool(verdict)}<b>{verdict}</b></span>{chance}</div>"
    )
    theme = style.theme()
    chart = partial(truth_map.figure, weights, example.keys, example.context, truth, theme)
    figures.show(chart, f"{name}: {answer}. {sentence}", key, width="content")
    figures.note(sentence)


def panel_width(example: Example) -> int:
    """Pixels that the map of a row and its labels take."""
    return max(290, truth_map.width(example.keys, example.context))


def references(all_: Sequence[Entry]) -> dict[str, Mapping]:
    """Measures, by name, of what was not trained: Tri-Attention as it starts, and what can be written down.

    Measured here where no model has them recorded.
    """
    tri = [entry for entry in all_ if _facts(entry)[0] == "tri"]
    recorded = next((entry.metrics["references"] for entry in reversed(tri) if "references" in entry.metrics), None)
    if recorded is not None or not tri:
        return recorded or {}
    return MODELS.answer(tri[-1], "Measuring untrained weights", reference_measures)


def reference_measures(bundle: Bundle) -> dict[str, Mapping]:
    """Imported where it is asked for: it needs torch."""
    from triattn_core.inference.laboratory_references import reference_measures as measure

    return measure(bundle)


def maps(entries: Sequence[Entry], task: LaboratoryTask, example: Example) -> dict[str, str]:
    """All models on one row; their answers by the models' labels."""
    answers = {}
    with st.container(horizontal=True, gap="small", key="maps"):
        for entry in entries:
            explanation = MODELS.explain(entry, example)
            prediction = explanation.prediction
            with st.container(width=panel_width(example), key=f"map-{entry.name}"):
                share = prediction.probabilities[prediction.best]
                right = None if example.label is None else prediction.probabilities[example.label]
                answer, key = prediction.labels[prediction.best], f"figure-{entry.name}"
                panel(entry, task, example, answer, share, answer_weights(explanation), key, right)
                answers[label(entry)] = answer
    return answers
