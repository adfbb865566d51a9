"""Who is right where: the combinations of checkpoints that are right together, and whether two differ by chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from triattn_core.analysis.mined import Mined
from triattn_core.analysis.significance import Difference, on_rows
from triattn_core.axes import MECHANISM_LABELS
from triattn_core.tasks import questions

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


def kappa(left: Sequence[int] | np.ndarray, right: Sequence[int] | np.ndarray) -> float:
    """Cohen's kappa of two raters' answers (Cohen 1960): (p_o - p_e) / (1 - p_e), p_o the share of rows in which they
    answer the same, p_e that of two who answer as often but by chance.

    NaN without a row, and where both give one and the same answer always: then chance explains all.
    """
    a, b = np.asarray(left), np.asarray(right)
    if not len(a):
        return float("nan")
    chance = sum((a == one).mean() * (b == one).mean() for one in np.union1d(a, b))
    return float(((a == b).mean() - chance) / (1 - chance)) if chance < 1 else float("nan")


def judged_by(mined: Mined) -> str:
    """The column that two checkpoints are compared by: "answer", or "right" of questions, whose answers are spans of
    passages of their own: there two rarely agree by chance, and kappa over spans has no meaning."""
    return "right" if mined.about.task == questions.NAME and len(mined.judged) else "answer"


def flips(mined: Mined, a: str, b: str) -> pd.Series:
    """Whether two, by name, answer a row differently; of questions whether one alone has it right."""
    by = judged_by(mined)
    return mined.table[f"{a} {by}"] != mined.table[f"{b} {by}"]


def two_by_two(mined: Mined) -> pd.DataFrame:
    """A row for each two checkpoints, over all rows: how alike they answer, and of judged rows who flips.

    Columns: `a`, `b` (short names), `same` (share of rows with the same answer), `kappa` (by `judged_by`; NaN of
    questions without an answer), `flips` (how many, see there);
    where rows are judged `only a` and `only b` (rows that one alone has right) and `p` (McNemar, after Holm).
    """
    names, short = mined.names, titles(mined)
    tests = {(one.a, one.b): one for one in differences(mined)}
    rated = mined.judged if mined.about.task == questions.NAME else mined.table
    found = []
    for i, j in combinations(range(len(names)), 2):
        a, b = (mined.table[f"{names[k]} answer"].to_numpy() for k in (i, j))
        row = {"a": short[i], "b": short[j], "same": float((a == b).mean())}
        row["kappa"] = kappa(*(rated[f"{names[k]} {judged_by(mined)}"].to_numpy() for k in (i, j)))
        row["flips"] = int(flips(mined, names[i], names[j]).sum())
        if (one := tests.get((short[i], short[j]))) is not None:
            row |= {"only a": one.only_a, "only b": one.only_b, "p": one.adjusted}
        found.append(row)
    return pd.DataFrame(found)


def reached(mined: Mined) -> pd.DataFrame:
    """What each checkpoint reached on the judged rows, by its short name: `right` in per cent with the ends of Wilson's
    95 % interval (Wilson 1927) `from` and `to`, of pairs `f1` of label 1 in per cent, of questions the mean F1 of rows,
    and over all rows `confidence`, the mean probability of its answers.  Of no judged row the numbers are NaN."""
    rows, found = mined.judged, {}
    for title, name in zip(titles(mined), mined.names):
        right, n = rows[f"{name} right"].to_numpy(bool), len(rows)
        ends = binomtest(int(right.sum()), n).proportion_ci(0.95, "wilson") if n else (np.nan, np.nan)
        row = {"right": 100 * right.mean() if n else np.nan, "from": 100 * ends[0], "to": 100 * ends[1]}
        if mined.about.task == "pairs":
            answer, label = rows[f"{name} answer"].to_numpy(), rows["label"].to_numpy()
            said = (answer == 1).sum() + (label == 1).sum()
            row["f1"] = 200 * ((answer == 1) & (label == 1)).sum() / said if said else np.nan
        if mined.about.task == questions.NAME:
            row["f1"] = 100 * float(rows[f"{name} f1"].mean())
        found[title] = row | {"confidence": float(mined.table[f"{name} confidence"].mean())}
    return pd.DataFrame.from_dict(found, orient="index")


def accuracy(mined: Mined) -> dict[str, float]:
    """Per cent right by short name, of the rows that have a label."""
    rows = mined.judged
    return {title: 100 * float(rows[f"{name} right"].mean()) for title, name in zip(titles(mined), mined.names)}
