"""Rows and the model that is measured over them: a checkpoint of ours, or a model of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import deep_links, mining, other_rows
from pages.shared.models import MODELS
from triattn_core.analysis.mining.sources import Source, read_examples
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import DataError
from triattn_core.tasks import TASKS

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.intervention.head_ablation import Head
    from triattn_core.recording.own_module import OwnModule
    from triattn_core.sources.transformer import Transformer
    from triattn_core.trace import AttentionTrace


@dataclass(frozen=True)
class Rows:
    """A model, and the rows that it is measured over: the first `count` of a source.

    entry: has a name and a digest.  task: of ours, of the laboratory, or `other_models.TASK`.  settings: the row of
    pickers, for the page to go on with.
    """

    entry: Any
    task: str
    source: Source = field(repr=False)
    count: int
    settings: DeltaGenerator = field(repr=False)

    @property
    def key(self) -> str:
        """What tells these numbers from others."""
        return f"{self.entry.name} {self.entry.digest} {self.source.sha256} {self.count}"

    @property
    def entries(self) -> list[Entry]:
        """The checkpoint, where it is one of ours."""
        return [self.entry]

    @property
    def labelled(self) -> bool:
        """Whether what the model answers can be right."""
        return True

    @property
    def language(self) -> str:
        return metadata.language(self.entry)

    def measure(self) -> pd.DataFrame | None:
        """A row for each example and head; None where it was stopped before the first."""
        return mining.analyse_rows(("heads",), [self.entry], self.source, _measure, self.count)

    def without(self, heads: Sequence[Head], group: str) -> pd.DataFrame | None:
        """`head_ablation.measure_rows` of these heads, those of a group; None where it was stopped before the first."""
        measure_batch = partial(_measure_without, heads=heads)
        return mining.analyse_rows(("off", group), [self.entry], self.source, measure_batch, self.count, tag="-off")

    def examples(self) -> dict[int, Any]:
        """The examples of the file by their lines."""
        return _examples(self.task, self.source.sha256, self.source)

    def trace(self, example: Any) -> AttentionTrace:
        return MODELS.explain(self.entry, example).trace

    def text(self, example: Any) -> str:
        """An example in one line."""
        module = TASKS.get(self.task)
        if module is None:
            return f"{example.query} / {', '.join(example.keys)} / {', '.join(example.context)}"
        return " / ".join(module.texts(example).values() if not module.FORM.chooses else module.parts(example).values())

    def link(self, example: Any) -> bool:
        """A link to an example on the page of its checkpoint; False where no page shows it."""
        if self.task not in TASKS:
            return False
        for page in self.entry.kind.pages(self.entry.config["model"].get("mechanism", ""))[:1]:
            key = "checkpoints" if page == "side_by_side" else "checkpoint"
            deep_links.link(self.task, TASKS[self.task].row(example), page, {key: self.entry.name})
        return True


@dataclass(frozen=True)
class OtherRows(Rows):
    """Texts or pairs, and a loaded model of others.  folder: as the user names it, empty of a listed one.  ours:
    whether they are examples of the project, whose labels are those of its own tasks.  named: for the command line."""

    entry: Transformer | OwnModule
    folder: str = ""
    ours: bool = False
    named: str = ""

    @property
    def entries(self) -> list[Entry]:
        return []

    @property
    def metric(self) -> str:
        """What can be right of an answer; empty where nobody knows."""
        return other_rows.metric(self.entry)

    @property
    def labelled(self) -> bool:
        return other_rows.scored(self.entry, self.examples(), self.ours)

    @property
    def misfit(self) -> str:
        """One line on why the rows are of another task than the model's; empty where they fit."""
        return other_rows.misfit(self.entry, self.examples(), self.ours)

    def reliance(self) -> pd.DataFrame | None:
        """`transformer_worth.measure_reliance`; None where it was stopped before the first row."""
        return self._analyse(("reliance",), _measure_reliance, "-reliance")

    @property
    def language(self) -> str:
        return ""

    def measure(self) -> pd.DataFrame | None:
        return self._analyse(("heads",), _measure_texts)

    def without(self, heads: Sequence[Head], group: str) -> pd.DataFrame | None:
        return self._analyse(("off", group), partial(_measure_texts_without, heads=heads), "-off")

    def _analyse(self, question: tuple, analyse: Callable, tag: str = "") -> pd.DataFrame | None:
        from triattn_core.importers.text_rows import read_texts

        entry = self.entry
        options = {"load": lambda: [entry], "read": read_texts}
        return mining.analyse_rows(question, [entry], self.source, analyse, self.count, tag=tag, **options)

    def examples(self) -> dict[int, Any]:
        return other_rows.texts(self.source.sha256, self.source)

    def trace(self, example: Any) -> AttentionTrace:
        return _trace_row(f"{self.entry.name} {self.entry.digest}", example.texts, self.entry)

    def text(self, example: Any) -> str:
        return " / ".join(example.texts)

    def _reads_two(self) -> bool:
        """Whether the page that a link opens asks for two texts."""
        from triattn_core.sources.transformer import MASKED_WORD, NEXT_TOKEN, Transformer

        if isinstance(self.entry, Transformer):
            return self.entry.head not in (NEXT_TOKEN, MASKED_WORD)
        return self.entry.encode is not None and len(signature(self.entry.encode).parameters) > 1

    def link(self, example: Any) -> bool:
        if not self.folder:
            query = {"checkpoint": self.entry.name, "a": example.texts[0]}
            query |= {"b": [*example.texts, " "][1]} if self._reads_two() else {}
            st.page_link("pages/intervene/page.py", label="Open on Intervene", query_params=query)
            return True
        query = {"from": "From a model", "model": self.folder, "text": example.texts[0]}
        query |= {"pair-text": example.texts[1]} if len(example.texts) > 1 else {}
        options = {"icon": ":material/chevron_right:", "icon_position": "right"}
        st.page_link("pages/open/page.py", label="Open the strongest", query_params=query, **options)
        return True


def _measure(bundles, rows):
    from triattn_core.analysis.maps import head_atlas

    return head_atlas.measure_rows(bundles[0], rows, profiles=True)


def _measure_without(bundles, rows, heads):
    from triattn_core.analysis.intervention import head_ablation

    return head_ablation.measure_rows(bundles[0], rows, heads)


def _measure_texts_without(transformers, rows, heads):
    from triattn_core.sources.transformer_worth import measure_without

    return measure_without(transformers[0], rows, heads)


def _measure_texts(transformers, rows):
    from triattn_core.analysis.maps import head_atlas
    from triattn_core.sources.row_answers import trace_row

    return head_atlas.measure_texts(partial(trace_row, transformers[0]), rows, profiles=True)


def _measure_reliance(transformers, rows):
    from triattn_core.sources.transformer_worth import measure_reliance

    return measure_reliance(transformers[0], rows)


@st.cache_resource(max_entries=8, show_spinner=False)
def _examples(task: str, sha256: str, _source: Source) -> dict[int, Any]:
    return {line: example for line, example in read_examples(task, _source) if not isinstance(example, DataError)}


@st.cache_resource(max_entries=40, show_spinner="Running the model")
def _trace_row(key: str, texts: tuple[str, ...], _model: Any) -> AttentionTrace:
    from triattn_core.importers.text_rows import TextRow
    from triattn_core.sources.row_answers import trace_row

    return trace_row(_model, TextRow(texts))
