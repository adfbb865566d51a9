"""Two inputs under one checkpoint: a text and what it was edited to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.shared import choice_input, pair_input, sentence_box, url_state
from pages.shared.task_picker import TaskLabels
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.side_by_side_panels import Comparison
from triattn_core.sources.explanation import describe_duration
from triattn_core.tasks import CHOICES, InputForm, form, pairs
from triattn_core.text.segmentation import sentences
from triattn_core.trace import Choice
from triattn_core.views.lib.number_format import minus, probability

KEYS = ("a2", "b2")  # of the edited sentences, and in the URL
PART, TEXT = "part", "edited"  # the same of a text of a dialogue or a passage
_WORDS = re.compile(r"[^\W\u3400-\u9fff]+|\s+|.")  # a Chinese character stands alone


def settings(entries: Sequence[Entry], words: TaskLabels) -> tuple[Entry, Choice]:
    """The pickers: which checkpoint (the first Tri, where nobody has chosen), direction, layer, head and quantity."""
    first = next((i for i, entry in enumerate(entries) if metadata.model_setting(entry, "mechanism") == "tri"), 0)
    entry = url_state.pick("Checkpoint", entries, "checkpoint", first, show=lambda entry: entry.name, width=190)
    model = entry.config["model"]
    direction = words.directions[url_state.direction(words.directions)]
    return entry, url_state.site(direction, int(model.get("layers", 2)), int(model.get("heads", 12)))


def edited_example(task: str, example: Any) -> Any:
    """The edited input, from the widgets: both are in the URL, as far as a link can carry them."""
    if form(task) is InputForm.PAIR:
        return _pair(example)
    parts = CHOICES[task].parts(example)
    names = [name for name in choice_input.PARTS[task] if name != CHOICES[task].WORDS.lists[-1]]
    labels = {choice_input.PARTS[task][name].partition(",")[0]: name for name in names}
    with st.container(horizontal=True, vertical_alignment="bottom", key="edit-part"):
        part = labels[url_state.pick("Edit", list(labels), PART, width=112)]
        text = _text(part, parts[part])
    return replace(choice_input.parse_example(task, parts | {part: text}), label=example.label)


def _pair(example: pairs.Example) -> pairs.Example:
    """Two fields below the pair; they open on A in the place of B, and stay with what was written."""
    texts = example.text_a, example.text_b
    opens = example.text_a, opening_edit(*texts)
    before = st.session_state.get("edited of")
    if before != texts:  # another pair: what nobody wrote follows it
        for key, text, old in zip(KEYS, opens, st.session_state.get("edit opens", (None, None))):
            if st.session_state.get(key, st.query_params.get(key)) in (None, old):
                st.session_state[key] = text
        st.session_state["edited of"], st.session_state["edit opens"] = texts, opens
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair-edited"):
        for key, name, text in zip(KEYS, "AB", opens):
            st.session_state.setdefault(key, st.query_params.get(key, text))
            options = {"max_chars": pair_input.LIMIT, "on_change": pair_input.shorten, "args": (key,)}
            sentence_box.box(f"Sentence {name}, edited", None, key, **options)
        st.button("As above", key="as-above", width=108, on_click=_as_above, args=texts, help="Takes the edit back.")
    return pairs.Example(*(st.session_state[key] for key in KEYS))


def _as_above(*texts: str) -> None:
    for key, text in zip(KEYS, texts):
        st.session_state[key] = text


def opening_edit(a: str, b: str) -> str:
    """What the second sentence opens edited to: the first one, whole, as single words of it in the place of others may
    be no sentence; without its last word or mark if the two are equal."""
    if a != b:
        return a
    parts = [part for part in _WORDS.finditer(b) if not part[0].isspace()]
    return b[: parts[-1].start()].rstrip() if len(parts) > 1 else b


def _text(part: str, text: str) -> str:
    """Shows a text field, by default without the first line or sentence; returns the edited text."""
    lines = text.splitlines()
    ends = sentences(text)
    opens = "\n".join(lines[1:]) if len(lines) > 1 else text[ends[1][0] :] if len(ends) > 1 else text
    key, texts_seen = f"{TEXT}-{part}", st.session_state.setdefault("edited texts", {})
    if texts_seen.get(part) != text:
        link = st.query_params.get(TEXT) if not texts_seen else None
        texts_seen[part] = text
        st.session_state[key] = link or opens
    written = st.text_area("Edited", key=key, height=110)[: choice_input.LIMIT]
    if written != opens and len(urlencode({TEXT: written})) <= choice_input.LINK:
        st.query_params[TEXT] = written
    else:
        url_state.drop(TEXT)
    return written


def show_effect(comparison: Comparison) -> None:
    """Shows one line: the effect of the edit on the answer."""
    before, after = (explanation.prediction for explanation in comparison.explanations)
    best = before.best
    shift = after.probabilities[best] - before.probabilities[best]
    flips = f": it flips to <b>{escape(after.labels[after.best])}</b>" if after.best != best else ""
    numbers = " to ".join(probability(prediction.probabilities[best]) for prediction in (before, after))
    duration = describe_duration(comparison.explanations, "both")
    st.html(
        f'<div class="t-says"><span>The edit moves the probability of <b>{escape(before.labels[best])}</b> '
        f"from {numbers} ({minus(f'{shift:+.3f}')}){flips}</span>"
        f'<span class="t-muted t-num">{escape(duration)}</span></div>' + pair_input.notes(comparison.explanations)
    )
