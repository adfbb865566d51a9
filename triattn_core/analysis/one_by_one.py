"""What each unit of the context does alone, and what as many units at random do: the scale for an intervention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from triattn_core.analysis import edits
from triattn_core.analysis.asked import Asked, ask, gone, log_odds, without
from triattn_core.checkpoint import Bundle
from triattn_core.errors import InputError


def each(bundle: Bundle, example, way: str = "turns", option: int | None = None, read: bool = False) -> pd.DataFrame:
    """A row for each unit of the context in its order: `unit`, the `change` of the log-odds of the answer without it
    alone, and whether the answer `flips`.  For units and `read` see `interventions`.

    Raises InputError for another way, and for tokens where there are several options: only one of them has them all.
    """
    asked = ask(bundle, example, option)
    names = _names(asked, way)
    scores = _scores(asked, way, [[name] for name in names], read)
    return pd.DataFrame({"unit": names, "change": _changes(asked, scores), "flips": _flips(asked, scores)})


def at_random(
    bundle: Bundle,
    example,
    count: int,
    way: str = "turns",
    option: int | None = None,
    read: bool = False,
    draws: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """The same for `draws` random choices of `count` units; `unit` is the number of the draw."""
    asked = ask(bundle, example, option)
    names, lots = _names(asked, way), np.random.default_rng(seed)
    some = [list(lots.choice(names, min(count, len(names)), replace=False)) for _ in range(draws)]
    scores = _scores(asked, way, some, read)
    return pd.DataFrame({"unit": range(draws), "change": _changes(asked, scores), "flips": _flips(asked, scores)})


def _names(asked: Asked, way: str) -> list[str]:
    if way == "tokens" and len(asked.options) > 1:
        raise InputError("Single tokens are asked one by one only where there is nothing to choose from: take turns.")
    texts = asked.bundle.task.texts(asked.example, asked.option)
    return list(dict.fromkeys(filter(None, edits.units(asked.roles.context, texts, way))))


def _scores(asked: Asked, way: str, variants: Sequence[Sequence[str]], read: bool) -> Tensor:
    """Scores [V, answers] with the units of each variant gone, in every option."""
    outputs = []
    for number, roles in enumerate(asked.options):
        names = edits.units(roles.context, asked.bundle.task.texts(asked.example, number), way)
        places = [[i for i, name in enumerate(names) if name in some] for some in variants]
        outputs.append(without(asked.bundle, roles, gone(roles, places, everywhere=False), read))
    return torch.cat(outputs, 1) if len(outputs) > 1 else asked.among(outputs[0])


def _changes(asked: Asked, scores: Tensor) -> np.ndarray:
    return (log_odds(scores, asked.answer) - log_odds(asked.scores[None], asked.answer)).numpy()


def _flips(asked: Asked, scores: Tensor) -> np.ndarray:
    return (scores.argmax(-1) != int(asked.scores.argmax())).numpy()
