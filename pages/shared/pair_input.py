"""What goes in and what the model says: the two rows at the top of a page about sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape

import streamlit as st

from pages.shared import carried_input, sentence_box, style, url_state
from pages.shared.errors import escape_markdown, notice
from pages.shared.languages import Spoken
from triattn_core.checkpoint import metadata
from triattn_core.sources.explanation import Explanation, describe_duration
from triattn_core.tasks import InputForm, form, pairs
from triattn_core.tasks.task import PairTask
from triattn_core.tasks.training_words import ASKS
from triattn_core.text.language import guess_language, other_than
from triattn_core.views.lib.number_format import probability

LIMIT = 2000  # characters a sentence: many times what a model reads, and still a link


NAMES = {  # of the boxes, by what a model reads
    "pair": ("Sentence A", "Sentence B"),
    "text": ("Text",),
    "source": ("Text to translate",),
    "passage": ("Question", "Passage"),
}
LETTERS = {"text": ("",), "source": ("",), "passage": ("Q", "P")}  # before what is typed


def pair(speaks: Spoken, task: PairTask = pairs, reads: str = "") -> pairs.Example:
    """The row Sentence A, Sentence B, Language, Examples; both sentences are in the URL (`a`, `b`).

    The pair has a gold label if it is one of the examples. It may be blank: `MODELS.explain` then raises.
    reads: of another model than ours, one of NAMES; of one text the second is blank.
    """
    names = NAMES[reads or "pair"]
    examples, opens = task.examples(speaks.now), task.examples(speaks.first)[0]
    if letters := LETTERS.get(reads):
        st.html(f"<style>{sentence_box.letters(*letters)}</style>")
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        starts = ((opens.text_a, examples[0].text_a), (opens.text_b, examples[0].text_b))
        texts = [_sentence(key, label, *start) for key, label, start in zip("ab", names, starts)]
        if len(speaks.takes) > 1:
            language(speaks, task, texts)
        st.menu_button("Examples", examples, key="example", on_click=_apply_example, format_func=_title, width=112)
    if len(names) < 2:  # of a link made where two texts are read
        url_state.drop("b")
    for name, label, text in zip("ab", names, texts):
        full_length = max(len(text), st.session_state.pop(f"full-length-{name}", 0))
        if full_length > LIMIT:
            notice(f"{label} has {full_length:,} characters: only the first {LIMIT:,} are kept.")
        elif len(text) == LIMIT:
            notice(f"{label} fills its box: text beyond {LIMIT:,} characters is cut off.")
    a, b = (text[:LIMIT] for text in (*texts, "")[:2])
    if not reads:
        _differs(a, b, speaks)
    carried_input.carry_input(texts=dict(zip("ab", texts)), language=speaks.now)
    return _example(a, b, task) or task.Example(a, b)


def language(speaks: Spoken, task: PairTask = pairs, texts: Sequence[str] = ()) -> None:
    """The language, which follows from the checkpoints; in the URL where the page, or a link with one of the texts,
    does not open in it."""
    codes, name = list(speaks.takes), metadata.language_name(speaks.now)
    url_state.validate_url("Language", codes, "language", codes.index(speaks.now), metadata.language_name)
    st.session_state["language"] = speaks.now
    st.segmented_control(
        "Language",
        codes,
        key="language",
        required=True,
        format_func=metadata.language_name,
        on_change=_switch_language,
        args=(speaks, task),
    )
    looks = {guess_language(text) for text in (*texts, " ".join(texts))}
    if speaks.now == speaks.first and looks <= {None, speaks.now}:
        url_state.drop("language")
    elif st.query_params.get("language") != name:
        st.query_params["language"] = name


def _sentence(name: str, label: str, opens: str, first: str) -> str:
    """One sentence. Only what the page opens on is left out of the URL: it must not depend on the language."""
    carried_input.text(name, opens)
    if name not in st.session_state and name not in st.query_params and first != opens:
        st.session_state[name] = first
    return sentence_box.box(label, opens, name, on_change=shorten, args=(name,))


def _example(a: str, b: str, task: PairTask) -> pairs.Example | None:
    """The project's example with these sentences, in any language."""
    all_examples = (example for language in task.LANGUAGES for example in task.examples(language))
    return next((example for example in all_examples if (example.text_a, example.text_b) == (a, b)), None)


