"""The attribution methods and attention replacements by name, with their descriptions; no torch, so that pages load
fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method of attribution (`methods.METHODS`): its name where there is little room, and how it goes about it;
    `{steps}` in it are those of the path."""

    short: str
    how: str


@dataclass(frozen=True)
class Replacement:
    """What attention can be replaced by (`nulls`): in words, and whether it is drawn, so that many draws differ."""

    how: str
    drawn: bool = True


METHODS = {
    "integrated gradients": Method("IG", "of word vectors, {steps} steps"),
    "gradient × input": Method("grad × in", "of word vectors"),
    "occlusion": Method("occlusion", "one token blanked at a time"),
    "attention": Method("attention", "mean of layers and heads"),
    "rollout": Method("rollout", "attention through the layers"),
}
REPLACEMENTS = {
    "uniform": Replacement("the same weight everywhere", drawn=False),
    "shuffled": Replacement("its own weights in a drawn order"),
    "untrained": Replacement("those of the same network, newly drawn"),
}
