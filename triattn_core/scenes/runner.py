"""Run checkpoints on examples: `Models` loads and runs them, `Explanation` holds prediction and trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triattn_core.checkpoint.registry import Entry, checkpoint_name, find_checkpoint, list_checkpoints
from triattn_core.errors import CheckpointError
from triattn_core.inference.stored_traces import DATE
from triattn_core.tasks import CHOICES

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.inference.predictions import Prediction
    from triattn_core.trace import AttentionTrace
    from triattn_core.trace.token_grouping import TokenGrouping


@dataclass(frozen=True)
class Explanation:
    """Prediction and trace of one checkpoint on one example.  Shared between views: never write to it.

    stage: "before" or "after" where one checkpoint is run twice.
    """

    entry: Entry
    prediction: Prediction
    trace: AttentionTrace
    source: tuple = ()
    stage: str = ""

    @property
    def mechanism(self) -> str:
        return str(self.trace.meta.get("mechanism", ""))


class Models:
    """Loads and runs checkpoints: each is loaded once, on `device`, and no trace is kept.  Pages use a subclass that
    caches results for all sessions."""

    def __init__(self, device: str | None = None):
        self.device = device
        self._bundles: dict[str, Bundle] = {}

    def load(self, entry: Entry) -> Bundle:
        """The model of a checkpoint.  Raises CheckpointError or ConfigError in one line."""
        from triattn_core.checkpoint.bundle import load

        if entry.name not in self._bundles:
            self._bundles[entry.name] = load(entry.path, self.device)
        return self._bundles[entry.name]

    def explain(self, entry: Entry, example: Any, option: int | None = None) -> Explanation:
        """Prediction and trace; option: see `inference.explain.explain`.  Raises InputError in one line where the
        example cannot be read."""
        from triattn_core.inference.explain import explain

        return Explanation(entry, *explain(self.load(entry), example, option=option))

    def answer(self, entry: Entry, says: str, then: Callable[[Bundle], Any], *arguments: Any) -> Any:
        """What `then` makes of the model.  says: what is being done.  arguments: what the answer depends on;
        where answers are kept, they are kept by the function and these.  Raises TriattnError."""
        return then(self.load(entry))

    def read(self, explanation: Explanation, reading: TokenGrouping, site: str = "") -> Explanation:
        """The same with its tokens grouped and hidden; see `TokenGrouping.trace`."""
        if not reading.sinks and not reading.folds:
            return explanation
        return replace(explanation, trace=reading.trace(explanation.trace, site))

    def without(self, entry: Entry, example: Any) -> dict[str, Explanation]:
        """Of COIN by what is ablated: "" (nothing), `layer.0`, …, `context`.  Raises ConfigError for another."""
        return explain_ablations(self.load(entry), self.explain(entry, example), example)


@dataclass(frozen=True)
class Question:
    """An example with the prediction and trace of a checkpoint on it; `option`: the inspected option, from 0, in tasks
    that choose among texts."""

    models: Models
    explanation: Explanation
    example: Any
    option: int | None

    @classmethod
    def put(cls, models: Models, entry: Entry, example: Any, option: int | None = None) -> Question:
        """Runs the checkpoint on the example.  Raises TriattnError where that fails."""
        explanation = models.explain(entry, example, option)
        return cls(
            models, explanation, example, explanation.prediction.option if "option" in explanation.trace.meta else None
        )

    @property
    def entry(self) -> Entry:
        return self.explanation.entry

    @property
    def names(self) -> dict[str, str]:
        """What plays query and key: "A", "candidate"."""
        task = self.entry.config["task"]
        return dict(zip(("query", "key"), CHOICES[task].WORDS.sides if task in CHOICES else "AB"))

    def answer(self, says: str, then: Callable[[Bundle], Any], *arguments: Any) -> Any:
        """See `Models.answer`; the example and the option are arguments too."""
        return self.models.answer(self.entry, says, then, *arguments, self.example, self.option)


def explain_ablations(bundle: Bundle, unablated: Explanation, example: Any) -> dict[str, Explanation]:
    """COIN as it is and with each of its parts ablated, by what is ablated."""
    from triattn_core.analysis.intervention.coin_ablation import ablatable_parts, explain_ablated

    by_ablation = {"": unablated}
    for part in ablatable_parts(bundle):
        prediction, trace = explain_ablated(bundle, example, (part,))
        by_ablation[part] = replace(unablated, prediction=prediction, trace=trace, source=(*unablated.source, part))
    return by_ablation


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


def find_entries(names: Sequence[str]) -> list[Entry]:
    """The checkpoints of these names or folders.  Raises CheckpointError: not there, or damaged."""
    by_name, entries = {entry.name: entry for entry in list_checkpoints()}, []
    for name in names:
        if name not in by_name:
            path = find_checkpoint(name)
            by_name[name] = replace(list_checkpoints(path)[0], name=checkpoint_name(path))
        if problem := by_name[name].problem:
            raise CheckpointError(problem)
        entries.append(by_name[name])
    return entries
