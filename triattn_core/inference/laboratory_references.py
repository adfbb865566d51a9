"""What laboratory models stand between: the same model untrained, and attention that is written down, not learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from triattn_core.analysis.truth import mean_measures, measures, truth_mask
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.laboratory import CELLS, evaluate_laboratory
from triattn_core.models import kinds
from triattn_core.tasks.laboratory import Example

ROWS = 500
SHARPNESS = 5.0  # of the constructed attention: a false cell has at most exp(-10) of the true one's weight


def untrained(bundle: Bundle, seed: int = 1) -> Bundle:
    """The same model with weights as they are drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kinds.build(bundle.config, 0)
    return replace(bundle, model=model.to(bundle.device).eval().requires_grad_(False))


def constructed_xor(example: Example) -> tuple[int, np.ndarray]:
    """The answer and the weights [I, J] of third-order attention in closed form, on a row of the planted XOR.

    Codes as bits of ±1: the sum over bits of q·k·c is 4 where the three cancel, and at most 2 elsewhere.
    """
    (key_codes, key_pays), (context_codes, context_pays) = map(_parts, (example.keys, example.context))
    query = _signs(np.array([int(example.query)]))[0]
    scores = np.einsum("b,ib,jb->ij", query, _signs(key_codes), _signs(context_codes))
    weights = np.exp(SHARPNESS * (scores - scores.max()))
    weights /= weights.sum()
    sums = (key_pays[:, None] + context_pays[None]) % 4
    return int(np.argmax([weights[sums == value].sum() for value in range(4)])), weights


def reference_measures(bundle: Bundle) -> dict[str, dict[str, float]]:
    """By name the measures of `evaluate_laboratory` and the task's baseline, over the first rows of its test seed."""
    rows, chance = list(bundle.task.generate(bundle.config.data.test_seed, ROWS)), bundle.task.baseline()
    found = {"Tri, untrained": evaluate_laboratory(untrained(bundle), rows)["metrics"]}
    if bundle.config.task == "planted-xor":
        found["Constructed"] = _measure_xor(rows)
    return {name: {**metrics, **chance, "n": ROWS} for name, metrics in found.items()}


def _measure_xor(rows: Sequence[Example]) -> dict[str, float]:
    told = [constructed_xor(row) for row in rows]
    means = mean_measures([measures(weights, truth_mask(row, weights.shape)) for row, (_, weights) in zip(rows, told)])
    right = np.mean([answer == row.label for row, (answer, _) in zip(rows, told)])
    shares = {name: round(value * (100 if name in CELLS else 1), 2) for name, value in means.items()}
    return {"accuracy": round(100 * float(right), 2), **shares}


def _parts(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Codes and payloads."""
    return tuple(np.array(column) for column in zip(*(map(int, text.split(":")) for text in texts)))


def _signs(codes: np.ndarray) -> np.ndarray:
    """The four bits of each code [n] as ±1 [n, 4]."""
    return 1 - 2 * (codes[:, None] >> np.arange(4) & 1)
