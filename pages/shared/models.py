"""The checkpoints that pages offer, and what runs them for all sessions: kept, bounded, one job for who asks the same.

Nothing of torch is imported before a model is asked for: the first page must not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared import model_jobs
from pages.shared.page_run import once_a_run
from triattn_core.checkpoint import metadata, registry
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources import list_others
from triattn_core.sources.models import Models

MODELS = Models(wait=model_jobs.result, cache=model_jobs.results, stored=True)


def entries(task: str | None = None, mechanisms: Sequence[str] = ()) -> tuple[Entry, ...]:
    """The sound checkpoints, of one task and of some mechanisms where asked, in the order in which they are offered.

    Reads JSON alone, once in a run of a page.
    """
    return _entries(task, tuple(mechanisms))


@once_a_run
def _entries(task: str | None, mechanisms: tuple[str, ...]) -> tuple[Entry, ...]:
    if mechanisms:
        return metadata.of_mechanisms(_entries(task, ()), mechanisms)
    if task is not None:
        return tuple(entry for entry in _entries(None, ()) if entry.config.get("task") == task)
    return _in_order(*(entry for entry in registry.list_checkpoints() if entry.problem is None))


_ordered: dict[tuple[int, ...], tuple[Entry, ...]] = {}  # the last listing, by the identities of its entries


def _in_order(*entries: Entry) -> tuple[Entry, ...]:
    """As they are offered.  The registry returns the same entry until its files change, so that one sort holds."""
    key = tuple(map(id, entries))
    ordered = _ordered.get(key)
    if ordered is None:
        ordered = metadata.in_display_order(entries)
        _ordered.clear()
        _ordered[key] = ordered
    return ordered


@once_a_run
def others() -> list[Entry]:
    """The sound models of other sources (`sources.list_others`): they read one text or two."""
    return [entry for entry in list_others() if entry.problem is None]


@once_a_run
def laboratory() -> list[Entry]:
    """The sound models of the laboratory's tasks."""
    return [entry for entry in registry.laboratory_checkpoints() if entry.problem is None]


@once_a_run
def operands() -> list[Entry]:
    """The sound models that find the two numbers of a word problem that make a third."""
    return [entry for entry in registry.operands_checkpoints() if entry.problem is None]


def of_studies() -> dict[str, Entry]:
    """All sound checkpoints that a study may be about, by name."""
    return {entry.name: entry for entry in (*entries(), *laboratory(), *operands())}
