"""A checkpoint of ours as a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triattn_core.analysis.catalogue import METHODS
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources.source import OF_CLASSIFIERS, Ability, EntrySource
from triattn_core.trace.axes import TAN_MECHANISMS

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.attribution.methods import Attributions
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.inference.predictions import Prediction
    from triattn_core.sources.weight_change import Replaced, WeightChange
    from triattn_core.trace import AttentionTrace

TWO_WAY = frozenset({"head", "query", "key"})
AXES: Mapping[str, frozenset[str]] = {  # by mechanism
    **dict.fromkeys(TAN_MECHANISMS, TWO_WAY),
    "tri": TWO_WAY | {"context"},
    "coin": frozenset({"query", "key", "feature"}),
    "mtsa": TWO_WAY | {"feature"},
}


@dataclass(frozen=True)
class CheckpointSource(EntrySource):
    """A checkpoint as the registry lists it; its weights are read when it first runs."""

    @classmethod
    def of(cls, what: Any, device: str | None = None) -> CheckpointSource | None:
        """Returns the source of an entry of the registry that another source does not claim."""
        return cls(what, device) if isinstance(what, Entry) and "source" not in what.config else None

    @property
    def axes(self) -> frozenset[str]:
        return AXES.get(str(self.entry.config.get("model", {}).get("mechanism", "")), TWO_WAY)

    @property
    def abilities(self) -> frozenset[Ability]:
        kind = self.entry.kind
        if kind.compares_forms:
            return OF_CLASSIFIERS
        return frozenset({Ability.RUN, Ability.ROWS, *[Ability.LABELS] * (not kind.finds_spans), Ability.SCORED})

    @property
    def methods(self) -> Sequence[str]:
        return tuple(METHODS)

    def load(self) -> Bundle:
        """Returns the model.  Raises CheckpointError or ConfigError in one line."""
        from triattn_core.checkpoint.bundle import load

        return load(self.entry.path, self.device)

    def explain(
        self,
        example: Any = None,
        option: int | None = None,
        known_scores: Sequence | None = None,
        model: Bundle | None = None,
    ) -> tuple[Prediction, AttentionTrace]:
        """See `Source.explain`.  known_scores: see `inference.explain.explain`.  model: from `load`, where it is
        loaded."""
        from triattn_core.inference.explain import explain

        return explain(model or self.load(), example, option=option, known_scores=known_scores)

    def replace(
        self, example: Any, changes: Sequence[WeightChange], option: int | None = None, model: Bundle | None = None
    ) -> Replaced:
        """See `CanReplace.replace`.  The weights of a cube change over key and context together."""
        from triattn_core.sources.checkpoint_replace import replaced

        return replaced(model or self.load(), example, changes, option)

    def attribute(
        self,
        example: Any,
        methods: Sequence[str] = (),
        steps: int = 32,
        option: int | None = None,
        trace: AttentionTrace | None = None,
        model: Bundle | None = None,
    ) -> tuple[Attributions, float]:
        """See `CanAttribute.attribute`."""
        from triattn_core.analysis.attribution.methods import attribute
        from triattn_core.analysis.intervention.batched_variants import log_odds, run_query

        query = run_query(model or self.load(), example, option)
        return attribute(query, methods, steps, trace), float(log_odds(query.scores[None], query.answer))

    def deletion_curves(
        self,
        example: Any,
        attributions: Attributions,
        draws: int,
        seed: int,
        option: int | None = None,
        model: Bundle | None = None,
    ) -> pd.DataFrame:
        """See `CanAttribute.deletion_curves`."""
        from triattn_core.analysis.attribution.faithfulness import example_curves
        from triattn_core.analysis.intervention.batched_variants import run_query

        query = run_query(model or self.load(), example, option)
        return example_curves(query, draws=draws, seed=seed, attributions=attributions)
