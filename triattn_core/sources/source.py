"""Where a prediction and its trace come from: what a view may ask of any model or file, whoever made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from triattn_core.checkpoint.registry import Entry

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.attribution.methods import Attributions
    from triattn_core.inference.predictions import Prediction
    from triattn_core.sources.weight_change import Replaced, WeightChange
    from triattn_core.trace import AttentionTrace


class Ability(StrEnum):
    """What a source can do; one without any only shows what it holds.  The value completes "it cannot …"."""

    RUN = "be run on another example"
    ROWS = "be measured over many rows"
    PAIRS = "show how one text attends to another"
    LABELS = "predict labels"
    SCORED = "be right or wrong about rows"
    GRADIENTS = "give gradients"
    REPLACE = "take other attention weights"
    WRITES = "write a text"


PICTURE = "picture"  # what a model reads that pages do not run: they ask about texts; see `sources.vision`
OF_CLASSIFIERS = frozenset(Ability) - {Ability.WRITES}


@runtime_checkable  # so that annotations can be checked
class Source(Protocol):
    """A checkpoint, a model of another library, a file.

    title: its name for people.  digest: SHA-256 of its weights or numbers, empty while it is not known.  axes: those
    that its attention has, as far as they are known before it runs.  abilities: see `Ability`.
    """

    @property
    def title(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def axes(self) -> frozenset[str]: ...
    @property
    def abilities(self) -> frozenset[Ability]: ...

    def explain(self, example: Any = None, option: int | None = None) -> tuple[Prediction, AttentionTrace]:
        """Returns the prediction and the trace of an example; see `inference.explain.explain`.

        option: the option to trace, from 0, in tasks that choose among texts.  Raises InputError in one line where the
        example cannot be read.
        """


@runtime_checkable
class CanReplace(Source, Protocol):
    """A source with the ability REPLACE."""

    def replace(
        self, example: Any, changes: Sequence[WeightChange], option: int | None = None, model: Any = None
    ) -> Replaced:
        """Returns what it says of an example as it is and under each change of its weights (one at least).

        Raises InputError in one line for a head, a layer or a position that is not there, or where nothing is
        predicted.
        """


@runtime_checkable
class CanAttribute(Source, Protocol):
    """A source with the ability GRADIENTS.  methods: of attribution, by the names of `analysis.catalogue`."""

    @property
    def methods(self) -> Sequence[str]: ...

    def attribute(
        self,
        example: Any,
        methods: Sequence[str] = (),
        steps: int = 32,
        option: int | None = None,
        trace: AttentionTrace | None = None,
        model: Any = None,
    ) -> tuple[Attributions, float]:
        """Returns what the methods, by default all, give each token of an example, and the log-odds of its answer.

        steps: of integrated gradients.  trace: of this example, where it is known.  Raises InputError for a method
        that it does not have, or where nothing is predicted.
        """

    def deletion_curves(
        self,
        example: Any,
        attributions: Attributions,
        draws: int,
        seed: int,
        option: int | None = None,
        model: Any = None,
    ) -> pd.DataFrame:
        """Returns the curves of `attribution.faithfulness`: of the methods of `attributions`, with tokens as the model
        reads them, and of `draws` random rankings."""


@dataclass(frozen=True)
class EntrySource:
    """A source that an entry of the registry describes, whose title and digest it has.  device: by default the best.

    `sources.models.Models` runs it: it keeps what `load()` returns, and calls `explain(example, option, model=…)`.
    reads_rows: `explain` takes the fields of a row as their owner names them; else an example of a task alone.
    """

    reads_rows: ClassVar[bool] = False
    entry: Entry
    device: str | None = None

    @property
    def title(self) -> str:
        return self.entry.name

    @property
    def digest(self) -> str:
        return self.entry.digest


def lacks(source: Source, axes: Iterable[str] = (), abilities: Iterable[Ability] = ()) -> str:
    """Returns one line on the first thing that a view needs and a source lacks; empty where it has everything."""
    if missing := [axis for axis in axes if axis not in source.axes]:
        return f"{source.title} has no {missing[0]} axis"
    if unable := [ability for ability in abilities if ability not in source.abilities]:
        return f"{source.title} cannot {unable[0].value}"
    return ""
