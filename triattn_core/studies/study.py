"""A study: a claim about what a model's attention does, on inputs that anybody can change, with what would refute it.

Studies are listed before a model is asked for, so their files load nothing heavy: functions import what they run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle


@dataclass(frozen=True)
class Study:
    """One study of Home.

    order: where it stands there.  title: the question.  checkpoints: the models that are asked, by name.
    examples: the input that is shown, then paraphrases of it, for which the claim must hold too.
    measure: of the models and an example the number that the claim is about, in `unit`; `shown` is that of the first.
    above: the claim is that the number is larger than this, and by `margin` above that of untrained models; None where
    the claim needs no training.  finding: what was found, with {value} in it.  refuted: what would refute it.
    page, opens: the page that shows it, and its URL parameters.
    show: the texts of an example, a line each.  maps: by title, weights [query, key]; None without.
    """

    order: int
    title: str
    checkpoints: tuple[str, ...]
    examples: tuple
    measure: Callable[[Sequence[Bundle], Any], float]
    unit: str
    shown: float
    above: float
    margin: float | None
    finding: str
    refuted: str
    page: str
    opens: Mapping[str, str | Sequence[str]]
    show: Callable[[Any], Sequence[str]]
    maps: Callable[[Sequence[Bundle], Any], Mapping[str, xr.DataArray]] | None = None


@dataclass(frozen=True)
class Finding:
    """What a study's measure gives for one example: of the trained models, and of the same models untrained."""

    example: Any
    value: float
    untrained: float | None
    holds: bool


def run(study: Study, bundles: Sequence[Bundle], examples: Sequence | None = None) -> list[Finding]:
    """The findings of a study for its examples, or for others."""
    fresh = [bundle.untrained() for bundle in bundles] if study.margin is not None else None
    found = []
    for example in study.examples if examples is None else examples:
        value = float(study.measure(bundles, example))
        untrained = None if fresh is None else float(study.measure(fresh, example))
        holds = value > study.above and (untrained is None or value > untrained + study.margin)
        found.append(Finding(example, value, untrained, holds))
    return found
