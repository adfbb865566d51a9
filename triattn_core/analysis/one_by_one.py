"""What each unit of the context does alone, and what as many units at random do: the scale for an intervention.

change   log-odds of the answer without the unit, less those with it
moved    how far attention moved without it, in bits from 0 to 1: the Jensen-Shannon divergence of the weights
         before and after, summed over context, of each query token and head; its mean over both directions
         (each token of the pair counts the same), heads and layers, of the traced option where there are several
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from triattn_core.analysis import edits
from triattn_core.analysis.asked import Asked, ask, gone, left, log_odds, variants, without
from triattn_core.analysis.moved import divergence
from triattn_core.attention.similarity.exponential import at_once
from triattn_core.attention.tap import recording
from triattn_core.checkpoint import Bundle
from triattn_core.errors import InputError
from triattn_core.models.encoder import Encoded
from triattn_core.text.roles import Roles


def each(bundle: Bundle, example, way: str = "turns", option: int | None = None, read: bool = False) -> pd.DataFrame:
    """A row for each unit of the context in its order: `unit`, `change` and `moved` without it alone, and whether the
    answer `flips`.  For units and `read` see `interventions`.

    Raises InputError for another way, and for tokens where there are several options: only one of them has them all.
    """
    asked = ask(bundle, example, option)
    names = _names(asked, way)
    found = _rows(asked, way, [[name] for name in names], read, watch=True)
    return pd.DataFrame({"unit": names, **found})


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
    """The same but `moved` for `draws` random choices of `count` units; `unit` is the number of the draw."""
    asked = ask(bundle, example, option)
    names, lots = _names(asked, way), np.random.default_rng(seed)
    some = [list(lots.choice(names, min(count, len(names)), replace=False)) for _ in range(draws)]
    return pd.DataFrame({"unit": range(draws), **_rows(asked, way, some, read)})


def _names(asked: Asked, way: str) -> list[str]:
    if way == "tokens" and len(asked.options) > 1:
        raise InputError("Single tokens are asked one by one only where there is nothing to choose from: take turns.")
    texts = asked.bundle.task.texts(asked.example, asked.option)
    return list(dict.fromkeys(filter(None, edits.units(asked.roles.context, texts, way))))


def _rows(
    asked: Asked, way: str, some: Sequence[Sequence[str]], read: bool, watch: bool = False
) -> dict[str, np.ndarray]:
    """The columns with the units of each variant gone, in every option; `moved` is there with `watch`."""
    outputs, moved = [], {}
    for number, roles in enumerate(asked.options):
        names = edits.units(roles.context, asked.bundle.task.texts(asked.example, number), way)
        places = [[i for i, name in enumerate(names) if name in units] for units in some]
        missing = gone(roles, places, everywhere=False)
        if watch and number == asked.option:
            said, moved["moved"] = _watched(asked.bundle, roles, missing, read)
        else:
            said = without(asked.bundle, roles, missing, read)
        outputs.append(said)
    scores = torch.cat(outputs, 1) if len(outputs) > 1 else asked.among(outputs[0])
    change = log_odds(scores, asked.answer) - log_odds(asked.scores[None], asked.answer)
    flips = scores.argmax(-1) != int(asked.scores.argmax())
    return {"change": change.numpy(), **moved, "flips": flips.numpy()}


@torch.inference_mode()
def _watched(bundle: Bundle, roles: Roles, missing: Mapping[str, Tensor], read: bool) -> tuple[Tensor, np.ndarray]:
    """Outputs as `without` gives them, and `moved` [V]."""
    outputs, moved = torch.empty(len(missing["context"]), bundle.outputs), np.empty(len(missing["context"]))
    with at_once():
        [(_, whole)] = variants(bundle, roles, {"context": torch.zeros(1, len(roles.context), dtype=torch.bool)})
        _, before = _maps(bundle, whole)
        for places, encoded in variants(bundle, roles, missing, read):
            said, after = _maps(bundle, left(encoded))
            outputs[places] = said.float().cpu()
            moved[places] = np.concatenate([divergence(*one).mean(1) for one in zip(after, before)], 1).mean(1)
    return outputs, moved


def _maps(bundle: Bundle, encoded: Encoded) -> tuple[Tensor, list[Tensor]]:
    """Outputs, and the weights [V, heads, query, key] of all layers and directions, summed over context."""
    with recording(lambda site: site.endswith("/weight")) as record:
        said = bundle.model(encoded)
    return said, [one.tensor.sum(-1) if "context" in one.axes else one.tensor for one in record.sites.values()]
