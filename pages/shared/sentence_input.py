"""What goes in on a page about texts that are each encoded on their own: one sentence, or premise and hypothesis; and
which checkpoint reads them.  The task follows from the checkpoint; the texts are in the URL (`text`; `premise`,
`hypothesis`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import carried_input, languages, models, pair_input, sentence_box, style, url_state
from pages.shared.errors import escape_markdown, notice, report_errors
from pages.shared.models import MODELS
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources.explanation import Explanation
from triattn_core.tasks import ENCODED
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

OPENS = "trec"  # the first example is a question


@dataclass(frozen=True)
class SentencePage:
    """The top of a page: checkpoint, example and prediction; layer: the chosen one.
    settings: the row of pickers, which the page extends."""

    entry: Entry
    example: Any
    explanation: Explanation
    layer: Site
    settings: DeltaGenerator

    def link(self) -> dict[str, str]:
        """The parameters of a link to another page with the same texts, layer and checkpoint."""
        layer_query = {"of": self.layer.module} if self.layer.module else {}
        return {**ENCODED[self.entry.config["task"]].texts(self.example), "checkpoint": self.entry.name, **layer_query}


def open_page(title: str, lead: str, mechanisms: Sequence[str]) -> SentencePage:
    """Shows heading, texts, prediction, and the pickers of checkpoint and layer; stops the page if there is none."""
    head, _ = style.opening()
    style.say(head, title, lead)
    entries = sentence_models(mechanisms)
    if not entries:
        st.info(f"No {mechanisms[0].upper()} checkpoint is here yet: Checkpoints lists those available.")
        st.stop()
    row = example(current_checkpoint(entries).config["task"])
    answer_place = st.container()
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    with settings:
        entry = checkpoint(entries)
    with report_errors():
        explanation = MODELS.explain(entry, row)
    with settings:
        layer_site = layer(explanation.trace)
    with answer_place:
        pair_input.prediction(explanation)
    return SentencePage(entry, row, explanation, layer_site, settings)


def sentence_models(mechanisms: Sequence[str]) -> list[Entry]:
    """The checkpoints of these mechanisms whose texts are encoded alone, in the order in which they are offered."""
    entries = [entry for entry in models.entries(None, mechanisms) if entry.config.get("task") in ENCODED]
    tasks = list(ENCODED)
    order = sorted(entries, key=lambda entry: (tasks.index(entry.config["task"]), not entry.name.startswith(OPENS)))
    return order


def current_checkpoint(entries: Sequence[Entry]) -> Entry:
    """The requested checkpoint, before its picker exists; else the first."""
    linked = languages.requested_checkpoints("checkpoint")
    return next((entry for entry in entries if entry.name in linked), entries[0])


def example(task: str) -> Any:
    """Shows the texts and the examples menu; returns an example of the task, with its label if it is the project's."""
    room, examples = ENCODED[task], ENCODED[task].examples()
    for name in {name for other in ENCODED.values() for name in other.TEXTS} - set(room.TEXTS):
        st.query_params.pop(name, None)
    opens, texts = room.texts(examples[0]), {}
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        for name, title in room.TEXTS.items():
            label = title.removeprefix("The ").capitalize()
            carried_input.text(name, opens[name])
            texts[name] = sentence_box.box(label, opens[name], name, on_change=pair_input.shorten, args=(name,))
        options = {
            "on_click": _apply_example,
            "args": (task,),
            "format_func": lambda item: _title(task, item),
            "width": 112,
        }
        st.menu_button("Examples", examples, key=f"{task}-example", **options)
    for name, text in texts.items():
        full_length = max(len(text), st.session_state.pop(f"full-length-{name}", 0))
        if full_length > pair_input.LIMIT:
            notice(f"{room.TEXTS[name]} has {full_length:,} characters: only the first {pair_input.LIMIT:,} are kept.")
    texts = {name: text[: pair_input.LIMIT] for name, text in texts.items()}
    carried_input.carry_input(texts=texts)
    match = next((item for item in examples if room.texts(item) == texts), None)
    return match or replace(examples[0], label=None, id="", **texts)


def checkpoint(entries: Sequence[Entry]) -> Entry:
    """The picker of the checkpoint, in the URL."""
    return url_state.pick("Checkpoint", list(entries), "checkpoint", show=lambda entry: entry.name, width=150)


def layer(trace: AttentionTrace) -> Site:
    """The pickers of text and layer, where there are several."""
    names = list(trace.texts)
    text = url_state.segments("Text", names, "of") if len(names) > 1 else ""
    count = int(trace.meta.get("layers", 1))
    number = url_state.segments("Layer", list(range(1, count + 1)), "layer") if count > 1 else 1
    return Site(text, number - 1)


def _title(task: str, example: Any) -> str:
    return escape_markdown("  /  ".join(ENCODED[task].texts(example).values()))


def _apply_example(task: str) -> None:
    for name, text in ENCODED[task].texts(st.session_state[f"{task}-example"]).items():
        st.session_state[name] = text
