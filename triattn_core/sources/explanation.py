"""What a source makes of an example, and how long that took in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.stored_traces import DATE
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    from triattn_core.inference.predictions import Prediction
    from triattn_core.sources.source import Source
    from triattn_core.trace import AttentionTrace
    from triattn_core.trace.token_grouping import TokenGrouping


@dataclass(frozen=True)
class Explanation:
    """Prediction and trace of one checkpoint on one example.  Shared between views: never write to it.

    source: what they depend on, a key of caches.  stage: "before" or "after" where one checkpoint is run twice.
    """

    entry: Entry
    prediction: Prediction
    trace: AttentionTrace
    source: tuple = ()
    stage: str = ""

    @classmethod
    def of_trace(cls, trace: AttentionTrace) -> Explanation:
        """Returns what a trace alone says of its example: the name and the prediction that it records."""
        from triattn_core.sources.file import FileSource

        return cls.of_source(FileSource(trace))

    @classmethod
    def of_source(cls, source: Source, example: Any = None, option: int | None = None) -> Explanation:
        """Returns what a source says of an example, where no entry of the registry stands for it.  Raises what its
        `explain` does."""
        prediction, trace = source.explain(example, option)
        entry = Entry(source.title, Path(), {"source": "file"}, {}, str(trace.meta.get("digest", "")), 0)
        return cls(entry, prediction, trace)

    @property
    def mechanism(self) -> str:
        return str(self.trace.meta.get("mechanism", ""))

    @property
    def is_file(self) -> bool:
        """Whether nothing stands behind the trace that could run again."""
        return self.entry.config.get("source") == "file"


Reader = Callable[..., Explanation]  # groups the tokens of an explanation


def read_tokens(explanation: Explanation, reading: TokenGrouping, site: Site = Site()) -> Explanation:
    """Returns the same with its tokens grouped and hidden; see `TokenGrouping.trace`."""
    if not reading.sinks and not reading.folds:
        return explanation
    key = (*explanation.source, reading, site.attention if reading.sinks else "")
    return replace(explanation, trace=reading.trace(explanation.trace, site), source=key)


def describe_duration(runs: Sequence[Explanation], total: str = "") -> str:
    """The total duration of the runs, and the device; of stored traces, when they were computed.

    total: of what the duration is the sum: "both", "all".
    """
    dates = {str(explanation.trace.meta[DATE]) for explanation in runs if DATE in explanation.trace.meta}
    metas = [explanation.trace.meta for explanation in runs if DATE not in explanation.trace.meta]
    parts = []
    if metas:
        seconds = sum(float(meta.get("seconds", 0)) for meta in metas)
        duration = f"{1000 * seconds:.0f} ms" if seconds < 2 else f"{seconds:.1f} s"
        parts.append(f"{duration} on {str(metas[0].get('device', 'cpu')).upper()}{total and f' for {total}'}")
    if dates:
        parts.append(f"stored trace{'s' * (len(runs) - len(metas) > 1)}, computed on {max(dates)}")
    return "; ".join(parts)
