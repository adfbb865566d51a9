"""Choosing checkpoints to compare, and what they say of one example."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.shared import attention_worth, carried_input, checkpoint_html, languages, models, pair_input, url_state
from pages.shared.errors import notice
from pages.shared.task_picker import Words
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.panels import Comparison
from triattn_core.trace import Choice
from triattn_core.trace.axes import MECHANISMS
from triattn_core.views import side_by_side as view
from triattn_core.views.side_by_side.panels import minus, titles, verdict

KINDS = tuple(MECHANISMS)
KEY = "checkpoints"  # of the widget, and in the URL


def short_names(entries: Sequence[Entry]) -> list[str]:
    """Short names that tell the checkpoints apart."""
    return titles([checkpoint_html.name_parts(entry) for entry in entries])


def presets(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Bi, Bi-joint, C-Bi and Tri of one similarity (one form, and one data set) by what they share: names of
    checkpoints."""
    groups: dict[tuple[str, str, bool], dict[str, str]] = {}
    for entry in sorted(entries, key=metadata.sort_key):
        similarity = metadata.model_setting(entry, "similarity").replace("_", " ")
        shared = (similarity, metadata.dataset_name(entry), metadata.is_living(entry))
        groups.setdefault(shared, {}).setdefault(metadata.model_setting(entry, "mechanism"), entry.name)
    alone = len({data for _, data, _ in groups}) == 1
    sets = {}
    for (similarity, data, living), by in groups.items():
        form = "living" * (living and (similarity, data, False) in groups)
        if len(by) >= view.FEWEST:
            sets[", ".join(filter(None, (similarity, data * (not alone), form)))] = by
    return {name: [by[kind] for kind in MECHANISMS if kind in by] for name, by in sets.items()}


def pick_language(entries: Sequence[Entry], prefer: str) -> tuple[languages.Spoken, list[Entry]]:
    """The language of the page and the checkpoints to choose from; in another language stands the same similarity."""
    by, takes = languages.by_language(entries), {}
    there = next((entry for entry in entries if entry.name == carried_input.checkpoint()), None)
    if carried := carried_input.choose_several(entries, preset_of(there) if there else []):
        url_state.forget(KEY)
        st.session_state[KEY] = carried
    now, first = languages.choose_language(by, KEY, prefer)
    similarity = _matching_preset(presets(by.get(now, [])), languages.requested_checkpoints(KEY))
    for code, there in by.items():
        sets = presets(there)
        takes[code] = sets.get(similarity or "", opening(sets, there))
    return languages.Spoken(now, first, KEY, takes), by.get(now, [])


def preset_of(entry: Entry) -> list[str]:
    """The preset that a checkpoint is in, as names of checkpoints; empty where there is none."""
    same_task = models.entries(str(entry.config.get("task")), tuple(MECHANISMS))
    here = [other for other in same_task if metadata.language(other) == metadata.language(entry)]
    return next((names for names in presets(here).values() if entry.name in names), [])


def opening(sets: dict[str, list[str]], entries: Sequence[Entry]) -> list[str]:
    """What the page opens on: the first preset, else the first checkpoints."""
    return next(iter(sets.values()), [entry.name for entry in entries][: view.FEWEST])


def pick_checkpoints(entries: Sequence[Entry]) -> list[Entry]:
    """The chosen checkpoints in the order of the mechanisms: those of one similarity, or any two to four.

    Their names are in the URL where they are not what the page opens on.
    """
    sets, names = presets(entries), [entry.name for entry in entries]
    first = opening(sets, entries)
    if KEY not in st.session_state or (url_state.is_first_run() and st.query_params.get_all(KEY)):
        st.session_state[KEY] = _requested_names(names, first)
    elif any(name not in names for name in st.session_state[KEY]):
        st.session_state[KEY] = first
    else:
        st.session_state[KEY] = st.session_state[KEY]  # else Streamlit drops what was chosen on the page before
    if sets:
        preset = st.session_state["similarity"] = _matching_preset(sets, st.session_state[KEY])
        look = {"placeholder": "several", "width": 118}
        at = None if preset is None else 0  # where none is the default, one could be taken out
        st.selectbox("Similarity", list(sets), at, key="similarity", on_change=_apply_preset, args=(sets,), **look)
    with st.popover("Checkpoints", width=112):
        chosen = st.multiselect("Two to four of one language", names, key=KEY, max_selections=view.MOST)
    carried_input.carry_input(several=chosen)
    if set(chosen) == set(first):
        st.query_params.pop(KEY, None)
    elif st.query_params.get_all(KEY) != chosen:
        st.query_params[KEY] = chosen
    return sort_by_mechanism([entry for entry in entries if entry.name in chosen])


