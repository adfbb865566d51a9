"""COIN with a block or its context term switched off: what the same weights say without them.

    layer.0, …   the block hands on what it was given
    context      Eq. 1 in place of Eq. 4 in every block ("Context-aware Interaction Network", section 2.2)

Nothing is trained anew: the ablations of the paper's Table 3 are other models, which never had the part.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from torch import Tensor, nn

from triattn_core.attention.coin import CONTEXT
from triattn_core.checkpoint import Bundle
from triattn_core.errors import ConfigError, choices
from triattn_core.explain import Prediction, explain
from triattn_core.models.coin import Coin
from triattn_core.trace import AttentionTrace


class Switched(nn.Module):
    """A COIN that is called with parts of it off."""

    def __init__(self, model: Coin, off: Collection[str]):
        super().__init__()
        self.model, self.off = model, frozenset(off)

    def forward(self, sentences) -> Tensor:
        return self.model(sentences, self.off)


def switches(bundle: Bundle) -> tuple[str, ...]:
    """What can be switched off: each block, and `context` where the model has it.  Raises ConfigError for no COIN."""
    if not isinstance(bundle.model, Coin):
        raise ConfigError(f"{bundle.name}: blocks and their context term are switched off in COIN alone")
    config = bundle.config.model
    return (*(f"layer.{i}" for i in range(config.layers)), *[CONTEXT] * config.context)


def explain_without(
    bundle: Bundle, example, off: Collection[str] | str, option: int | None = None
) -> tuple[Prediction, AttentionTrace]:
    """As `explain`, with these switched off, `block 1` for `layer.0` too; `off` in the trace's meta names them.

    Raises ConfigError for a model that is no COIN and for a part that it does not have.
    """
    off = [_switch(one) for one in ([off] if isinstance(off, str) else off)]
    known = switches(bundle)
    for name in off:
        if name not in known:
            raise ConfigError(f"{bundle.name} has no {name!r} to switch off; {choices(name, known)}")
    said, trace = explain(replace(bundle, model=Switched(bundle.model, off)), example, option=option)
    return said, replace(trace, meta={**trace.meta, "off": ",".join(off)})


def _switch(name: str) -> str:
    """`layer.0` of `block 1`, as the pages call it; another name as it is."""
    word, _, number = name.partition(" ")
    return f"layer.{int(number) - 1}" if word == "block" and number.isdecimal() else name
