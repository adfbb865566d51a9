"""What goes in on a page about texts that are each encoded on their own: one sentence, premise and hypothesis, or a
sentence and one of its words; and which checkpoint reads them.  The task follows from the checkpoint; the texts are in
the URL (`text`; `premise`, `hypothesis`; `source`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import carried_input, languages, models, pair_input, sentence_box, style, url_state, word_input
from pages.shared.errors import escape_markdown, report_errors
from pages.shared.models import MODELS
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources.explanation import Explanation
from triattn_core.tasks import ENCODED, InputForm, form
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

OPENS = "trec"  # the first example is a question
PAGE = "mtsa"  # whose checkpoints these are, as their kinds say
Forms = Mapping[InputForm, Sequence[str]]  # by the form of their input, the mechanisms of a page, all if none is named
NO_LEADS: Mapping[InputForm, str] = MappingProxyType({})


@dataclass(frozen=True)
class SentencePage:
    """The top of a page: checkpoint, example and prediction; layer: the chosen one.
    settings: the row of pickers, which the page extends.  answer: where the prediction stands."""

    entry: Entry
    example: Any
    explanation: Explanation
    layer: Site
    settings: DeltaGenerator
    answer: DeltaGenerator

    def link(self) -> dict[str, str]:
        """The parameters of a link to another page with the same texts, layer and checkpoint."""
        layer_query = {"of": self.layer.module} if self.layer.module else {}
        return {**ENCODED[self.entry.config["task"]].texts(self.example), "checkpoint": self.entry.name, **layer_query}


def open_page(
    title: str,
    lead: str,
    forms: Forms,
    leads: Mapping[InputForm, str] = NO_LEADS,
    unread: Callable[[Entry], object] = lambda entry: None,
) -> SentencePage:
    """Shows heading, texts, prediction, and the pickers of checkpoint and layer; stops the page if there is none, and
    where a word must be chosen first.

    lead: how to read the page; leads: the same for the checkpoints of some forms.  unread: shows what can be shown
    where the texts cannot be read.
    """
    head, _ = style.opening()
    style.say(head, title, lead)
    entries = sentence_models(forms)
    if not entries:
        st.info("No MTSA checkpoint is here yet: Checkpoints lists those available.")
        st.stop()
    now = current_checkpoint(entries)
    style.say(head, title, leads.get(form(now.config["task"]) or InputForm.SENTENCES, lead))
    row = example(now)
    answer_place = st.container()
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    with settings:
        entry = checkpoint(entries)
    if row is None:
        with answer_place:
            word_input.ask()
        st.stop()
    explanation = None
    with report_errors(stop=False):
        explanation = MODELS.explain(entry, row)
    if explanation is None:
        unread(entry)
        st.stop()
    with settings:
        layer_site = layer(explanation.trace, form(entry.config["task"]))
    with answer_place:
        if form(entry.config["task"]) is InputForm.SENTENCES:
            pair_input.prediction(explanation)
    return SentencePage(entry, row, explanation, layer_site, settings, answer_place)


def sentence_models(forms: Forms) -> list[Entry]:
    """The checkpoints of these forms and mechanisms that their kinds give the page, in the order of their offer."""
    entries = [
        entry
        for form_, mechanisms in forms.items()
        for entry in models.entries(None, mechanisms)
        if entry.config.get("task") in ENCODED and form(entry.config["task"]) is form_
        if PAGE in entry.kind.pages(metadata.model_setting(entry, "mechanism"))
    ]
    tasks = list(ENCODED)
    order = sorted(entries, key=lambda entry: (tasks.index(entry.config["task"]), not entry.name.startswith(OPENS)))
    return order


def current_checkpoint(entries: Sequence[Entry]) -> Entry:
    """The requested checkpoint, before its picker exists; else the first."""
    linked = languages.requested_checkpoints("checkpoint")
    return next((entry for entry in entries if entry.name in linked), entries[0])


def example(entry: Entry) -> Any:
    """Shows the texts and the examples menu; returns an example of the checkpoint's task, with its label if it is the
    project's; None where one of the words must be chosen first."""
    task = entry.config["task"]
    room, examples = ENCODED[task], ENCODED[task].examples()
    for name in {name for other in ENCODED.values() for name in other.TEXTS} - set(room.TEXTS):
        url_state.drop(name)
    if form(task) is InputForm.WORDS:
        return word_input.example(entry)
    url_state.drop(word_input.KEY)
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
    texts = {name: pair_input.cut(text, name, room.TEXTS[name]) for name, text in texts.items()}
    carried_input.carry_input(texts=texts)
    match = next((item for item in examples if room.texts(item) == texts), None)
    return match or replace(examples[0], label=None, id="", **texts)


def checkpoint(entries: Sequence[Entry]) -> Entry:
    """The picker of the checkpoint, in the URL."""
    return url_state.pick("Checkpoint", list(entries), "checkpoint", show=lambda entry: entry.name, width=150)


def layer(trace: AttentionTrace, of_form: InputForm | None) -> Site:
    """The pickers of text and layer, where there are several.

    of_form: a tagger and a translation model open on their last layer, from which the answer is read; a translation
    model's decoder over its source, `cross`, stands first.
    """
    answers_by_word = of_form in (InputForm.WORDS, InputForm.TRANSLATION)
    names = [*(["cross"] if of_form is InputForm.TRANSLATION else []), *trace.texts]
    text = url_state.segments("Text", names, "of") if len(names) > 1 else ""
    count = int(trace.meta.get("layers", 1))
    first = count - 1 if answers_by_word else 0
    number = url_state.segments("Layer", list(range(1, count + 1)), "layer", first) if count > 1 else 1
    return Site(text, number - 1)


def _title(task: str, example: Any) -> str:
    return escape_markdown("  /  ".join(ENCODED[task].texts(example).values()))


def _apply_example(task: str) -> None:
    for name, text in ENCODED[task].texts(st.session_state[f"{task}-example"]).items():
        st.session_state[name] = text
