"""What the score of a cell is made of, in a Tri-Attention model of the laboratory, and how much of it reads all three
tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from triattn_core.analysis.maps.anova import variance_shares
from triattn_core.attention.states import split_heads
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import TriAttention
from triattn_core.attention.tri_similarity.additive import Additive
from triattn_core.attention.tri_similarity.determinant import Determinant, cross_factors
from triattn_core.attention.tri_similarity.protocol import ProductSimilarity
from triattn_core.attention.tri_similarity.strassen import Strassen, pairs
from triattn_core.attention.tri_similarity.tree import Tree, branches
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.batch import Batch, collate
from triattn_core.models.laboratory import Block, LaboratoryModel
from triattn_core.tasks.laboratory import Example
from triattn_core.trace.site import Site

CUBE = Site(layer=0, role="a_over_b")


@dataclass(frozen=True)
class ScoreTerms:
    """Of a row: its relevance and weights [heads, I, J], and the terms that add up to the relevance, by name.

    parts: where it is one term of all three, [heads, I, J, parts] that add up to it: of each feature, or of each block
    of a determinant; `part` is which.
    three_way: [heads], the share of the three-way part in the variance that the softmax sees (`analysis.maps.anova`),
    over all queries that the task knows.
    """

    relevance: np.ndarray
    weights: np.ndarray
    terms: Mapping[str, np.ndarray]
    three_way: np.ndarray
    parts: np.ndarray | None = None
    part: str = ""


def score_terms(bundle: Bundle, example: Example) -> ScoreTerms:
    """The terms of one row.  Raises InputError for a token that the task does not know."""
    queries = bundle.task.vocabulary.texts("query")
    rows = [replace(example, query=query) for query in queries]
    (roles, *_) = zip(*bundle.task.roles(rows, bundle.tokenizer, bundle.config.limits))
    batch, model = collate(roles, bundle.tokenizer), bundle.model
    assert isinstance(model, LaboratoryModel) and isinstance(batch, Batch)
    with torch.inference_mode(), recording(lambda site: site.attention == CUBE) as record:
        bundle.logits(batch)
        relevance, weights = (
            record.sites[CUBE.with_quantity(quantity)].tensor[:, :, 0].double().cpu().numpy()
            for quantity in ("relevance", "weight")
        )  # [queries, heads, I, J]
        attention = cast(TriAttention, cast(Block, model.layers[0]).attention)
        device = next(model.parameters()).device
        states = [model.embed(role.to(device)).vectors for role in (batch.query, batch.key, batch.context)]
        projected = [
            split_heads(project(vectors), attention.heads)
            for project, vectors in zip((attention.query, attention.key, attention.context), states)
        ]
        row = queries.index(example.query)
        similarity = cast(nn.Module, attention.similarity)
        of_row = [vectors[row : row + 1] for vectors in projected]
        terms, (part, parts) = named_terms(similarity, *of_row), score_parts(similarity, *of_row)
    shape = relevance.shape[1:]
    shares = variance_shares(relevance.transpose(1, 0, 2, 3))["three_way"]
    arrays = {name: np.broadcast_to(term[0].double().cpu().numpy(), shape) for name, term in terms.items()}
    values = None if parts is None else parts[0, :, 0].double().cpu().numpy()
    return ScoreTerms(relevance[row], weights[row], arrays, shares, values, part)


def named_terms(similarity: nn.Module, query: Tensor, key: Tensor, context: Tensor) -> dict[str, Tensor]:
    """The terms of a relevance by name, each [B, heads, I, J] or of size one along what it does not read; empty where
    it is one term of all three.  query: [B, heads, 1, D] of one token."""
    if isinstance(similarity, Strassen):
        query_key, query_context, key_context = pairs(query, key, context)
        return {"q·k": query_key.mT, "q·c": query_context, "k·c": key_context}
    if isinstance(similarity, Tree):
        query_key, key_context = branches(query, key, context)
        return {"q·k": query_key.mT, "k·c": key_context}
    return {}


def score_parts(similarity: nn.Module, query: Tensor, key: Tensor, context: Tensor) -> tuple[str, Tensor | None]:
    """What is summed to a relevance of all three, and its parts [B, heads, N, I, J, parts]; none where it has terms."""
    if isinstance(similarity, Additive):
        moved = (query @ similarity.W.mT, key @ similarity.U.mT, context @ similarity.H.mT)
        return "feature", _spread(*moved, torch.add).tanh() * similarity.p[:, None, None, None]
    if isinstance(similarity, Determinant):
        products = _spread(*cross_factors(query, key, context), torch.mul) / query.shape[-1] ** 0.5
        turned, back, rest = products.split([3 * (query.shape[-1] // 3)] * 2 + [query.shape[-1] % 3], -1)
        return "block", torch.cat([(turned + back).unflatten(-1, (-1, 3)).sum(-1), rest], -1)
    if isinstance(similarity, ProductSimilarity):
        return "feature", _spread(*similarity.factors(query, key, context), torch.mul)
    return "", None


def _spread(query: Tensor, key: Tensor, context: Tensor, joined: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """[B, heads, n, D] of each → [B, heads, N, I, J, D]."""
    return joined(joined(query[:, :, :, None, None], key[:, :, None, :, None]), context[:, :, None, None])
