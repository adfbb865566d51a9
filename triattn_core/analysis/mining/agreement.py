"""Agreement of checkpoints: which are right together on how many rows, and whether two differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from triattn_core.analysis.mining.case_rows import Filter
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.analysis.significance import Difference, mcnemar, wilson_interval
from triattn_core.tasks import InputForm, form
from triattn_core.trace.axes import MECHANISM_LABELS, OTHER

# Tri-Attention, section VI-H: "151 pieces of data" of LCQMC's 12,500 test pairs that Tri alone has right, additive.
PAPER = {"only Tri": {1: 49, 0: 102}}

OTHERS = ("series_2", "series_3", "series_4")  # colours of models of others


def short_names(cases: Cases) -> list[str]:
    """Short names of the checkpoints: their mechanisms if these are distinct; of a model of others its own name."""
    mechanisms = [
        one.name if one.mechanism == OTHER else MECHANISM_LABELS.get(one.mechanism, one.mechanism)
        for one in cases.about.checkpoints
    ]
    return mechanisms if len(set(mechanisms)) == len(mechanisms) else cases.names


def colours(cases: Cases) -> list[str]:
    """The palette's name of each checkpoint's colour: that of its mechanism; models of others are told apart."""
    free = iter(OTHERS * len(cases.about.checkpoints))
    return [next(free) if one.mechanism == OTHER else one.mechanism for one in cases.about.checkpoints]


def right_combinations(cases: Cases) -> pd.DataFrame:
    """A row for each combination of checkpoints that are right, over labelled rows: all, none, single ones, then more.

    Index: its name ("only Tri", "Bi and Tri", …).  Columns: a bool for each checkpoint by its short name, `rows`, and
    of pairs `label 0` and `label 1`, the rows of each gold label.
    """
    names, groups = short_names(cases), cases.labelled_groups
    codes = sum(
        (groups[f"{name} right"].to_numpy(int) << i for i, name in enumerate(cases.names)),
        start=np.zeros(len(groups), int),
    )
    rows = {}
    for members in _all_members(len(names)):
        matching = groups[codes == sum(1 << i for i in members)]
        counts = {"rows": int(matching["n"].sum())}
        if form(cases.about.task) is InputForm.PAIR:
            counts |= {f"label {label}": int(matching.loc[matching["label"] == label, "n"].sum()) for label in (0, 1)}
        rows[combination_name(names, members)] = {**{name: i in members for i, name in enumerate(names)}, **counts}
    return pd.DataFrame.from_dict(rows, orient="index")


def _all_members(size: int) -> list[tuple[int, ...]]:
    """The combinations in the order of `right_combinations`."""
    counts = (size, 0, *range(1, size))
    return [members for count in counts for members in reversed(list(combinations(range(size), count)))]


def combination_filter(cases: Cases, name: str) -> Filter:
    """The rows of a combination of `right_combinations` by its name."""
    titles = short_names(cases)
    members = {combination_name(titles, numbers): numbers for numbers in _all_members(len(titles))}[name]
    right = {f"{name} right": [i in members] for i, name in enumerate(cases.names)}
    return Filter(equal=right, between={"label": (0, np.inf)})


def combination_name(names: list[str], members) -> str:
    """A combination in words, as the paper's "only Tri"."""
    if len(members) in (0, len(names)):
        return "none" if not members else "both" if len(names) == 2 else {3: "all three", 4: "all four"}[len(names)]
    return f"only {names[members[0]]}" if len(members) == 1 else " and ".join(names[i] for i in members)


def mcnemar_tests(cases: Cases) -> list[Difference]:
    """McNemar's exact test of every pair, with Holm's correction; empty without labelled rows."""
    groups = cases.labelled_groups
    right = [groups[f"{name} right"].to_numpy(bool) for name in cases.names]
    return mcnemar(short_names(cases), right, groups["n"].to_numpy()) if len(groups) else []


def cohen_kappa(
    left: Sequence[int] | np.ndarray, right: Sequence[int] | np.ndarray, counts: np.ndarray | None = None
) -> float:
    """Cohen's kappa of two raters' answers (Cohen 1960): (p_o - p_e) / (1 - p_e), with p_o the share of rows in which
    they agree and p_e the agreement expected by chance.  counts: how many rows each of them stands for.

    NaN without rows, and if both always give the same single answer.
    """
    a, b = np.asarray(left), np.asarray(right)
    number = np.ones(len(a), int) if counts is None else np.asarray(counts)
    if not (total := number.sum()):
        return float("nan")
    chance = sum(number[a == label].sum() / total * (number[b == label].sum() / total) for label in np.union1d(a, b))
    return float((number[a == b].sum() / total - chance) / (1 - chance)) if chance < 1 else float("nan")