def _differs(a: str, b: str, speaks: Spoken) -> None:
    """Shows a notice if the sentences are not in the language of the page, with a button that changes it."""
    guesses = {"A": guess_language(a), "B": guess_language(b)}
    other_languages = {name: guessed for name, guessed in guesses.items() if guessed not in (None, speaks.now)}
    other = guess_language(f"{a} {b}") or next(iter(other_languages.values()), None)
    if other_languages and speaks.now in guesses.values():
        name = next(iter(other_languages))
        notice(f"Sentence {name} looks {metadata.language_name(other_languages[name])}: {speaks.reads()}.")
        return
    if other in (None, speaks.now):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="differs"):
        message = f"These sentences look {escape(metadata.language_name(other))}: {escape(speaks.reads())}."
        st.html(message, width="content")
        if other in speaks.takes:
            st.button(f"Use {speaks.readers(other)}", key="turn", on_click=speaks.turn, args=(other,))


def prediction(explanation: Explanation, extra_facts: Sequence[str] = ()) -> None:
    """Shows one line: label, probability, the other labels, the gold label, `extra_facts`, time and device."""
    answer = explanation.prediction
    ranked = enumerate(zip(answer.labels, answer.probabilities))
    facts = [f"{label} {probability(share)}" for i, (label, share) in ranked if i != answer.best]
    gold = [f"gold: {answer.labels[answer.gold]}"] if answer.gold is not None else []
    line(explanation, [*facts, *gold, *extra_facts])


def line(explanation: Explanation, facts: Sequence[str]) -> None:
    """Shows the prediction with a bar, then the facts, time and device, and below the notes."""
    answer = explanation.prediction
    facts = [*facts, describe_duration([explanation])] if "seconds" in explanation.trace.meta else facts
    shares = answer.probabilities[answer.best : answer.best + 1]  # none of a kind without probabilities
    model = metadata.plain_title(explanation.entry)
    st.html(
        f'<div class="t-says"><span><span title="{escape(explanation.entry.name)}">{escape(model)}'
        f"</span> says <b>{escape(answer.labels[answer.best])}</b></span>"
        + "".join(
            style.bar(share, style.colour(explanation.mechanism)) + f'<span class="t-num">{probability(share)}</span>'
            for share in shares
        )
        + "".join(f'<span class="t-muted t-num">{escape(fact)}</span>' for fact in facts)
        + "</div>"
        + notes([explanation])
    )


def notes(runs: Sequence[Explanation]) -> str:
    """HTML: the notes, such as on truncated texts, each once; a text that looks like another language is not asked
    whether it is."""
    told = _language_note(runs) if runs else []
    asked = ASKS.format(metadata.language_name(metadata.language(runs[0].entry))) if told else "\n"
    further = [note for explanation in runs for note in explanation.prediction.notes if not note.endswith(asked)]
    texts = dict.fromkeys([*told, *further])
    return "".join(f'<p class="t-note">{escape(note)}</p>' for note in texts)


def _language_note(runs: Sequence[Explanation]) -> list[str]:
    """A note that the texts are not in the language of the models; for pairs `_differs` shows it."""
    entry = runs[0].entry
    reads = metadata.language(entry)
    typed = [text for name, text in runs[0].trace.texts.items() if name != "target"]
    other = other_than(reads, typed) if reads and form(entry.config["task"]) is not InputForm.PAIR else None
    if not other:
        return []
    looks = "The text looks" if len(typed) == 1 else "The texts look"
    subject = "these models read" if len(runs) > 1 else f"{entry.name} reads"
    return [f"{looks} {metadata.language_name(other)}: {subject} {metadata.language_name(reads)}."]


@cache
def _title(example: pairs.Example) -> str:
    return escape_markdown(f"{example.text_a}  /  {example.text_b}")


def _apply_example() -> None:
    example = st.session_state["example"]
    st.session_state["a"], st.session_state["b"] = example.text_a, example.text_b


def _switch_language(speaks: Spoken, task: PairTask) -> None:
    """Switches the language: its checkpoints, and its first example unless you have typed a text, or the page has no
    texts."""
    code = st.session_state["language"]
    speaks.turn(code)
    a, b = (st.session_state.get(name) for name in "ab")
    if a is not None and b is not None and _example(a, b, task):
        first = task.examples(code)[0]
        st.session_state["a"], st.session_state["b"] = first.text_a, first.text_b


def cut(text: str, name: str, title: str) -> str:
    """The text with at most LIMIT characters; says so where it was longer."""
    full_length = max(len(text), st.session_state.pop(f"full-length-{name}", 0))
    if full_length > LIMIT:
        notice(f"{title} has {full_length:,} characters: only the first {LIMIT:,} are kept.")
    return text[:LIMIT]


def shorten(name: str) -> None:
    """When a sentence was typed: it has one line, and no more than LIMIT characters."""
    text = st.session_state[name] = " ".join(st.session_state[name].splitlines())
    if len(text) > LIMIT:
        st.session_state[f"full-length-{name}"], st.session_state[name] = len(text), text[:LIMIT]
