"""The block at the top of a page about dialogues or passages: what goes in, and what the models say of each option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages.shared import canvas_component, choice_input, pair_input
from triattn_core.scenes.side_by_side_panels import of_options, right_option, task
from triattn_core.sources.explanation import Explanation, describe_duration
from triattn_core.trace import AttentionTrace, Choice, text_units
from triattn_core.views import answers

ROLES = {"a_over_b": ("query", "key"), "b_over_a": ("key", "query")}


def show_options(
    example: Any, models: Mapping[str, Explanation], choice: Choice, other: int | None = None, pins: bool = False
) -> None:
    """Shows the texts and options; a click on an option chooses it for the whole page.

    models: what each model made of the example, by its title, all of one option; shares are those of the last model
    that looks at the context.  choice: of weights or relevances of a site.
    """
    last = list(models.values())[-1]
    direction, option = choice.site.role, last.prediction.option
    weights_choice = replace(choice, site=choice.site.with_quantity("weight"))
    mass = (
        text_units.turn_shares(last.trace, weights_choice)
        if "context" in last.trace.sum_axes(weights_choice.site)
        else None
    )
    canvas = answers.figure(
        answer_query(example, last.trace),
        {title: of_options(explanation) for title, explanation in models.items()},
        option,
        other,
        pins,
        mass,
        [explanation.mechanism for explanation in models.values()],
        ROLES[direction],
        _rank_text(example, last),
    )
    parts = task(example).parts(example).values()
    key = canvas_component.key("answers", str(pins), *parts)
    canvas_component.show_choosable(
        canvas, key, option=partial(choice_input.pick, "option"), other=partial(choice_input.pick, "other")
    )
    if note := pair_input.notes(list(models.values())):
        st.html(note)


def answer_query(example: Any, trace: AttentionTrace) -> answers.ChoiceExample:
    """The example in the form that the figure takes."""
    room = task(example)
    *texts, (option, _) = room.texts(example).items()
    texts = dict(texts)
    speakers = [chr(65 + speaker) for speaker in getattr(example, "speakers", ())]
    words = room.WORDS
    labels = (words.chat, (words.texts, words.options), (words.sides[1], words.right))
    begins, ends = _read(trace, texts)
    about = (right_option(example), speakers, ends, begins)
    return answers.ChoiceExample(texts, room.options(example), option, *labels, *about)


def _rank_text(example: Any, explanation: Explanation) -> str:
    """The rank of the right option, and the duration of the run."""
    gold, shares = right_option(example), of_options(explanation)
    rank = sum(share >= shares[gold] for share in shares) if gold is not None else None
    where = f"the right one ranks {rank} of {len(shares)}" if rank and len(shares) > 1 else ""
    return " · ".join(filter(None, (where, describe_duration([explanation]))))


def _read(trace: AttentionTrace, texts: Mapping[str, str]) -> tuple[dict[str, int], dict[str, int]]:
    """Start and end, in characters, of the part of each text that the model reads."""
    begins: dict[str, int] = {}
    ends = dict.fromkeys(texts, 0)
    for site in trace.sites.values():
        for axis in site.dims:
            if f"{axis}_start" in site.coords:
                columns = (site[f"{axis}_{field}"].values.tolist() for field in ("text", "start", "end"))
                for name, start, end in zip(*columns):
                    begins[name] = min(begins.get(name, start), start)
                    ends[name] = max(ends.get(name, 0), end)
    return begins, ends
