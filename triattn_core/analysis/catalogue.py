"""The attribution methods and attention replacements by name, with their descriptions; no torch, so that pages load
fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method of attribution (`methods.METHODS`): its short name, and how it works; `{steps}` are those of the path.

    cost: cheaper methods are computed first, those of one cost together; 0 if the trace is enough.
    """

    short: str
    how: str
    cost: int = 0

    @property
    def follows_path(self) -> bool:
        """Whether it takes steps along a path."""
        return "{steps}" in self.how


@dataclass(frozen=True)
class Replacement:
    """A replacement of attention (`null_replacement`): in words; whether it is random; and, for cubes only, the
    function of `attention.fixed_weights` that replaces key and context at once."""

    how: str
    is_random: bool = True
    fixed: str = ""


STEPS = (16, 32, 64, 128)  # of a path, that pages offer
METHODS = {
    "integrated gradients": Method("IG", "of word vectors, {steps} steps", 3),
    "gradient × input": Method("grad × in", "of word vectors", 1),
    "occlusion": Method("occlusion", "one token blanked at a time", 2),
    "attention": Method("attention", "mean of layers and heads"),
    "rollout": Method("rollout", "attention through the layers"),
}
# The same of models that read their texts as one, and what only these have.
JOINT_METHODS = METHODS | {"norms": Method("norms", "length of weight × transformed value")}
REPLACEMENTS = {
    "uniform": Replacement("the same weight everywhere", is_random=False),
    "shuffled": Replacement("its own weights in a drawn order"),
    "untrained": Replacement("those of the same network, newly drawn"),
    "product of marginals": Replacement(
        "a key's weight times a context token's: which goes with which is lost",
        is_random=False,
        fixed="product_of_marginals",
    ),
    "even": Replacement("the same weight for each pair of key and context token", is_random=False, fixed="even"),
}
