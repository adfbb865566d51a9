"""Is an attribution faithful?  What the answer loses without the tokens it names, and keeps with them alone.

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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil

import numpy as np
import pandas as pd

from triattn_core.analysis.asked import Asked, ask, gone, without, words
from triattn_core.analysis.methods import Attributed, attribute, known
from triattn_core.analysis.mining import Part
from triattn_core.axes import RANDOM
from triattn_core.checkpoint import Bundle
from triattn_core.errors import DataError, InputError

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
MEASURES = ("comprehensiveness", "sufficiency")
LEVEL = 0.95
Gone = frozenset[int]


def curves(
    orders: Mapping[tuple[str, int], Sequence[int]], m: Callable[[Sequence[Gone]], Sequence[float]]
) -> pd.DataFrame:
    """A row for each ranking and each share, from 0 on: `method`, `draw`, `share`, `tokens`, and the two MEASURES.

    orders: by method and draw, all tokens from the first ranked on.  m: the probabilities with these tokens gone; it is
    called once, with each set of tokens once.
    """
    rows, wanted = [], {frozenset(): 0.0}
    for (method, draw), order in orders.items():
        for share in (0.0, *SHARES):
            count = ceil(share * len(order) - 1e-9)
            named, others = frozenset(order[:count]), frozenset(order[count:])
            wanted |= {named: 0.0, others: 0.0}
            rows.append((method, draw, share, count, named, others))
    wanted = dict(zip(wanted, m(list(wanted))))
    whole = wanted[frozenset()]
    found = [(*row, whole - wanted[named], whole - wanted[others]) for *row, named, others in rows]
    return pd.DataFrame(found, columns=["method", "draw", "share", "tokens", *MEASURES])


def aopc(table: pd.DataFrame) -> pd.DataFrame:
    """Area over the perturbation curve: the mean over shares, k = 0 with them, by method and draw."""
    return table.groupby(["method", "draw"], sort=False)[list(MEASURES)].mean()


def token_scores(asked: Asked, found: Attributed, method: str) -> np.ndarray:
    """[tokens of the joint sequence]: what the method gives each, as query or key and as context together.

    Tokens of a cell share what it has; a role that the method says nothing of gives 0.
    """
    scores = np.zeros(len(asked.roles.context))
    for role, values in found.table.groupby("role")[method]:
        of = getattr(asked.roles, role)
        for (start, end), value in zip(of.runs, values):
            if np.isfinite(value):
                scores[[of.positions[i] for i in range(start, end)]] += value / (end - start)
    return scores


def faithful(
    asked: Asked,
    methods: Sequence[str] = (),
    draws: int = 20,
    seed: int = 0,
    steps: int = 32,
    found: Attributed | None = None,
) -> pd.DataFrame:
    """`curves` of the methods (see `methods.METHODS`) and of `draws` random rankings, for one example.

    found: what `attribute` gave, where it is known.  Raises InputError for an unknown method or no draw.
    """
    found = found or attribute(asked, methods, steps)
    if draws < 1:
        raise InputError("the control needs one random ranking at least")
    there = np.array(words(asked.roles.context))
    orders = {}
    for name in found.methods:
        ranked = np.argsort(-token_scores(asked, found, name)[there], kind="stable")
        orders[name, 0] = there[ranked].tolist()
    lots = np.random.default_rng(seed)
    orders |= {(RANDOM, draw): lots.permutation(there).tolist() for draw in range(draws)}

    def m(sets: Sequence[Gone]) -> list[float]:
        masks = gone(asked.roles, [sorted(one) for one in sets])
        return asked.probability(without(asked.bundle, asked.roles, masks)).tolist()

    return curves(orders, m)


def control(table: pd.DataFrame) -> pd.DataFrame:
    """The band of the control of one example: `low` and `high` of the middle LEVEL of its draws, by measure."""
    areas = aopc(table).loc[RANDOM]
    edges = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    return areas.quantile(edges).set_axis(["low", "high"]).T


def over(
    bundle: Bundle,
    rows: Iterable[tuple[int, object]],
    methods: Sequence[str] = (),
    draws: int = 5,
    seed: int = 0,
    steps: int = 16,
) -> Iterator[Part]:
    """A part for each row of a file, whose table has the AOPC of each method and the mean of the control's; who stops
    iterating keeps the parts that came.

    rows: (line, example, or a DataError that says why there is none), as `sources.examples` gives them.  Raises
    InputError for an unknown method.
    """
    methods = known(methods)
    for line, example in rows:
        try:
            if isinstance(example, DataError):
                raise example
            asked = ask(bundle, example)
        except (DataError, InputError) as error:
            yield Part(pd.DataFrame(), (str(error) if error is example else f"line {line}: {error}",), line)
            continue
        areas = aopc(faithful(asked, methods, draws, seed + line, steps)).groupby("method", sort=False).mean()
        told = {"checkpoint": bundle.name, "row": line, "id": str(example.id)[:80], "tokens": asked.roles.tokens}
        yield Part(areas.reset_index().assign(**told), (), line)


def together(bundles: Sequence[Bundle], rows: Iterable[tuple[int, object]], **more) -> Iterator[Part]:
    """`over` for several checkpoints row by row, so that what is stopped compares them still."""
    for row in rows:
        made = [next(over(bundle, [row], **more)) for bundle in bundles]
        yield Part(pd.concat([part.table for part in made], ignore_index=True), made[0].aside, row[0])


def summary(table: pd.DataFrame, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """A row for each checkpoint, method and measure over the rows of a file: `rows`, `mean`, the bootstrap band `low`
    to `high` of it (Efron 1979; LEVEL, percentiles), and of its difference to the control `gain`, `gain_low`,
    `gain_high`, resampled together.
    """
    lots, found = np.random.default_rng(seed), []
    for name, of in table.groupby("checkpoint", sort=False):
        wide = of.pivot(index="row", columns="method")
        at = lots.integers(len(wide), size=(resamples, len(wide)))
        for measure in MEASURES:
            random = wide[measure, RANDOM].to_numpy()
            for method in of["method"].unique():
                values = wide[measure, method].to_numpy()
                told = {"checkpoint": name, "method": method, "measure": measure, "rows": len(wide)}
                for what, one in (("", values), ("gain_", values - random)):
                    low, high = np.quantile(one[at].mean(1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                    told |= {f"{what or 'mean_'}"[:-1]: float(one.mean()), f"{what}low": low, f"{what}high": high}
                found.append(told)
    return pd.DataFrame(found)
