"""The attribution methods and attention replacements by name, with their descriptions; no torch, so that pages load
fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method of attribution (`methods.METHODS`): its name where there is little room, and how it goes about it;
    `{steps}` in it are those of the path.  cost: methods of the lowest are computed first, those of
    one cost together; 0 where the trace is enough."""

    short: str
    how: str
    cost: int = 0

    @property
    def follows_path(self) -> bool:
        """Whether it takes steps along a path."""
        return "{steps}" in self.how


@dataclass(frozen=True)
class Replacement:
    """What attention can be replaced by (`nulls`): in words; whether it is drawn, so that many draws differ; and, for
    cubes alone, the function of `attention.fixed_weights` that replaces key and context at once."""

    how: str
    drawn: bool = True
    fixed: str = ""


METHODS = {
    "integrated gradients": Method("IG", "of word vectors, {steps} steps", 3),
    "gradient × input": Method("grad × in", "of word vectors", 1),
    "occlusion": Method("occlusion", "one token blanked at a time", 2),
    "attention": Method("attention", "mean of layers and heads"),
    "rollout": Method("rollout", "attention through the layers"),
}
REPLACEMENTS = {
    "uniform": Replacement("the same weight everywhere", drawn=False),
    "shuffled": Replacement("its own weights in a drawn order"),
    "untrained": Replacement("those of the same network, newly drawn"),
    "product of marginals": Replacement(
        "a key's weight times a context token's: which goes with which is lost",
        drawn=False,
        fixed="product_of_marginals",
    ),
    "even": Replacement("the same weight for each pair of key and context token", drawn=False, fixed="even"),
}
