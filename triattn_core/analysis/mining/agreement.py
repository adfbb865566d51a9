"""Agreement of checkpoints: which are right together on how many rows, and whether two differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from triattn_core.analysis.mining.case_table import CaseTable
from triattn_core.analysis.significance import Difference, mcnemar, wilson_interval
from triattn_core.tasks import InputForm, form
from triattn_core.trace.axes import MECHANISM_LABELS

# Tri-Attention, section VI-H: "151 pieces of data" of LCQMC's 12,500 test pairs that Tri alone has right, additive.
PAPER = {"only Tri": {1: 49, 0: 102}}


def short_names(mined: CaseTable) -> list[str]:
    """Short names of the checkpoints: their mechanisms if these are distinct."""
    mechanisms = [
        MECHANISM_LABELS.get(checkpoint.mechanism, checkpoint.mechanism) for checkpoint in mined.about.checkpoints
    ]
    return mechanisms if len(set(mechanisms)) == len(mechanisms) else mined.names


def right_combinations(mined: CaseTable) -> pd.DataFrame:
    """A row for each combination of checkpoints that are right, over labelled rows: all, none, single ones, then more.

    Index: its name ("only Tri", "Bi and Tri", …).  Columns: a bool for each checkpoint by its short name, `rows`, and
    of pairs `label 0` and `label 1`, the rows of each gold label.
    """
    names, row_codes = short_names(mined), combination_codes(mined)
    labels = mined.judged["label"].to_numpy()
    rows = {}
    for size in (len(names), 0, *range(1, len(names))):
        for members in reversed(list(combinations(range(len(names)), size))):
            matching = row_codes == sum(1 << i for i in members)
            counts = {"rows": int(matching.sum())}
            if form(mined.about.task) is InputForm.PAIR:
                counts |= {f"label {label}": int((matching & (labels == label)).sum()) for label in (0, 1)}
            rows[combination_name(names, members)] = {**{name: i in members for i, name in enumerate(names)}, **counts}
    return pd.DataFrame.from_dict(rows, orient="index")


def combination_codes(mined: CaseTable) -> np.ndarray:
    """[labelled rows]: bit i is set if checkpoint i is right."""
    right = [mined.judged[f"{name} right"].to_numpy() for name in mined.names]
    return sum((correct.astype(int) << i for i, correct in enumerate(right)), start=np.zeros(len(mined.judged), int))


def row_combinations(mined: CaseTable) -> pd.Series:
    """The name of each labelled row's combination, by the table's index."""
    names, size = short_names(mined), len(mined.names)
    name_of = {code: combination_name(names, [i for i in range(size) if code >> i & 1]) for code in range(1 << size)}
    return pd.Series([name_of[code] for code in combination_codes(mined)], mined.judged.index, dtype=str)


def combination_name(names: list[str], members) -> str:
    """A combination in words, as the paper's "only Tri"."""
    if len(members) in (0, len(names)):
        return "none" if not members else "both" if len(names) == 2 else {3: "all three", 4: "all four"}[len(names)]
    return f"only {names[members[0]]}" if len(members) == 1 else " and ".join(names[i] for i in members)


def mcnemar_tests(mined: CaseTable) -> list[Difference]:
    """McNemar's exact test of every pair, with Holm's correction; empty without labelled rows."""
    right = [mined.judged[f"{name} right"].tolist() for name in mined.names]
    return mcnemar(short_names(mined), right) if len(mined.judged) else []


def cohen_kappa(left: Sequence[int] | np.ndarray, right: Sequence[int] | np.ndarray) -> float:
    """Cohen's kappa of two raters' answers (Cohen 1960): (p_o - p_e) / (1 - p_e), with p_o the share of rows in which
    they agree and p_e the agreement expected by chance.

    NaN without rows, and if both always give the same single answer.
    """
    a, b = np.asarray(left), np.asarray(right)
    if not len(a):
        return float("nan")
    chance = sum((a == answer).mean() * (b == answer).mean() for answer in np.union1d(a, b))
    return float(((a == b).mean() - chance) / (1 - chance)) if chance < 1 else float("nan")


def comparison_column(mined: CaseTable) -> str:
    """The column in which two checkpoints are compared: "answer", or "right" for questions, whose answers are spans:
    kappa over spans has no meaning."""
    return "right" if form(mined.about.task) is InputForm.PASSAGE and len(mined.judged) else "answer"


def flips(mined: CaseTable, a: str, b: str) -> pd.Series:
    """Whether two checkpoints, by name, answer a row differently; for questions, whether exactly one is right."""
    column = comparison_column(mined)
    return mined.table[f"{a} {column}"] != mined.table[f"{b} {column}"]


def pairwise_agreement(mined: CaseTable) -> pd.DataFrame:
    """One row per pair of checkpoints: how often they agree over all rows, and the flips on labelled rows.

    Columns: `a`, `b` (short names), `same` (share of rows with the same answer), `kappa` (of `comparison_column`; NaN
    for questions without answers), `flips` (their number, see `flips`);
    for labelled rows also `only a` and `only b` (rows that only one has right) and `p` (McNemar, after Holm).
    """
    names, titles = mined.names, short_names(mined)
    tests = {(test.a, test.b): test for test in mcnemar_tests(mined)}
    rated_rows = mined.judged if form(mined.about.task) is InputForm.PASSAGE else mined.table
    rows = []
    for i, j in combinations(range(len(names)), 2):
        a, b = (mined.table[f"{names[k]} answer"].to_numpy() for k in (i, j))
        row = {"a": titles[i], "b": titles[j], "same": float((a == b).mean())}
        row["kappa"] = cohen_kappa(*(rated_rows[f"{names[k]} {comparison_column(mined)}"].to_numpy() for k in (i, j)))
        row["flips"] = int(flips(mined, names[i], names[j]).sum())
        if (pair_test := tests.get((titles[i], titles[j]))) is not None:
            row |= {"only a": pair_test.only_a, "only b": pair_test.only_b, "p": pair_test.adjusted}
        rows.append(row)
    return pd.DataFrame(rows)


def score_table(mined: CaseTable) -> pd.DataFrame:
    """Scores of each checkpoint on labelled rows, by short name: `right` in per cent, with Wilson's 95 % interval
    (Wilson 1927) as `from` and `to`; `f1` in per cent, for pairs of label 1, for questions the mean over rows; and over
    all rows `confidence`, the mean probability of its answers.  NaN without labelled rows."""
    rows, scores = mined.judged, {}
    for title, name in zip(short_names(mined), mined.names):
        right, n = rows[f"{name} right"].to_numpy(bool), len(rows)
        low, high = wilson_interval(int(right.sum()), n)
        row = {"right": 100 * right.mean() if n else np.nan, "from": 100 * low, "to": 100 * high}
        if form(mined.about.task) is InputForm.PAIR:
            answer, label = rows[f"{name} answer"].to_numpy(), rows["label"].to_numpy()
            positives = (answer == 1).sum() + (label == 1).sum()
            row["f1"] = 200 * ((answer == 1) & (label == 1)).sum() / positives if positives else np.nan
        if form(mined.about.task) is InputForm.PASSAGE:
            row["f1"] = 100 * float(rows[f"{name} f1"].mean())
        scores[title] = row | {"confidence": float(mined.table[f"{name} confidence"].mean())}
    return pd.DataFrame.from_dict(scores, orient="index")


def accuracy(mined: CaseTable) -> dict[str, float]:
    """The accuracy in per cent by short name, over labelled rows."""
    rows = mined.judged
    return {title: 100 * float(rows[f"{name} right"].mean()) for title, name in zip(short_names(mined), mined.names)}
