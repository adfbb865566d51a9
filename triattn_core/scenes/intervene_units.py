"""The units of the context that an intervention is about: which there are, which are meant, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import pandas as pd

from triattn_core.checkpoint import metadata
from triattn_core.errors import InputError
from triattn_core.scenes.intervene_settings import Settings
from triattn_core.scenes.intervene_text import InterventionSpec
from triattn_core.sources.models import Question
from triattn_core.tasks import CHOICES, TASKS
from triattn_core.views.lib.strongest import SMALL, numbered

MANY = 10  # units that a message names


def unit_kinds(question: Question) -> tuple[str, ...]:
    """Into what the context of the task can be cut, what the page opens on first."""
    task = question.entry.config["task"]
    return CHOICES[task].WORDS.units if task in CHOICES else ("tokens", "sentences")


def context_units(question: Question, unit: str) -> dict[str, str]:
    """The units of the context by name, each as the user knows it, no two alike."""

    def run(bundle):
        from triattn_core.analysis.intervention.batched_variants import run_query
        from triattn_core.analysis.intervention.edits import unit_names

        query = run_query(bundle, question.example, question.option)
        texts = bundle.task.texts(query.example, query.option)
        role = query.roles.context
        pieces_of: dict[str, list[tuple[str, int, int]]] = {}
        for name, text_name, (start, end) in zip(unit_names(role, texts, unit), role.texts, role.spans):
            if name:
                pieces_of.setdefault(name, []).append((text_name, start, end))
        return {name: texts[pieces[0][0]][pieces[0][1] : pieces[-1][2]] for name, pieces in pieces_of.items()}

    unit_texts = question.answer("Reading", run, unit)
    if unit != "tokens":
        return {name: f"{name}: {text[:44]}{'…' * (len(text) > 44)}" for name, text in unit_texts.items()}
    return dict(zip(unit_texts, numbered(unit_texts.values())))


def intervention_spec(
    question: Question, settings: Settings, unit_texts: Mapping[str, str], alone: pd.DataFrame | None
) -> InterventionSpec:
    """What settings ask for, of these units.  Raises InputError: not there."""
    assert settings.unit  # the caller fills it
    if settings.how == "swap":
        task = TASKS[question.entry.config["task"]]
        if settings.other is not None:
            return InterventionSpec(
                "swap", settings.unit, argument=task.Example.from_row(dict(settings.other), "other")
            )
        return InterventionSpec("swap", settings.unit, argument=others(question)[0])
    requested_units = (
        first_unit(unit_texts, alone)
        if settings.units is None
        else [find_unit(name, unit_texts) for name in settings.units]
    )
    names = tuple(name for name in unit_texts if name in requested_units)
    argument: str | list[str] | None = None
    if settings.how == "replace":
        argument = settings.text
    if settings.how == "reorder":
        argument = order_units(list(unit_texts), names, settings.order, settings.shuffle)
    words = " and ".join(f"“{unit_texts[name]}”" for name in names[:4]) + f" and {len(names) - 4} more" * (
        len(names) > 4
    )
    return InterventionSpec(settings.how, settings.unit, names, words, argument)


def find_unit(name_or_text: str, unit_texts: Mapping[str, str]) -> str:
    """The unit of a name, or of a word that stands once.  Raises InputError: not there, or there several times."""
    if name_or_text in unit_texts:
        return name_or_text
    same = [name for name, text in unit_texts.items() if text.rstrip(SMALL) == name_or_text]
    same = same or [name for name, text in unit_texts.items() if text == name_or_text]
    if len(same) > 1:
        names_text = ", ".join(f"{name} ({unit_texts[name]})" for name in same[:MANY])
        raise InputError(f"{name_or_text!r} occurs {len(same)} times in this context: {names_text}")
    if not same:
        raise InputError(f"there is no {name_or_text!r} in this context; {match_units(name_or_text, unit_texts)}")
    return same[0]


def match_units(name_or_text: str, unit_texts: Mapping[str, str]) -> str:
    """The units nearest to what was asked, else the first ones, in their order and as the user knows them."""
    near = get_close_matches(name_or_text, [*unit_texts, *unit_texts.values()], n=1)
    names = [name for name, text in unit_texts.items() if near and near[0] in (name, text)]
    labels = {name: name if text.startswith(name) else f"{name} ({text})" for name, text in unit_texts.items()}
    if names:
        return f"did you mean {labels[names[0]]}?"
    tail = f" and {len(labels) - MANY} more" * (len(labels) > MANY)
    return f"known: {', '.join([*labels.values()][:MANY]) or 'none'}{tail}"


def others(question: Question) -> list[Any]:
    """The examples whose context can be swapped in."""
    language = metadata.language(question.entry)
    all_examples = TASKS[question.entry.config["task"]].examples(language)
    return [name for name in all_examples if name != question.example]


def first_unit(unit_texts: Mapping[str, str], alone: pd.DataFrame | None) -> list[str]:
    """The unit that changes most alone, among those that flip the answer where there are any; else the first."""
    if alone is None:
        return list(unit_texts)[:1]
    candidates = alone[alone["flips"]] if alone["flips"].any() else alone
    return [str(candidates.loc[candidates["change"].abs().idxmax(), "unit"])]


def order_units(names: list[str], selected: Sequence[str], order: str, seed: int = 0) -> list[str]:
    """All units in the order that is asked for."""
    unselected = [name for name in names if name not in selected]
    if order == "shuffled":
        return pd.Series(names).sample(frac=1, random_state=seed).tolist()
    return {"chosen first": [*selected, *unselected], "chosen last": [*unselected, *selected]}.get(order, names[::-1])
