"""What laboratory models stand between: the same model untrained, and answers that are written down, not learnt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from triattn_core.analysis.truth import mean_measures, measures, quadrants, truth_mask
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.parts import LaboratoryData
from triattn_core.inference.laboratory import CELLS, evaluate_laboratory
from triattn_core.tasks.laboratory import Example

ROWS = 500  # for a model
RULE_ROWS = 4000  # for what is written down
SHARPNESS = 5.0  # of the constructed attention: a false cell has at most exp(-10) of the true one's weight


def constructed_xor(example: Example) -> tuple[int, np.ndarray]:
    """The answer and the weights [I, J] of third-order attention in closed form, on a row of the planted XOR.

    Codes as bits of ±1: the sum over bits of q·k·c is 4 where the three cancel, and at most 2 elsewhere.
    """
    (key_codes, _), (context_codes, _) = map(_parts, (example.keys, example.context))
    query = _signs(np.array([int(example.query)]))[0]
    scores = np.einsum("b,ib,jb->ij", query, _signs(key_codes), _signs(context_codes))
    weights = np.exp(SHARPNESS * (scores - scores.max()))
    weights /= weights.sum()
    return _vote(example, weights), weights


def counts_alone(example: Example) -> tuple[int, np.ndarray]:
    """The likeliest answer to a row of a planted task where codes are not read, and its weights [I, J]: even ones.

    Each of the I·J pairs is as likely to be the true one, so the best answer is the most frequent sum of payloads.
    """
    shape = len(example.keys), len(example.context)
    weights = np.full(shape, 1 / np.prod(shape))
    return _vote(example, weights), weights


def _vote(example: Example, weights: np.ndarray) -> int:
    """The sum of payloads, modulo 4, with the most weight [I, J]; the smallest of several."""
    (_, key_pays), (_, context_pays) = map(_parts, (example.keys, example.context))
    sums = (key_pays[:, None] + context_pays[None]) % 4
    return int(np.argmax([weights[sums == value].sum() for value in range(4)]))


Rule = Callable[[Example], tuple[int, np.ndarray]]
RULES: dict[str, dict[str, Rule]] = {
    "planted-sum": {"Counts of payloads": counts_alone},
    "planted-xor": {"Counts of payloads": counts_alone, "Constructed": constructed_xor},
}


def reference_measures(bundle: Bundle) -> dict[str, dict[str, Any]]:
    """By name the measures and `quadrants` of `evaluate_laboratory`, and the baseline of the task, over `n` rows of its
    test seed."""
    rules, chance = RULES.get(bundle.config.task, {}), bundle.task.baseline()
    data = bundle.config.data
    assert isinstance(data, LaboratoryData), bundle.name
    rows = list(bundle.task.generate(data.test_seed, RULE_ROWS if rules else ROWS))
    start = evaluate_laboratory(bundle.untrained(seed=1), rows[:ROWS])
    references = {"Tri, untrained": {**start["metrics"], "quadrants": start["quadrants"], "n": ROWS}}
    references |= {name: _measure(rule, rows) for name, rule in rules.items()}
    return {name: {**metrics, **chance} for name, metrics in references.items()}


def _measure(rule: Rule, rows: Sequence[Example]) -> dict[str, Any]:
    answers = [rule(row) for row in rows]
    each = [measures(weights, truth_mask(row, weights.shape)) for row, (_, weights) in zip(rows, answers)]
    right = [answer == row.label for row, (answer, _) in zip(rows, answers)]
    shares = {name: round(value * (100 if name in CELLS else 1), 2) for name, value in mean_measures(each).items()}
    looked = quadrants(right, [row["hit_at_1"] == 1 for row in each])
    percent = {name: round(100 * share, 2) for name, share in looked.items()}
    return {"accuracy": round(100 * float(np.mean(right)), 2), **shares, "quadrants": percent, "n": len(rows)}


def _parts(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Codes and payloads."""
    codes, payloads = zip(*(map(int, text.split(":")) for text in texts))
    return np.array(codes), np.array(payloads)


def _signs(codes: np.ndarray) -> np.ndarray:
    """The four bits of each code [n] as ±1 [n, 4]."""
    return 1 - 2 * (codes[:, None] >> np.arange(4) & 1)
