"""A checkpoint of ours run with other attention weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.inference.explain import explain
from triattn_core.inference.pause import progress
from triattn_core.inference.predictions import Prediction
from triattn_core.sources.weight_change import Replaced, WeightChange, require_alike
from triattn_core.trace.axes import CUBE
from triattn_core.trace.site import Site

SURE = 1e-12  # a probability is at least this, and at most one less it


@torch.inference_mode()
def replaced(bundle: Bundle, example: Any, changes: Sequence[WeightChange], option: int | None = None) -> Replaced:
    """See `CanReplace.replace`; of several options all run under the change.  Raises InputError as that does."""
    prediction, before = explain(bundle, example, option=option)
    option = prediction.option if "option" in before.meta else None
    predictions, after = [prediction], before
    for number, change in enumerate(changes):
        progress(number, len(changes))
        met: set[Site] = set()
        given = None if change.other is None else _weights_on(bundle, change.other, option)
        keep_site = (lambda site: True) if number == 0 else (lambda site: False)
        with replacing(_at_sites(change, given, met)), without_compilation():
            changed, trace = explain(bundle, example, keep_site, option)
        if missing := [site for site, _ in change.heads if site not in met]:
            raise InputError(f"{bundle.name}: there are no weights at {missing[0]} that could be replaced")
        predictions.append(changed)
        after = trace if number == 0 else after
    best = prediction.best
    odds = tuple(_log_odds(each, best) for each in predictions)
    return Replaced(tuple(predictions), odds, replace(after, meta={**before.meta}))


def _weights_on(bundle: Bundle, example: Any, option: int | None) -> dict[Site, Tensor]:
    """The weights [head, query, key] or [head, query, key, context] of an example by site, as they are used."""
    found: dict[Site, Tensor] = {}

    def keep(site: Site, own: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
        found[site] = own[0]
        return own

    with replacing(keep), without_compilation():
        explain(bundle, example, lambda site: False, option)
    return found


def _at_sites(change: WeightChange, given: Mapping[Site, Tensor] | None, met: set[Site]) -> Callable[..., Tensor]:
    def weights(site: Site, own: Tensor, keeps: Mapping[str, Tensor]) -> Tensor:
        met.add(site)
        if given is not None:
            require_alike(given[site].shape[1:], own.shape[2:])
        kept = _attendable(keeps, CUBE[1], own.shape[3])
        if beyond := [key for key in change.keys if not 0 <= key < len(kept)]:
            raise InputError(f"key {beyond[0]}: there are {len(kept)} keys")
        keys = [kept[key] for key in change.keys]
        if own.ndim == 4:
            return replace(change, keys=tuple(keys)).weights(own, site, given)
        contexts = own.shape[-1]
        shown = _attendable(keeps, CUBE[2], contexts)
        flat = replace(change, keys=tuple(key * contexts + i for key in keys for i in shown))
        others = None if given is None else {site: given[site].flatten(-2)}
        return flat.weights(own.flatten(-2), site, others).unflatten(-1, own.shape[-2:])

    return weights


def _attendable(keeps: Mapping[str, Tensor], axis: str, size: int) -> Sequence[int]:
    """The places that may be attended to: a trace shows these alone where nothing attends to special tokens."""
    kept = keeps[axis][0].nonzero().flatten().tolist() if axis in keeps else []
    return kept or range(size)


def _log_odds(prediction: Prediction, answer: int) -> float:
    p = np.clip(prediction.probabilities[answer], SURE, 1 - SURE)
    return float(np.log(p) - np.log1p(-p))
