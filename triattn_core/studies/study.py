"""A study: a claim about a model's attention, on inputs that you can change, with what would refute it.

Studies are listed before any model is loaded, so their files import nothing heavy: functions import what they need.
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
    """One study of the page Studies.

    order: position on the page.  title: the question.  checkpoints: names of the models.
    examples: the input shown, then paraphrases of it, for which the claim must also hold.
    measure: computes the number of the claim, in `unit`, from the models and an example, also one that a user has
    edited; reported_value: its value for the first example.  number: what it is called.
    above, margin: the claim is that the number is larger than `above`, and larger by `margin` than that of untrained
    models; margin is None if the claim needs no training.
    claim: the result in a sentence, with {value}.  about: what to know before it; limits: what it does not show.
    refuted: what would refute it.  change, edited: a word to change, and the first example with that change.
    page, opens: the page that shows it, and its URL parameters.
    control: URL parameters of Intervene, where its weights can be replaced by the product of their marginals.
    show: the texts of an example, one per line.  maps: weights [query, key] by title; None if there are none.
    """

    order: int
    title: str
    checkpoints: tuple[str, ...]
    examples: tuple
    measure: Callable[[Sequence[Bundle], Any], float]
    unit: str
    reported_value: float
    above: float
    margin: float | None
    number: str
    about: str
    claim: str
    refuted: str
    change: str
    edited: Any
    page: str
    opens: Mapping[str, str | Sequence[str]]
    show: Callable[[Any], Sequence[str]]
    maps: Callable[[Sequence[Bundle], Any], Mapping[str, xr.DataArray]] | None = None
    limits: str = ""
    control: Mapping[str, str | Sequence[str]] | None = None

    @property
    def result(self) -> str:
        """The claim with its number."""
        return self.claim.format(value=self.reported_value)

    @property
    def finding(self) -> str:
        """What to know, the claim with its number, and its limits."""
        return " ".join(filter(None, (self.about, self.result, self.limits)))


@dataclass(frozen=True)
class Finding:
    """The measure of a study for one example: with the trained models, and with the same models untrained."""

    example: Any
    value: float
    untrained: float | None
    holds: bool


def run(study: Study, bundles: Sequence[Bundle], examples: Sequence | None = None) -> list[Finding]:
    """The findings of a study for its examples, or for others."""
    untrained_bundles = None if study.margin is None else [bundle.untrained() for bundle in bundles]
    findings = []
    for example in study.examples if examples is None else examples:
        value = float(study.measure(bundles, example))
        untrained = None if untrained_bundles is None else float(study.measure(untrained_bundles, example))
        holds = value > study.above and (untrained is None or value > untrained + (study.margin or 0.0))
        findings.append(Finding(example, value, untrained, holds))
    return findings
