"""Ablation of COIN's blocks and context term, with the trained weights.

    layer.0, …   the block hands on what it was given
    context      Eq. 1 in place of Eq. 4 in every block ("Context-aware Interaction Network", section 2.2)

Nothing is trained anew: the ablations of the paper's Table 3 are other models, which never had the part.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import cast

from torch import Tensor, nn

from triattn_core.attention.coin import CONTEXT
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.coin import CoinConfig
from triattn_core.errors import ConfigError, choices
from triattn_core.inference.explain import explain
from triattn_core.inference.predictions import Prediction
from triattn_core.models.coin import Coin
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site


class AblatedCoin(nn.Module):
    """A COIN evaluated with some parts ablated."""

    def __init__(self, model: Coin, ablated: Collection[str]):
        super().__init__()
        self.model, self.ablated = model, frozenset(ablated)

    def forward(self, sentences) -> Tensor:
        return self.model(sentences, self.ablated)


def ablatable_parts(bundle: Bundle) -> tuple[str, ...]:
    """The parts that can be ablated: each block, and `context` if the model has it.  Raises ConfigError if it is no
    COIN."""
    if not isinstance(bundle.model, Coin):
        raise ConfigError(f"{bundle.name}: blocks and their context term can be ablated in COIN only")
    config = cast(CoinConfig, bundle.config.model)
    return (*(str(Site(layer=i)) for i in range(config.layers)), *[CONTEXT] * config.context)


def explain_ablated(
    bundle: Bundle, example, ablated: Collection[str] | str, option: int | None = None
) -> tuple[Prediction, AttentionTrace]:
    """As `explain`, with parts ablated (`block 1` means `layer.0`); `off` in the trace's meta names them.

    Raises ConfigError for a model that is no COIN and for a part that it does not have.
    """
    ablated = [_part_name(part) for part in ([ablated] if isinstance(ablated, str) else ablated)]
    parts = ablatable_parts(bundle)
    for name in ablated:
        if name not in parts:
            raise ConfigError(f"{bundle.name} has no {name!r} to ablate; {choices(name, parts)}")
    prediction, trace = explain(
        replace(bundle, model=AblatedCoin(cast(Coin, bundle.model), ablated)), example, option=option
    )
    return prediction, replace(trace, meta={**trace.meta, "off": ",".join(ablated)})


def _part_name(name: str) -> str:
    """The site of a part as the pages name it: `layer.0` for `block 1`; other names unchanged."""
    word, _, number = name.partition(" ")
    return str(Site(layer=int(number) - 1)) if word == "block" and number.isdecimal() else name
