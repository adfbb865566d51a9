"""A file of attention, or a trace that is open, as a source: it shows, and does nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.cached import cached_property
from triattn_core.errors import InputError
from triattn_core.importers import trace_store
from triattn_core.importers.open_file import open_file
from triattn_core.importers.prediction import prediction_of
from triattn_core.sources.source import Ability
from triattn_core.trace import AttentionTrace

if TYPE_CHECKING:
    from triattn_core.inference.predictions import Prediction

ENDINGS = (".nc", ".npy", ".npz", ".safetensors", ".pt", ".pth")


@dataclass(frozen=True)
class FileSource:
    """A trace, or the file that holds one, which is opened when it is first asked for (see `importers.open_file`)."""

    held: AttentionTrace | str | Path = field(repr=False)

    @classmethod
    def of(cls, what: Any, device: str | None = None) -> FileSource | None:
        """Returns the source of a trace, or of a file whose name ends as those of arrays do, there or not."""
        is_file = isinstance(what, str | Path) and Path(what).suffix in ENDINGS and not Path(what).is_dir()
        return cls(what) if is_file or isinstance(what, AttentionTrace) else None

    @cached_property
    def trace(self) -> AttentionTrace:
        """All that it holds.  Raises DataError or TraceError in one line."""
        return self.held if isinstance(self.held, AttentionTrace) else open_file(self.held)

    def load(self) -> AttentionTrace:
        """Returns the trace.  Raises DataError or TraceError in one line."""
        return self.trace

    @property
    def title(self) -> str:
        return str(self.trace.meta.get("checkpoint", "")) or "trace"

    @property
    def digest(self) -> str:
        return str(self.trace.meta.get("digest", "")) or trace_store.digest(self.trace)

    @property
    def axes(self) -> frozenset[str]:
        return frozenset(str(axis) for array in self.trace.sites.values() for axis in array.dims)

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset()

    def explain(self, example: Any = None, option: int | None = None) -> tuple[Prediction, AttentionTrace]:
        """Returns what the file records.  Raises InputError for an example: it holds only the one it was made of."""
        if example is not None:
            raise InputError(f"{self.title} is a file: it cannot {Ability.RUN.value}")
        return recorded_prediction(self.trace), self.trace


def recorded_prediction(trace: AttentionTrace, notes: tuple[str, ...] = ()) -> Prediction:
    """Returns the prediction that a trace records, an empty label of probability 0 where there is none."""
    from triattn_core.inference.predictions import Prediction

    labels, probabilities = zip(*(prediction_of(trace) or [("", 0.0)]))
    return Prediction(labels, probabilities, best=0, notes=notes)