def comparison_column(cases: Cases) -> str:
    """The column in which two checkpoints are compared: "answer", or "right" for questions, whose answers are spans:
    kappa over spans has no meaning."""
    return "right" if form(cases.about.task) is InputForm.PASSAGE and cases.num_labelled else "answer"


def disagreement_filter(cases: Cases, a: str, b: str) -> Filter:
    """The rows that two checkpoints, by name, answer differently; of questions, those that exactly one has right."""
    column = comparison_column(cases)
    return Filter(differ=(f"{a} {column}", f"{b} {column}"))


def pairwise_agreement(cases: Cases) -> pd.DataFrame:
    """One row per pair of checkpoints: how often they agree over all rows, and the flips on labelled rows.

    Columns: `a`, `b` (short names), `same` (share of rows with the same answer), `kappa` (of `comparison_column`; NaN
    for questions without answers), `flips` (their number, see `flips`);
    for labelled rows also `only a` and `only b` (rows that only one has right) and `p` (McNemar, after Holm).
    """
    titles, compared, groups = short_names(cases), comparison_column(cases), cases.groups
    tests = {(test.a, test.b): test for test in mcnemar_tests(cases)}
    rated = cases.labelled_groups if form(cases.about.task) is InputForm.PASSAGE else groups
    rows = []
    for (title_a, a), (title_b, b) in combinations(zip(titles, cases.names), 2):
        same_answer = groups.loc[groups[f"{a} answer"] == groups[f"{b} answer"], "n"].sum() / max(1, groups["n"].sum())
        row = {"a": title_a, "b": title_b, "same": float(same_answer)}
        row["kappa"] = cohen_kappa(
            *(rated[column].to_numpy() for column in (f"{a} {compared}", f"{b} {compared}", "n"))
        )
        row["flips"] = int(groups.loc[groups[f"{a} {compared}"] != groups[f"{b} {compared}"], "n"].sum())
        if (pair_test := tests.get((title_a, title_b))) is not None:
            row |= {"only a": pair_test.only_a, "only b": pair_test.only_b, "p": pair_test.adjusted}
        rows.append(row)
    return pd.DataFrame(rows)


def score_table(cases: Cases) -> pd.DataFrame:
    """Scores of each checkpoint on labelled rows, by short name: `right` in per cent, with Wilson's 95 % interval
    (Wilson 1927) as `from` and `to`; `f1` in per cent, for pairs of label 1, for questions the mean over rows; and over
    all rows `confidence`, the mean probability of its answers.  NaN without labelled rows."""
    groups, n, scores = cases.labelled_groups, cases.num_labelled, {}
    for title, name in zip(short_names(cases), cases.names):
        right = int(groups.loc[groups[f"{name} right"], "n"].sum())
        low, high = wilson_interval(right, n)
        row = {"right": 100 * right / n if n else np.nan, "from": 100 * low, "to": 100 * high}
        if form(cases.about.task) is InputForm.PAIR:
            predicted, labelled = groups[f"{name} answer"] == 1, groups["label"] == 1
            positives = groups.loc[predicted, "n"].sum() + groups.loc[labelled, "n"].sum()
            both = groups.loc[predicted & labelled, "n"].sum()
            row["f1"] = 200 * both / positives if positives else np.nan
        if form(cases.about.task) is InputForm.PASSAGE:
            row["f1"] = 100 * float(groups[f"{name} f1"].sum() / n) if n else np.nan
        confidence = cases.groups[f"{name} confidence"].sum() / max(1, cases.groups["n"].sum())
        scores[title] = row | {"confidence": float(confidence)}
    return pd.DataFrame.from_dict(scores, orient="index")


def split_first(cases: Cases, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, those first in which most checkpoints are on the smaller side of right and wrong; a row without a label
    has none there."""
    right = rows[[f"{name} right" for name in cases.names]].to_numpy(int).sum(1)
    smaller = np.where(rows["label"] >= 0, np.minimum(right, len(cases.names) - right), 0)
    return rows.iloc[np.argsort(-smaller, kind="stable")]


def accuracy(cases: Cases) -> dict[str, float]:
    """The accuracy in per cent by short name, over labelled rows."""
    groups = cases.labelled_groups
    right = {name: groups.loc[groups[f"{name} right"], "n"].sum() for name in cases.names}
    return {title: 100 * float(right[name] / groups["n"].sum()) for title, name in zip(short_names(cases), cases.names)}
