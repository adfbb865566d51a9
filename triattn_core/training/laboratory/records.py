"""What is measured of a trained laboratory model: dev and test rows, generated anew from their seeds."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.laboratory import SET, evaluate_laboratory


def measure_laboratory(bundle: Bundle, splits: Sequence[str] = ("dev", "test")) -> dict:
    """`{"dev": …, "test": …}`: the set, accuracy and measures against truth, n, chance, and the shares of quadrants."""
    data, task, metrics = bundle.config.data, bundle.task, {}
    for split in splits:
        seed, rows = getattr(data, f"{split}_seed"), getattr(data, f"{split}_rows")
        result = evaluate_laboratory(bundle, task.generate(seed, rows))
        about = {"set": f"{SET}{task.NAME}, seed {seed}", **result["metrics"], "n": result["n"], **task.baseline()}
        metrics[split] = about | {"quadrants": result["quadrants"]}
    return metrics
