"""Choosing checkpoints to compare, and what they say of one example."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.shared import attention_worth, carried_input, checkpoint_html, languages, models, pair_input, url_state
from pages.shared.errors import notice
from pages.shared.task_picker import TaskLabels
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.side_by_side_panels import Comparison
from triattn_core.sources import open_source
from triattn_core.sources.explanation import describe_duration
from triattn_core.sources.source import Ability, lacks
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
    """Names of the Bi, Bi-joint, C-Bi and Tri checkpoints of one similarity, form and data set, by preset name."""
    groups: dict[tuple[str, str, bool], dict[str, str]] = {}
    for entry in entries:
        if metadata.model_setting(entry, "mechanism") not in MECHANISMS:
            continue
        similarity = metadata.similarity_label(metadata.model_setting(entry, "similarity"))
        group_key = (similarity, metadata.dataset_name(entry), metadata.is_living(entry))
        groups.setdefault(group_key, {}).setdefault(metadata.model_setting(entry, "mechanism"), entry.name)
    one_data_set = len({data for _, data, _ in groups}) == 1
    sets = {}
    for (similarity, data, living), by_mechanism in groups.items():
        form = "living" * (living and (similarity, data, False) in groups)
        names = [by_mechanism[kind] for kind in MECHANISMS if kind in by_mechanism]
        if len(names) >= view.FEWEST:  # readers of passages, for one, are of none of these mechanisms
            sets[", ".join(filter(None, (similarity, data * (not one_data_set), form)))] = names
    return sets


def pick_language(entries: Sequence[Entry], prefer: str) -> tuple[languages.Spoken, list[Entry]]:
    """The language of the page and its checkpoints; in another language the same similarity is selected."""
    by_language, takes = languages.by_language(entries), {}
    carried_entry = next((entry for entry in entries if entry.name == carried_input.checkpoint()), None)
    if carried := carried_input.choose_several(entries, preset_of(carried_entry) if carried_entry else []):
        url_state.forget(KEY)
        st.session_state[KEY] = carried
    now, first = languages.choose_language(by_language, KEY, prefer)
    similarity = _matching_preset(presets(by_language.get(now, [])), languages.requested_checkpoints(KEY))
    for code, language_entries in by_language.items():
        sets = presets(language_entries)
        takes[code] = sets.get(similarity or "", opening(sets, language_entries))
    return languages.Spoken(now, first, KEY, takes), by_language.get(now, [])


def preset_of(entry: Entry) -> list[str]:
    """The preset that a checkpoint is in, as names of checkpoints; empty where there is none."""
    same_task = models.entries(str(entry.config.get("task")), tuple(MECHANISMS))
    same_language = [other for other in same_task if metadata.language(other) == metadata.language(entry)]
    return next((names for names in presets(same_language).values() if entry.name in names), [])


def opening(sets: dict[str, list[str]], entries: Sequence[Entry]) -> list[str]:
    """What the page opens on: the first preset, else the first checkpoints."""
    return next(iter(sets.values()), [entry.name for entry in entries][: view.FEWEST])


def pick_checkpoints(entries: Sequence[Entry]) -> list[Entry]:
    """The chosen checkpoints in the order of the mechanisms: those of one similarity, or any two to four.

    Their names are in the URL if they are not the default.
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
        options = {"placeholder": "several", "width": 118}
        index = None if preset is None else 0  # where none is the default, one could be taken out
        st.selectbox(
            "Similarity", list(sets), index, key="similarity", on_change=_apply_preset, args=(sets,), **options
        )
    with st.popover("Checkpoints", width=112):
        selected_names = st.multiselect("Two to four of one language", names, key=KEY, max_selections=view.MOST)
    carried_input.carry_input(several=selected_names)
    if set(selected_names) == set(first):
        url_state.drop(KEY)
    elif st.query_params.get_all(KEY) != selected_names:
        st.query_params[KEY] = selected_names
    return sort_by_mechanism([entry for entry in entries if entry.name in selected_names])


