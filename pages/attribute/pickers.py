"""The pickers of Attribute: how the methods are computed, and what stands out among them."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared import page_setup, url_state
from triattn_core.analysis.catalogue import STEPS
from triattn_core.scenes.attribute import Settings, TokenShares


def pick(question: page_setup.PageQuestion) -> Settings:
    """What the attributions depend on."""
    steps = url_state.segments("Steps of the path", list(STEPS), "steps", STEPS.index(Settings().steps))
    fold = url_state.segments("Shown as", ["words", "word pieces"], "fold")
    return Settings(steps=steps, fold=fold, option=page_setup.option_number(question))


def pick_method(methods: Sequence[str]) -> str:
    """The method of the whole text and of the curves."""
    return url_state.segments("Method", list(methods), "method", label_visibility="collapsed")


def pick_role(tokens: TokenShares) -> str:
    """The role whose tokens are ranked."""
    present = set(tokens.table["role"])
    names = {"all": "all", **tokens.names} | ({"context": "context"} if "context" in present else {})
    opens = list(names).index(tokens.settings.ranks)
    return url_state.segments("Ranks over the tokens of", list(names), "ranks", opens, show=names.__getitem__)
