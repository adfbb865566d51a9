"""The family of third-order scores: who proposed which, and how far each comes on the laboratory's tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import linear_regression
from typing import Any

from triattn_core.checkpoint.registry import Entry, laboratory_checkpoints
from triattn_core.results.laboratory import laboratory_records, seed_tests, training_steps
from triattn_core.results.run_records import SHIPPED, Record
from triattn_core.results.third_order_theory import ONE_LAYER, TWO_WAY


@dataclass(frozen=True)
class Score:
    """One score of three tokens.

    name: in configs.  label: on pages and in tables.  equation: HTML.  source: who proposed it, and where.
    reads_three: whether a term of it reads all three tokens.  sums: over what its weights add up to one.
    """

    name: str
    label: str
    equation: str
    source: str
    reads_three: bool
    sums: str = "all pairs of key and context"


FAMILY = {
    score.name: score
    for score in (
        Score(
            "scaled_dot",
            "product",
            "Σ<sub>d</sub> q<sub>d</sub> k<sub>d</sub> c<sub>d</sub> / √D",
            "Tri-Attention, Eq. 12; 2-simplicial attention, Clift et al. 2019, arXiv 1909.00668",
            True,
        ),
        Score(
            "determinant",
            "determinant",
            "Σ det[q, k, c] / √D, of blocks of three features",
            "2-simplicial attention, Clift et al. 2019, arXiv 1909.00668; Roy et al. 2025, arXiv 2507.02754",
            True,
        ),
        Score("additive", "additive", "p · tanh(Wq + Uk + Hc)", "Tri-Attention, Eq. 10", True),
        Score(
            "strassen",
            "Strassen",
            "(q·k + q·c + k·c) / √D",
            "Strassen attention, Kozachinskiy et al. 2025, arXiv 2501.19215",
            False,
        ),
        Score(
            "tree",
            "tree",
            "(q·k + k·c) / √D",
            "poly-attention, Chakrabarti et al. 2026, arXiv 2602.02422",
            False,
        ),
    )
}
# No score of TriAttention: its tokens are pairs, and each pair has a softmax of its own.
TRIANGLE = Score(
    "triangle",
    "triangle",
    "q<sub>ij</sub> · k<sub>kj</sub> / √D + b<sub>ki</sub>",
    "triangle attention around the ending node, Jumper et al. 2021, supplement, Algorithm 14",
    True,
    "the third node k alone",
)
MEMBERS = {**FAMILY, TRIANGLE.name: TRIANGLE}
PLANTED, MATCHED = ("false-friends", "planted-sum", "planted-xor"), ("match2", "match3")
TASKS = (*PLANTED, "function-composition", "relation-composition", *MATCHED)
RELATIVES = ("determinant", "strassen", "tree")  # scores that others proposed


@dataclass(frozen=True)
class Reached:
    """Test accuracy, and weight on the true cells, in per cent, of each seed; None where two-way weights have no such
    cells.  model: which one it is, of two-way attention."""

    accuracy: tuple[float, ...]
    mass: tuple[float, ...] | None
    steps: int
    model: str = ""


def reached() -> dict[tuple[str, str], Reached]:
    """By (task, score), what one layer of Tri-Attention reached with each score of FAMILY in the steps of the task's
    Tri-Attention, what triangle attention did where tokens are pairs, under TWO_WAY the best of the two-way models in
    as many, and under ONE_LAYER one layer of two-way attention, of which theorems speak."""
    records, entries = laboratory_records(), laboratory_checkpoints()
    table: dict[tuple[str, str], Reached] = {}
    for task in TASKS:
        own = [entry for entry in entries if entry.config["task"] == task and entry.problem is None]
        tri = [entry for entry in own if entry.config["model"]["mechanism"] == "tri"]
        if not tri:
            continue
        steps = training_steps(tri[-1].config)
        for name in FAMILY:
            if tests := _tests_of(name, tri, records, task):
                table[task, name] = _reached(tests, steps, cells=True)
        two_way = {
            _two_way_label(entry): list(seed_tests(entry, records).values())
            for entry in own
            if entry.config["model"]["mechanism"] in ("bi_joint", "cbi") and training_steps(entry.config) == steps
        }
        for entry in own:
            if entry.config["model"]["mechanism"] == TRIANGLE.name:
                table[task, TRIANGLE.name] = _reached(list(seed_tests(entry, records).values()), steps, cells=False)
        columns = {label: _reached(tests, steps, cells=False, model=label) for label, tests in two_way.items() if tests}
        if columns:
            table[task, TWO_WAY] = max(columns.values(), key=lambda cell: sum(cell.accuracy) / len(cell.accuracy))
        if ONE_LAYER in columns:
            table[task, ONE_LAYER] = columns[ONE_LAYER]
    return table


def _two_way_label(entry: Entry) -> str:
    """Which two-way model it is."""
    model = entry.config["model"]
    layers = model["layers"]
    return "C-Bi" if model["mechanism"] == "cbi" else f"two-way, {layers} layer{'s' * (layers > 1)}"


def _tests_of(name: str, tri: Sequence[Entry], records: Sequence[Record], task: str) -> list[Mapping]:
    """The tests of a score by seed: of its checkpoint, else of sweeps that changed nothing but the score."""
    for entry in tri:
        if entry.config["model"]["similarity"] == name:
            return list(seed_tests(entry, records).values())
    swept = [
        record.entry.metrics["each_seed"]
        for record in records
        if record.changed == {"model.similarity": name} and record.entry.config["task"] == task
    ]
    return [seed["test"] for seeds in swept for seed in seeds if "test" in seed]


def _reached(tests: Sequence[Mapping], steps: int, cells: bool, model: str = "") -> Reached:
    mass = tuple(test["mass"] for test in tests) if cells else None
    return Reached(tuple(test["accuracy"] for test in tests), mass, steps, model)


def cost() -> dict[str, Any] | None:
    """What `python -m tests.bench.third_order` last recorded; None where nothing is."""
    path = SHIPPED / "third-order-cost.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def doublings(seconds: Mapping[int, float]) -> list[float]:
    """By length, seconds: the powers of the length at which time grew in the last two doublings of it."""
    lengths = sorted(seconds)[-3:]
    return [log2(seconds[long] / seconds[short]) / log2(long / short) for short, long in zip(lengths, lengths[1:])]


def fitted_power(seconds: Mapping[int, float]) -> float:
    """The power of the length at which time grew over the last three lengths: least squares over both logarithms."""
    lengths = sorted(seconds)[-3:]
    fit = linear_regression([log2(length) for length in lengths], [log2(seconds[length]) for length in lengths])
    return fit.slope
