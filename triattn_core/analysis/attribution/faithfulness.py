"""Faithfulness of attributions: comprehensiveness and sufficiency against random rankings.

With m the probability of the model's answer on the whole input x, and r_k the share k of its tokens that an attribution
ranks first (DeYoung et al. 2020, section 4.2):

    comprehensiveness_k  m(x) - m(x without r_k)      high: the tokens were needed
    sufficiency_k        m(x) - m(r_k alone)          low: the tokens are enough
    AOPC                 sum over k = 0 and k in SHARES of either / (|SHARES| + 1)

at k = 0 nothing is in r: comprehensiveness is 0 and sufficiency m(x) - m(nothing).  r_k holds k of the tokens, rounded
up.  A token that is taken out is read nowhere: not as query, key or context, and by neither BERT.  The control ranks
tokens at random, several times; an attribution says something only where it leaves the control's band.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.analysis.attribution.methods import Attributions, attribute, validate_methods
from triattn_core.analysis.intervention.batched_variants import (
    Query,
    outputs_without,
    removal_masks,
    run_query,
    word_positions,
)
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.trace.axes import RANDOM

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
MEASURES = ("comprehensiveness", "sufficiency")
LEVEL = 0.95
Removed = frozenset[int]


def perturbation_curves(
    orders: Mapping[tuple[str, int], Sequence[int]], m: Callable[[Sequence[Removed]], Sequence[float]]
) -> pd.DataFrame:
    """A row for each ranking and each share, from 0 on: `method`, `draw`, `share`, `tokens`, and the two MEASURES.

    orders: by method and draw, all tokens from the first ranked on.  m: the probabilities with these tokens removed; it
    is called once, with each set of tokens once.
    """
    rows = []
    probabilities: dict[frozenset[int], float] = {frozenset(): 0.0}
    for (method, draw), order in orders.items():
        for share in (0.0, *SHARES):
            count = ceil(share * len(order) - 1e-9)
            top, other_tokens = frozenset(order[:count]), frozenset(order[count:])
            probabilities |= {top: 0.0, other_tokens: 0.0}
            rows.append((method, draw, share, count, top, other_tokens))
    probabilities = dict(zip(probabilities, m(list(probabilities))))
    original = probabilities[frozenset()]
    records = [
        (*row, original - probabilities[top], original - probabilities[other_tokens])
        for *row, top, other_tokens in rows
    ]
    return pd.DataFrame(records, columns=["method", "draw", "share", "tokens", *MEASURES])


def aopc(table: pd.DataFrame) -> pd.DataFrame:
    """Area over the perturbation curve: the mean over shares, k = 0 with them, by method and draw."""
    return table.groupby(["method", "draw"], sort=False)[list(MEASURES)].mean()


def token_scores(query: Query, attributions: Attributions, method: str) -> np.ndarray:
    """[tokens of the joint sequence]: what the method gives each, as query or key and as context together.

    Tokens of a cell share what it has; a role that the method says nothing of gives 0.
    """
    scores = np.zeros(len(query.roles.context))
    for role, values in attributions.table.groupby("role")[method]:
        role_tokens = getattr(query.roles, role)
        for (start, end), value in zip(role_tokens.runs, values):
            if np.isfinite(value):
                positions = [role_tokens.positions[i] for i in range(start, end) if role_tokens.positions[i] >= 0]
                scores[positions] += value / (end - start)
    return scores


def example_curves(
    query: Query,
    methods: Sequence[str] = (),
    draws: int = 20,
    seed: int = 0,
    steps: int = 32,
    attributions: Attributions | None = None,
) -> pd.DataFrame:
    """The `perturbation_curves` of the methods (see `methods.METHODS`) and of `draws` random rankings, for one example.

    found: what `attribute` gave, where it is known.  Raises InputError for an unknown method or no draw.
    """
    attributions = attributions or attribute(query, methods, steps)

    def m(sets: Sequence[Removed]) -> list[float]:
        masks = removal_masks(query.roles, [sorted(places) for places in sets])
        return query.probability(outputs_without(query.bundle, query.roles, masks)).tolist()

    scores = {name: token_scores(query, attributions, name) for name in attributions.methods}
    return ranked_curves(scores, word_positions(query.roles.context), m, draws, seed)


def ranked_curves(
    scores: Mapping[str, np.ndarray],
    words: Sequence[int],
    m: Callable[[Sequence[Removed]], Sequence[float]],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The `perturbation_curves` of scores [tokens] by method, ranked over the positions `words`, and of `draws` random
    rankings.  m: as there.  Raises InputError for no draw."""
    if draws < 1:
        raise InputError("the control needs one random ranking at least")
    places, rng = np.array(words), np.random.default_rng(seed)
    orders = {(name, 0): places[np.argsort(-values[places], kind="stable")].tolist() for name, values in scores.items()}
    orders |= {(RANDOM, draw): rng.permutation(places).tolist() for draw in range(draws)}
    return perturbation_curves(orders, m)


def control_band(table: pd.DataFrame) -> pd.DataFrame:
    """The control band of one example: `low` and `high` of the middle LEVEL of its draws, by measure."""
    areas = aopc(table).loc[RANDOM]
    edges = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    return areas.quantile(edges).set_axis(["low", "high"]).T


def measure_rows(
    bundles: Sequence[Bundle],
    rows: Sequence[tuple[int, Any]],
    methods: Sequence[str] = (),
    draws: int = 5,
    seed: int = 0,
    steps: int = 16,
) -> pd.DataFrame:
    """For each row (line, example) and checkpoint the AOPC of each method and the mean of the random control.

    Raises InputError for an unknown method.
    """
    methods, tables = validate_methods(methods), []
    for line, example in rows:
        for bundle in bundles:
            query = run_query(bundle, example)
            areas = aopc(example_curves(query, methods, draws, seed + line, steps)).groupby("method", sort=False).mean()
            columns = {"checkpoint": bundle.name, "row": line, "id": str(example.id)[:80], "tokens": query.roles.tokens}
            tables.append(areas.reset_index().assign(**columns))
    return pd.concat(tables, ignore_index=True)


def summarize(table: pd.DataFrame, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """A row for each checkpoint, method and measure over the rows of a file: `rows`, `mean`, the bootstrap band `low`
    to `high` of it (Efron 1979; LEVEL, percentiles), and of its difference to the control `gain`, `gain_low`,
    `gain_high`, resampled together.
    """
    rng, rows = np.random.default_rng(seed), []
    for name, checkpoint_rows in table.groupby("checkpoint", sort=False):
        by_method = checkpoint_rows.pivot(index="row", columns="method")
        samples = rng.integers(len(by_method), size=(resamples, len(by_method)))
        for measure in MEASURES:
            random = by_method[measure, RANDOM].to_numpy()
            for method in checkpoint_rows["method"].unique():
                values = by_method[measure, method].to_numpy()
                row = {"checkpoint": name, "method": method, "measure": measure, "rows": len(by_method)}
                for prefix, sample in (("", values), ("gain_", values - random)):
                    low, high = np.quantile(sample[samples].mean(1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                    row |= {
                        f"{prefix or 'mean_'}"[:-1]: float(sample.mean()),
                        f"{prefix}low": low,
                        f"{prefix}high": high,
                    }
                rows.append(row)
    return pd.DataFrame(rows)
