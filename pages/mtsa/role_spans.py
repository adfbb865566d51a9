"""What a tagger says of a sentence: its roles as coloured spans, and what the annotation says where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.shared import pair_input, role_words, word_input
from pages.shared.role_words import RoleWord
from pages.shared.sentence_input import SentencePage
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import LONGEST
from triattn_core.sources.explanation import describe_duration
from triattn_core.tasks.roles import PREDICATE, arguments
from triattn_core.text.bio_tags import chunks
from triattn_core.text.direction import isolate, isolate_quotes
from triattn_core.views.lib.number_format import probability

NUMBERED = ("tri", "mtsa", "coin", "series_2", "series_3", "series_4")  # colours of ARG0 to ARG5
MODIFIER, OTHER = "ARGM", "bi"
COLOURS = {"ARGM-TMP": "context", "ARGM-LOC": "context", "ARGM-NEG": "key", "ARGM-MOD": "key"}
MEANINGS = {  # PropBank's annotation guidelines (Bonial et al. 2010)
    "ARG0": "who does it", "ARG1": "what it is done to", "ARG2": "to whom, by what means, or another role of the verb",
    "ARG3": "starting point, or another role of the verb", "ARG4": "end point", "ARG5": "a further role of the verb",
    "ARGM-TMP": "when", "ARGM-LOC": "where", "ARGM-MNR": "how", "ARGM-DIR": "which way", "ARGM-CAU": "why",
    "ARGM-PRP": "what for", "ARGM-NEG": "negation", "ARGM-MOD": "modal", "ARGM-ADV": "a further circumstance",
    "ARGM-DIS": "links to the discourse", "ARGM-EXT": "how much", "ARGM-GOL": "goal", "ARGM-COM": "with whom",
    "ARGM-PRD": "in which state", "ARGM-ADJ": "describes the noun", "ARGM-LVB": "light verb",
    "ARGM-PRR": "the noun that a light verb leaves to say what is done",
    PREDICATE: "the predicate",
}  # fmt: skip
PARTS = {"C-": "continued: ", "R-": "a word that refers to it: "}


def show(top: SentencePage) -> None:
    """Shows the spans, the arguments as the annotation has them where it is known, and how long it took."""
    prediction, example = top.explanation.prediction, top.example
    tags = [tag.tag for tag in prediction.tags]
    with top.answer:
        sentence = " · ".join(f"{role} {text}" for role, text in listed(example.words, tags))
        label = f"{isolate(example.words[example.predicate])}: {sentence or 'no argument'}"
        role_words.show(_words(example.words, prediction.tags), example.predicate, word_input.choose, label)
        facts = [_against(example.words, example.label, tags)] if example.label else []
        facts += [
            _least_sure(example.words, prediction.tags),
            measured(top.entry),
            describe_duration([top.explanation]),
        ]
        spans = "".join(f'<span class="t-muted t-num">{escape(isolate_quotes(fact))}</span>' for fact in facts if fact)
        st.html(f'<div class="t-says">{spans}</div>{pair_input.notes([top.explanation])}')
        st.html(f'<p class="t-note t-roles">{escape(legend(tags))}</p>')


def measured(entry: Entry) -> str:
    """What the model reaches on test, and on other text: how far it can be trusted; empty where that was not
    measured."""
    score, split = metadata.main_score(entry), entry.metrics.get("test") or {}
    if score is None or "set" not in split:
        return ""
    metric = metadata.main_metric(entry)
    others = [one for one in entry.metrics.get("elsewhere", ()) if metric in one]
    further = [f"{one[metric]:.1f} on {one['set']}, other text" for one in others]
    return ", ".join([f"{metadata.metric_name(entry)} {score:.1f} on {split['set']}", *further])


def colour(role: str) -> str:
    """The palette's name of a role's colour; its parts and what refers to it have the same."""
    role = role.removeprefix("C-").removeprefix("R-")
    number = role.removeprefix("ARG")
    if number.isdecimal() and int(number) < len(NUMBERED):
        return NUMBERED[int(number)]
    return "query" if role == PREDICATE else COLOURS.get(role, OTHER)


def meaning(role: str) -> str:
    """What a role says, in words; empty for a rare one."""
    for prefix, words in PARTS.items():
        if role.startswith(prefix):
            return words + meaning(role.removeprefix(prefix))
    return MEANINGS.get(role, "")


def legend(tags: Sequence[str]) -> str:
    """What each role of a sentence means, in order, and what the number beside it is; empty where there is none."""
    roles = dict.fromkeys(role for role, _, _ in chunks(tags))
    meanings = " · ".join(f"{role}: {meaning(role) or 'a rarer role of PropBank'}" for role in roles)
    return f"{meanings}. The number beside a role is the probability of its least sure word." if roles else ""


def listed(words: Sequence[str], tags: Sequence[str]) -> list[tuple[str, str]]:
    """(role, its words) of each argument, in order, without the predicate."""
    found = [(role, isolate(" ".join(words[start:end]))) for role, start, end in chunks(tags)]
    return [(role, text) for role, text in found if role.removeprefix("C-") != PREDICATE]


def _words(words: Sequence[str], tags: Sequence) -> list[RoleWord]:
    shown = [RoleWord(word) for word in words]
    for role, start, end in chunks([tag.tag for tag in tags]):
        share = min(tag.probability for tag in tags[start:end])
        title, sure = meaning(role) or role, probability(share)
        for i in range(start, end):
            shown[i] = RoleWord(words[i], role, i == start, title, colour(role).replace("_", "-"), sure)
    return shown


def _against(words: Sequence[str], gold: Sequence[str], tags: Sequence[str]) -> str:
    """How many arguments of the annotation are right; where one is not, all of the annotation."""
    right, all_of_it = len(arguments(gold) & arguments(tags)), len(arguments(gold))
    found = f"{right} of {all_of_it} arguments as annotated"
    if arguments(gold) == arguments(tags):
        return found
    return f"{found}: " + " · ".join(f"{role} {text}" for role, text in listed(words, gold))


def _least_sure(words: Sequence[str], tags: Sequence) -> str:
    word, tag = min(zip(words, tags), key=lambda pair: float(pair[1].probability))
    shown = word if len(word) <= LONGEST else f"{word[:LONGEST]}…"
    return f"least sure of “{shown}”: {probability(tag.probability)} ({tag.tag})"
