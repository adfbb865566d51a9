"""Who is right where: the combinations of checkpoints that are right together, and whether two differ by chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from triattn_core.analysis.mined import Mined
from triattn_core.analysis.significance import Difference, on_rows
from triattn_core.axes import MECHANISM_LABELS

# Tri-Attention, section VI-H: "151 pieces of data" of LCQMC's 12,500 test pairs that Tri alone has right, additive.
PAPER = {"only Tri": {1: 49, 0: 102}}


def titles(mined: Mined) -> list[str]:
    """Short names of the checkpoints: their mechanisms where these tell them apart."""
    kinds = [MECHANISM_LABELS.get(one.mechanism, one.mechanism) for one in mined.about.checkpoints]
    return kinds if len(set(kinds)) == len(kinds) else mined.names


def eight_way(mined: Mined) -> pd.DataFrame:
    """A row for each combination of who is right, over the rows that have a label: all, none, one alone, then more.

    Index: its name ("only Tri", "Bi and Tri", …).  Columns: a bool for each checkpoint by its short name, `rows`, and
    of pairs `label 0` and `label 1`, the rows of each gold label.
    """
    names, of = titles(mined), codes(mined)
    labels = mined.judged["label"].to_numpy()
    found = {}
    for size in (len(names), 0, *range(1, len(names))):
        for some in reversed(list(combinations(range(len(names)), size))):
            here = of == sum(1 << i for i in some)
            counts = {"rows": int(here.sum())}
            if mined.about.task == "pairs":
                counts |= {f"label {one}": int((here & (labels == one)).sum()) for one in (0, 1)}
            found[called(names, some)] = {**{name: i in some for i, name in enumerate(names)}, **counts}
    return pd.DataFrame.from_dict(found, orient="index")


def codes(mined: Mined) -> np.ndarray:
    """[judged rows] of who is right: bit i is set where checkpoint i is."""
    right = [mined.judged[f"{name} right"].to_numpy() for name in mined.names]
    return sum((one.astype(int) << i for i, one in enumerate(right)), start=np.zeros(len(mined.judged), int))


def combination(mined: Mined) -> pd.Series:
    """The name of each judged row's combination, by the table's index."""
    names, size = titles(mined), len(mined.names)
    known = {code: called(names, [i for i in range(size) if code >> i & 1]) for code in range(1 << size)}
    return pd.Series([known[code] for code in codes(mined)], mined.judged.index, dtype=str)


def called(names: list[str], some) -> str:
    """A combination in words; the paper's "only Tri"."""
    if len(some) in (0, len(names)):
        return "none" if not some else "both" if len(names) == 2 else {3: "all three", 4: "all four"}[len(names)]
    return f"only {names[some[0]]}" if len(some) == 1 else " and ".join(names[i] for i in some)


def differences(mined: Mined) -> list[Difference]:
    """McNemar's exact test of every two, with Holm's correction; empty where no row has a label."""
    right = [mined.judged[f"{name} right"].tolist() for name in mined.names]
    return on_rows(titles(mined), right) if len(mined.judged) else []


def accuracy(mined: Mined) -> dict[str, float]:
    """Per cent right by short name, of the rows that have a label."""
    rows = mined.judged
    return {title: 100 * float(rows[f"{name} right"].mean()) for title, name in zip(titles(mined), mined.names)}
