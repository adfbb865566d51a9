"""A module of one's own as a source: built by a function of a Python file that was named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.checkpoint.own_modules import list_modules
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources.source import PICTURE, Ability, EntrySource
from triattn_core.trace import AttentionTrace

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.attribution.methods import Attributions
    from triattn_core.inference.predictions import Prediction
    from triattn_core.recording.own_module import OwnModule
    from triattn_core.sources.weight_change import Replaced, WeightChange


@dataclass(frozen=True)
class OwnModuleSource(EntrySource):
    """A module as `checkpoint.own_modules` lists it; its file runs when it is loaded."""

    reads_rows = True

    @classmethod
    def of(cls, what: Any, device: str | None = None) -> OwnModuleSource | None:
        """Returns the source of an entry that is such a module."""
        return cls(what, device) if isinstance(what, Entry) and what.config.get("source") == "module" else None

    @classmethod
    def entries(cls) -> tuple[Entry, ...]:
        """Returns those that were named on the command line."""
        return list_modules()

    @property
    def axes(self) -> frozenset[str]:
        return frozenset(self.entry.config["axes"])

    @property
    def abilities(self) -> frozenset[Ability]:
        predicts = self.entry.config["model"]["predicts"]
        if self.entry.config["model"].get("reads") == PICTURE:
            return frozenset()
        able = [*[Ability.REPLACE, Ability.SCORED] * bool(predicts), *[Ability.LABELS] * (predicts == "labels")]
        able += [Ability.WRITES] * (predicts == "next word")
        able += [Ability.GRADIENTS] * bool(predicts and self.entry.config["model"].get("embeds"))
        return frozenset({Ability.RUN, Ability.ROWS, *able})

    @property
    def methods(self) -> Sequence[str]:
        return tuple(JOINT_METHODS)

    def load(self) -> OwnModule:
        """Returns what the function builds.  Raises ConfigError in one line, whatever the file raises."""
        from triattn_core.inference.device import choose_device
        from triattn_core.recording.own_module import OwnModule

        own = OwnModule.of(self.entry.config["build"])
        own.module.to(choose_device(self.device))
        return own

    def explain(
        self,
        example: Any = None,
        option: int | None = None,
        model: OwnModule | None = None,
    ) -> tuple[Prediction, AttentionTrace]:
        """See `Source.explain`.  Of two texts a function of one text is given the first.  Raises InputError, whatever
        the module raises."""
        from triattn_core.sources.own_text import OwnText

        asked = OwnText.of(model or self.load(), example)
        trace = asked.trace()
        meta = {**trace.meta, "checkpoint": self.title, "digest": self.digest}
        return asked.prediction(trace), replace(trace, meta=meta)

    def replace(
        self,
        example: Any,
        changes: Sequence[WeightChange],
        option: int | None = None,
        model: OwnModule | None = None,
    ) -> Replaced:
        """See `CanReplace.replace`."""
        from triattn_core.sources.own_text import OwnText
        from triattn_core.sources.transformer_replace import replaced, trace_after
        from triattn_core.sources.weight_change import Replaced

        model = model or self.load()
        asked = OwnText.of(model, example)
        _, before = self.explain(example, model=model)
        given = [None if change.other is None else OwnText.of(model, change.other).trace() for change in changes]
        answers, tape = replaced(asked, changes, [None if trace is None else trace.sites for trace in given])
        odds = answers.log_odds[:, int(answers.logits[0].argmax())]
        return Replaced(tuple(answers.predictions()), tuple(odds.tolist()), trace_after(before, tape))

    def attribute(
        self,
        example: Any,
        methods: Sequence[str] = (),
        steps: int = 32,
        option: int | None = None,
        trace: AttentionTrace | None = None,
        model: OwnModule | None = None,
    ) -> tuple[Attributions, float]:
        """See `CanAttribute.attribute`, and `sources.own_attribution`."""
        from triattn_core.sources.own_attribution import OwnJointText
        from triattn_core.sources.transformer_attribution import attribute

        asked = OwnJointText.ask(model or self.load(), example)
        return attribute(asked, tuple(methods) or self.methods, steps), asked.odds

    def deletion_curves(
        self,
        example: Any,
        attributions: Attributions,
        draws: int,
        seed: int,
        option: int | None = None,
        model: OwnModule | None = None,
    ) -> pd.DataFrame:
        """See `CanAttribute.deletion_curves`."""
        from triattn_core.sources.own_attribution import OwnJointText
        from triattn_core.sources.transformer_attribution import curves_of

        return curves_of(OwnJointText.ask(model or self.load(), example), attributions, draws, seed)