def sort_by_mechanism(entries: Sequence[Entry]) -> list[Entry]:
    """In the order of the mechanisms, the published form before the living one; what has none comes last."""
    order = [*MECHANISMS, ""]
    kinds = {entry.name: metadata.model_setting(entry, "mechanism") for entry in entries}
    place = {name: order.index(kind if kind in order else "") for name, kind in kinds.items()}
    return sorted(entries, key=lambda entry: (place[entry.name], metadata.is_living(entry)))


def _requested_names(names: Sequence[str], first: list[str]) -> list[str]:
    """What the link asks for; where that is less than two of these checkpoints, what the page opens on."""
    asked = list(dict.fromkeys(st.query_params.get_all(KEY)))
    kept = [name for name in asked if name in names][: view.MOST]
    shown = kept if len(kept) >= view.FEWEST else first
    if asked and kept != asked:
        left_out = ", ".join(name for name in asked if name not in kept)[:80]
        reason = f"The link asks for {left_out}: not among the checkpoints of this task and language, or too many."
        reason = reason if left_out else "The link names no checkpoint."
        notice(f"{reason} Shown instead: {', '.join(shown)}.")
    return shown


def _matching_preset(sets: dict[str, list[str]], names: Sequence[str]) -> str | None:
    """The preset that holds just these names."""
    return next((name for name, preset in sets.items() if set(preset) == set(names)), None)


def _apply_preset(sets: dict[str, list[str]]) -> None:
    if st.session_state["similarity"]:
        st.session_state[KEY] = sets[st.session_state["similarity"]]


def settings(entries: Sequence[Entry], words: Words) -> tuple[list[Entry], Choice, tuple[int, int]]:
    """The pickers: which checkpoints, layer, direction, head and quantity, and which two are subtracted.

    The page ends where less than two checkpoints are chosen.
    """
    chosen, tight = pick_checkpoints(entries), max(map(len, words.directions)) > 10
    if len(chosen) < view.FEWEST:
        st.info("Choose at least two checkpoints.")
        st.stop()
    layers = max(int(entry.config["model"].get("layers", 1)) for entry in chosen)
    direction = url_state.direction(words.directions)
    choice = url_state.site(words.directions[direction], layers, max(map(heads_of, chosen)))
    names = short_names(chosen)
    pairs = {minus(names[i], names[j]): (i, j) for i in reversed(range(len(names))) for j in range(i)}
    few = len(pairs) <= 3 and max(map(len, pairs)) < 16 and not tight
    gap = url_state.segments("Difference", list(pairs), "difference") if few else None
    width = 108 if max(map(len, pairs)) < 16 else 190
    return chosen, choice, pairs[gap or url_state.pick("Difference", list(pairs), "difference", width=width)]


def heads_of(entry: Entry) -> int:
    """Into how many heads its attention is split: COIN's is not, its heads are those of its pooling."""
    return int(entry.config["model"].get("heads", 1)) if entry.config.get("kind") != "coin" else 1


def show_predictions(comparison: Comparison, notes: bool) -> None:
    """One line: who says what, and how long they took; below it what was cut, with `notes`."""
    lead, label, tail = verdict(comparison.panels)
    st.html(
        f'<div class="t-says"><span>{escape(lead)} <b>{escape(label)}</b>{escape(tail)}</span>'
        f'<span class="t-muted t-num">{escape(pair_input.duration_text(comparison.explained))} for all</span></div>'
        + (pair_input.notes(comparison.explained) if notes else "")
        + f'<p class="t-note">{attention_worth.FORMS}</p>'
        * (len({metadata.form(entry) for entry in comparison.entries} - {""}) > 1)
    )
