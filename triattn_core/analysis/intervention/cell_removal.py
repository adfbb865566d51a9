"""What the answer loses without one attention weight: strongest is not what matters most.

Of a distribution A[n] of a query n over key × context (or over key), one weight a is set to zero and the others are
scaled up to the same sum, A'[n] = A[n] · s / (s − a) with s = sum A[n]: the query still attends as much, to the rest.
The cost is log-odds of the answer before, less those after: above zero where the weight speaks for the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from triattn_core.analysis.intervention.batched_variants import repeat_encoded, row_slices, run_query
from triattn_core.attention.tap import recording
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import shown_places
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

AXES = ("query", "key", "context")
LISTED = 8  # strong cells of a cube whose cost is measured


def cell_costs(
    bundle: Bundle,
    example,
    site: Site,
    cells: Sequence[Sequence[int]],
    head: int | None = None,
    option: int | None = None,
) -> np.ndarray:
    """The cost of each cell [cells], one batch for all.

    cells: positions of query and key, and of context in a cube, as in the example's trace, which leaves out special
    tokens that nothing attends to.  head: from 0; None takes the weight out of every head.
    Raises InputError for a site that the model does not have.
    """
    query = run_query(bundle, example, option)
    outputs = []
    with torch.inference_mode(), without_compilation():
        encoded = bundle.encoder(collate([query.roles], bundle.tokenizer).to(bundle.device))
        with recording(lambda at: at == site) as record:
            whole = bundle.model(encoded).float().cpu()
        if site not in record.sites:
            raise InputError(f"{bundle.name} computes no weights at {site}")
        places = shown_places(record.sites[site], query.roles.axes(site), bundle.attends_special)
        cells = [tuple(there[at] for there, at in zip(places, cell)) for cell in cells]
        for rows in row_slices(len(cells), bundle, query.roles):
            some = torch.tensor(cells[rows])

            def change(at: Site, weights: Tensor, keeps: Mapping[str, Tensor], some: Tensor = some) -> Tensor:
                if at.with_quantity("weight") != site.with_quantity("weight"):
                    return weights
                return remove_cells(weights, some.to(weights.device), head)

            with replacing(change):
                outputs.append(bundle.model(repeat_encoded(encoded, len(some))).float().cpu())
    return (query.log_odds(whole) - query.log_odds(torch.cat(outputs))).numpy()


def remove_cells(weights: Tensor, cells: Tensor, head: int | None = None) -> Tensor:
    """Weights [B, head, query, …] with one cell of each row at zero, the rest of its query scaled up to the same sum.

    cells: [B, dims] positions of query and what follows.  A query whose weight is all on the cell keeps nothing.
    """
    removed = weights.clone()
    rows, heads = torch.arange(len(weights)), range(weights.shape[1]) if head is None else (head,)
    query, *others = cells.unbind(1)
    for h in heads:
        before = weights[rows, h, query].flatten(1).sum(1)
        removed[(rows, torch.full_like(rows, h), query, *others)] = 0
        kept = removed[rows, h, query]
        left = kept.flatten(1).sum(1)
        scale = torch.where(left > 0, before / left.clamp_min(torch.finfo(left.dtype).tiny), torch.zeros_like(left))
        removed[rows, h, query] = kept * scale.view(-1, *(1 for _ in range(kept.ndim - 1)))
    return removed


def costs_of_strongest(bundle: Bundle, example: Any, trace: AttentionTrace) -> dict[str, list]:
    """Of each cube of weights and each head, and their mean, pairs of a strong cell and its cost; see `cell_costs`.

    Strong are the LISTED largest of all, and the LISTED largest without special tokens.
    """
    costs = {}
    for site in (site for site in trace.sites if site.quantity == "weight"):
        weights, special = trace.site(site), [trace.site(site)[f"{axis}_special"].values > 0 for axis in AXES]
        for head in (None, *range(weights.sizes["head"])):
            cube = weights.mean("head") if head is None else weights.isel(head=head)
            values = cube.transpose(*AXES).values
            words = values.copy()
            for axis, hidden in enumerate(special):
                words[(slice(None),) * axis + (hidden,)] = -1.0
            order = [np.argsort(-array, axis=None, kind="stable")[:LISTED] for array in (values, words)]
            places = np.unravel_index(np.unique(np.concatenate(order)), values.shape)
            cells = [tuple(map(int, cell)) for cell in zip(*places)]
            found = cell_costs(bundle, example, site, cells, head)
            costs[f"{site} {head}"] = [[list(cell), round(float(cost), 6)] for cell, cost in zip(cells, found)]
    return costs
