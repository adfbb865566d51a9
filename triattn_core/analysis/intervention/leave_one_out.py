"""Leave-one-out over the units of the context, and removal of as many random units for scale.

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

from triattn_core.analysis.intervention import edits
from triattn_core.analysis.intervention.batched_variants import (
    Query,
    drop_removed,
    encode_variants,
    log_odds,
    outputs_without,
    removal_masks,
    run_query,
)
from triattn_core.analysis.mining.context_shift import row_divergence
from triattn_core.attention.tap import TappedTensor, keep_weights, recording
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.inference.pause import part
from triattn_core.models.encoder import Encoded
from triattn_core.text.roles import Roles
from triattn_core.trace.site import Site


def score_units(
    bundle: Bundle, example, unit: str = "turns", option: int | None = None, read: bool = False
) -> pd.DataFrame:
    """A row for each unit of the context in order: `unit`, `change` and `moved` with it removed, and whether the answer
    `flips`.  For units and `read` see `interventions`.

    Raises InputError for another way, and for tokens where there are several options: only one of them has them all.
    """
    query = run_query(bundle, example, option)
    names = _unit_names(query, unit)
    columns = _score_variants(query, unit, [[name] for name in names], read, watch=True)
    return pd.DataFrame({"unit": names, **columns})


def score_random_units(
    bundle: Bundle,
    example,
    count: int,
    unit: str = "turns",
    option: int | None = None,
    read: bool = False,
    draws: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """As `score_units`, without `moved`, for `draws` random choices of `count` units; `unit` is the draw's number."""
    query = run_query(bundle, example, option)
    names, rng = _unit_names(query, unit), np.random.default_rng(seed)
    samples = [list(rng.choice(names, min(count, len(names)), replace=False)) for _ in range(draws)]
    return pd.DataFrame({"unit": range(draws), **_score_variants(query, unit, samples, read)})


def _unit_names(query: Query, unit: str) -> list[str]:
    if unit == "tokens" and len(query.options) > 1:
        raise InputError("Single tokens are left out one at a time for sentence pairs only; choose turns.")
    texts = query.bundle.task.texts(query.example, query.option)
    return list(dict.fromkeys(filter(None, edits.unit_names(query.roles.context, texts, unit))))


def _score_variants(
    query: Query, unit: str, variants: Sequence[Sequence[str]], read: bool, watch: bool = False
) -> dict[str, np.ndarray]:
    """The columns for variants with units removed from every option; with `watch` also `moved`."""
    outputs, shift = [], {}
    for number, roles in enumerate(query.options):
        names = edits.unit_names(roles.context, query.bundle.task.texts(query.example, number), unit)
        places = [[i for i, name in enumerate(names) if name in units] for units in variants]
        missing = removal_masks(roles, places, everywhere=False)
        with part(number, len(query.options)):
            if watch and number == query.option:
                variant_outputs, shift["moved"] = _outputs_and_shift(query.bundle, roles, missing, read)
            else:
                variant_outputs = outputs_without(query.bundle, roles, missing, read)
        outputs.append(variant_outputs)
    scores = torch.cat(outputs, 1) if len(outputs) > 1 else query.answer_scores(outputs[0])
    change = log_odds(scores, query.answer) - log_odds(query.scores[None], query.answer)
    flips = scores.argmax(-1) != int(query.scores.argmax())
    return {"change": change.numpy(), **shift, "flips": flips.numpy()}


@torch.inference_mode()
def _outputs_and_shift(
    bundle: Bundle, roles: Roles, removed: Mapping[str, Tensor], read: bool
) -> tuple[Tensor, np.ndarray]:
    """Outputs as in `outputs_without`, and the mean shift of the attention in bits, `moved` [V]."""
    outputs, shift = torch.empty(len(removed["context"]), bundle.num_outputs), np.empty(len(removed["context"]))
    with without_compilation():
        [(_, unablated)] = encode_variants(
            bundle, roles, {"context": torch.zeros(1, len(roles.context), dtype=torch.bool)}
        )
        _, before = _outputs_and_weights(bundle, unablated)
        for places, encoded in encode_variants(bundle, roles, removed, read):
            logits, after = _outputs_and_weights(bundle, drop_removed(encoded))
            outputs[places] = logits.float().cpu()
            shift[places] = np.concatenate([row_divergence(*pair).mean(1) for pair in zip(after, before)], 1).mean(1)
    return outputs, shift


def _outputs_and_weights(bundle: Bundle, encoded: Encoded) -> tuple[Tensor, list[Tensor]]:
    """Outputs, and the weights [V, heads, query, key] of all layers and directions, summed over context; of Bi-joint
    all of the context is one last key."""
    with recording(keep_weights) as record:
        logits = bundle.model(encoded)
    return logits, [_over_keys(site, tapped, encoded) for site, tapped in record.sites.items()]


def _over_keys(site: Site, tapped: TappedTensor, encoded: Encoded) -> Tensor:
    weights = tapped.tensor
    if "key" in tapped.roles:
        keys = (encoded.key if site.sides == ("a", "b") else encoded.query).vectors.shape[1]
        return torch.cat([weights[..., :keys], weights[..., keys:].sum(-1, keepdim=True)], -1)
    return weights.sum(-1) if "context" in tapped.axes else weights
