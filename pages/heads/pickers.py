"""Which checkpoint is measured over which rows, and which of its heads is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.heads.atlas_rows import OtherRows, Rows
from pages.shared import (
    carried_input,
    figures,
    languages,
    models,
    other_models,
    other_rows,
    row_source,
    task_picker,
    url_state,
)
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from triattn_core.analysis.mining import sources
from triattn_core.analysis.mining.sources import Source
from triattn_core.cached import cached_property
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources import open_source
from triattn_core.sources.source import Ability, lacks
from triattn_core.tasks import TASKS, InputForm, first_task
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.maps.head_clusters import HeadDistances

LABORATORY, GENERATED = "laboratory", "generated rows"
ROWS, MOST_ROWS = 48, 5000  # that a page measures, at first and at most; `triattn heads` takes any number
HEAD = "at-head"
A_FOLDER = "a folder"
NAME_ONE = "Name the folder of a model, as save_pretrained writes it; nothing is downloaded here. " + other_rows.FORMATS


@dataclass(frozen=True)
class Atlas:
    """The measures of one group of heads: `table`, a row for each example and head; group: such as `a_over_b/weight`;
    means: over the rows, in the order of `heads`; head_index: position of the selected head."""

    table: pd.DataFrame = field(repr=False)
    means: pd.DataFrame = field(repr=False)
    alike: HeadDistances = field(repr=False)
    group: str
    head_index: int

    @cached_property
    def names(self) -> list[str]:
        """What each head is called."""
        return names(self.alike.heads)

    @property
    def head(self) -> tuple[str, int]:
        """Site and number, from 0, of the chosen head."""
        row = self.alike.heads.iloc[self.head_index]
        return str(row["site"]), int(row["head"])


def pick_rows(toolbar: DeltaGenerator) -> Rows:
    """Shows the pickers of task, checkpoint and rows; stops the page without a checkpoint or a file."""
    by_task = {name: [entry for entry in models.entries(name) if entry.kind.has_heads] for name in TASKS}
    by_task[LABORATORY] = models.laboratory()
    task_names = [*(name for name, entries in by_task.items() if entries), other_models.TASK]
    with toolbar:
        _take_linked(by_task)
        task = url_state.segments("Task", task_names, task_picker.KEY, show=label, label_visibility="collapsed")
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    if task == other_models.TASK:
        return _other_rows(settings)
    with settings:
        entries = by_task[task]
        carried_input.choose_one(entries, "checkpoint")
        default = next((i for i, entry in enumerate(entries) if metadata.model_setting(entry, "mechanism") == "tri"), 0)
        entry = url_state.pick("Checkpoint", entries, "checkpoint", default, show=lambda entry: entry.name, width=230)
        carried_input.carry_input(one=entry.name, **({} if task == LABORATORY else {"task": task}))
        own = [GENERATED] if task == LABORATORY else row_source.own_sets(task, metadata.language(entry))
        rows_choice = url_state.pick("Rows", [*own, row_source.FILE], "rows", width=170)
        count = _row_count()
    source = _source(rows_choice, entry, count)
    if source is None:
        st.stop()
    return Rows(entry, str(entry.config["task"]), source, count, settings)


def _other_rows(settings: DeltaGenerator) -> OtherRows:
    """Shows the pickers of a model of others and its texts; stops the page if none is named, and on an error."""
    listed = {entry.name: entry for entry in _listed_others()}
    with settings:
        named = len(listed) if "model" in st.query_params else 0
        choice = url_state.pick("Model", [*listed, A_FOLDER], "other", named, width=190) if listed else A_FOLDER
        folder = other_models.name_field() if choice == A_FOLDER else ""
        own = row_source.own_sets(first_task(InputForm.PAIR).NAME, "en")
        rows_choice = url_state.pick("Rows", [*own, row_source.FILE], "rows", width=170)
        count = _row_count()
    if choice == A_FOLDER and not folder:
        st.html(f'<p class="t-note">{escape(NAME_ONE)}</p>')
        st.stop()
    with report_errors():
        model = other_models.load(folder) if choice == A_FOLDER else MODELS.load(listed[choice])
        source = row_source.load_source(rows_choice, first_task(InputForm.PAIR).NAME, "en")
    if source is None:
        st.html(f'<p class="t-note">{escape(other_rows.FORMATS)}</p>')
        st.stop()
    named = folder or other_rows.command_name(listed[choice])
    found = OtherRows(model, other_models.TASK, source, count, settings, folder, rows_choice in own, named)
    if found.misfit:
        figures.note(f"Not scored: {found.misfit}.")
    return found


def _row_count() -> int:
    """How many rows are measured, from the first."""
    help_text = f"A shorter file is read whole. Above {MOST_ROWS:,}, use `triattn heads`."
    return url_state.number("Rows at most", 1, MOST_ROWS, ROWS, "count", width=130, help=help_text)


def label(task: str) -> str:
    """What a task is called in its picker."""
    return "Laboratory" if task == LABORATORY else task_picker.label(task)


def _take_linked(by_task: dict[str, list[Entry]]) -> None:
    """Sets the task to that of the checkpoint in the link or on the previous page; call it before the task picker."""
    if task_picker.KEY in st.query_params or not url_state.is_first_run():
        return
    requested_names = [*languages.requested_checkpoints("checkpoint"), carried_input.checkpoint()]
    tasks = [
        name
        for requested_name in requested_names
        for name, entries in by_task.items()
        if requested_name in {entry.name for entry in entries}
    ]
    others = [name for name in requested_names if name in {entry.name for entry in _listed_others()}]
    if others and not tasks:
        tasks = [other_models.TASK]
        url_state.carry("other", next(entry for entry in _listed_others() if entry.name == others[0]), others[0])
        url_state.drop("checkpoint")
    if tasks:
        url_state.forget(task_picker.KEY)
        st.session_state[task_picker.KEY] = tasks[0]


def _listed_others() -> list[Entry]:
    """The listed models of others that can be measured over rows."""
    return [entry for entry in models.others() if not lacks(open_source(entry), (), [Ability.ROWS])]


def _source(rows_choice: str, entry: Entry, count: int) -> Source | None:
    if rows_choice == GENERATED:
        size = entry.config.get("data", {}).get("size")
        return sources.generated_source(entry.config["task"], count, size=size)
    return row_source.load_source(rows_choice, entry.config["task"], metadata.language(entry))


def measure(rows: Rows) -> Atlas | None:
    """Measures the heads of the chosen direction, or takes them from memory; None if it was stopped before the first
    row.  Raises TriattnError."""
    table = rows.measure()
    if table is None:
        return None
    groups = list(dict.fromkeys(table["group"]))
    with rows.settings:
        group = groups[0]
        if len(groups) > 1:
            labels = _group_labels(groups, rows.task)
            group = url_state.segments("Heads of", groups, "group", show=labels.get)
        means, alike = summary(table, f"{rows.key} {len(table)}", group)
        head_names = names(alike.heads)
        head_name = url_state.pick("Head", head_names, HEAD, _first(means), width=170)
    return Atlas(table[table["group"] == group], means, alike, group, head_names.index(head_name))


def _first(means: pd.DataFrame) -> int:
    """The default head: the one with the most context information, or query information where there is none."""
    column = "context_information" if "context_information" in means else "query_information"
    return int(means[column].fillna(-1.0).argmax())


@st.cache_resource(max_entries=12, show_spinner=False)
def summary(_table: pd.DataFrame, key: str, group: str) -> tuple[pd.DataFrame, HeadDistances]:
    """The mean measures of a group's heads and their distances, in one order."""
    from triattn_core.analysis.maps import head_atlas, head_clusters

    alike = head_clusters.head_distances(_table, group)
    means = head_atlas.summarize(_table[_table["group"] == group])
    return alike.heads.merge(means, on=["site", "head"], how="left"), alike


def names(heads: pd.DataFrame) -> list[str]:
    """What the heads of a group are called: with their layer where there are several."""
    layers = heads["site"].map(lambda site: Site.parse(site).layer_name if heads["site"].nunique() > 1 else "")
    return [", ".join(filter(None, (layer, f"head {head + 1}"))) for layer, head in zip(layers, heads["head"])]


def _group_labels(groups: list[str], task: str) -> dict[str, str]:
    words = task_picker.TASKS.get(task)
    labels = {role: label for label, role in words.directions.items()} if words else {}
    roles = {group: Site.parse(group).role for group in groups}
    return {group: labels.get(role, role.partition("/")[0].replace("_", " ")) for group, role in roles.items()}