def pick_others(entries: Sequence[Entry], most: int) -> dict[str, Entry]:
    """Shows a picker of models of others, where there are any, and returns the chosen ones by name."""
    by_name = {entry.name: entry for entry in entries}
    if not by_name:
        return {}
    with st.popover("Other models", width=132):
        chosen = st.multiselect("Beside them", list(by_name), key="others", bind="query-params", max_selections=most)
    return {name: by_name[name] for name in chosen if name in by_name}


def sort_by_mechanism(entries: Sequence[Entry]) -> list[Entry]:
    """In the order of the mechanisms, the published form before the living one; what has none comes last."""
    order = [*MECHANISMS, ""]
    kinds = {entry.name: metadata.model_setting(entry, "mechanism") for entry in entries}
    place = {name: order.index(kind if kind in order else "") for name, kind in kinds.items()}
    return sorted(entries, key=lambda entry: (place[entry.name], metadata.is_living(entry)))


def _requested_names(names: Sequence[str], first: list[str]) -> list[str]:
    """The names in the link; if fewer than two of them exist, the default."""
    linked = list(dict.fromkeys(st.query_params.get_all(KEY)))
    valid = [name for name in linked if name in names][: view.MOST]
    opening_names = valid if len(valid) >= view.FEWEST else first
    if linked and valid != linked:
        left_out = ", ".join(name for name in linked if name not in valid)[:80]
        reason = f"The link asks for {left_out}: not among the checkpoints of this task and language, or too many."
        unable = [entry for entry in models.others() if entry.name in linked and entry.name not in valid]
        if unable and (lack := lacks(open_source(unable[0]), (), [Ability.PAIRS])):
            reason = f"The link asks for {left_out}; {lack}."
        reason = reason if left_out else "The link names no checkpoint."
        notice(f"{reason} Shown instead: {', '.join(opening_names)}.")
    return opening_names


def _matching_preset(sets: dict[str, list[str]], names: Sequence[str]) -> str | None:
    """The preset that holds just these names."""
    return next((name for name, preset in sets.items() if set(preset) == set(names)), None)


def _apply_preset(sets: dict[str, list[str]]) -> None:
    if st.session_state["similarity"]:
        st.session_state[KEY] = sets[st.session_state["similarity"]]


def settings(entries: Sequence[Entry], words: TaskLabels) -> tuple[list[Entry], Choice, tuple[int, int]]:
    """Shows the pickers; returns the checkpoints, the layer, direction, head and quantity, and which two to subtract.

    Stops the page if fewer than two checkpoints are chosen.
    """
    selected_entries, tight = pick_checkpoints(entries), max(map(len, words.directions)) > 10
    if len(selected_entries) < view.FEWEST:
        st.info("Choose at least two checkpoints.")
        st.stop()
    layers = max(int(entry.config["model"].get("layers", 1)) for entry in selected_entries)
    direction = url_state.direction(words.directions)
    choice = url_state.site(words.directions[direction], layers, max(map(heads_of, selected_entries)))
    names = short_names(selected_entries)
    pairs = {minus(names[i], names[j]): (i, j) for i in reversed(range(len(names))) for j in range(i)}
    few = len(pairs) <= 3 and max(map(len, pairs)) < 16 and not tight
    gap = url_state.segments("Difference", list(pairs), "difference") if few else None
    width = 108 if max(map(len, pairs)) < 16 else 190
    return selected_entries, choice, pairs[gap or url_state.pick("Difference", list(pairs), "difference", width=width)]


def heads_of(entry: Entry) -> int:
    """Into how many heads its attention is split: COIN's is not, its heads are those of its pooling."""
    return int(entry.config["model"].get("heads", 1)) if entry.kind.has_heads else 1


def show_predictions(comparison: Comparison, notes: bool) -> None:
    """One line: each model's prediction, and how long all took; below it what was cut, with `notes`."""
    lead, label, tail = verdict(comparison.panels)
    duration = describe_duration(comparison.explanations, "all")
    st.html(
        f'<div class="t-says"><span>{escape(lead)} <b>{escape(label)}</b>{escape(tail)}</span>'
        f'<span class="t-muted t-num">{escape(duration)}</span></div>'
        + (pair_input.notes(comparison.explanations) if notes else "")
        + f'<p class="t-note">{attention_worth.FORMS}</p>'
        * (len({metadata.form(entry) for entry in comparison.entries} - {""}) > 1)
    )
