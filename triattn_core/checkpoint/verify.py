"""Verification of a checkpoint: digest, shapes, and its recorded prediction on its recorded example."""

from __future__ import annotations

from dataclasses import dataclass

from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.errors import TriattnError
from triattn_core.inference.explain import explain

TOLERANCE = 1e-3  # of a probability: float32 on another processor


@dataclass(frozen=True)
class Check:
    """One line of a verification."""

    name: str
    actual: str
    expected: str
    good: bool


def verify(name: str, device: str | None = None) -> list[Check]:
    """Verify a checkpoint; a folder that cannot be loaded is one failed check."""
    try:
        bundle = load(name, device)
    except TriattnError as error:
        return [Check("loads", str(error), "a sound folder", False)]
    count = len(bundle.model.state_dict())
    recorded = bundle.config.digest or ""
    checks = [
        Check("tensor digest", bundle.digest[:12], recorded[:12] or "none recorded", bundle.digest == recorded),
        Check("shapes", f"{count} of {count}", "fit the config", True),
    ]
    return checks + _example(bundle)


def example_record(bundle: Bundle, example) -> dict:
    """The entry for one example in metrics.json: its row and the probabilities."""
    prediction, _ = explain(bundle, example, keep_site=lambda site: False)
    return {"row": bundle.task.row(example), "probabilities": [round(p, 6) for p in prediction.recorded]}


def _example(bundle: Bundle) -> list[Check]:
    recorded = bundle.metrics.get("example")
    if not recorded:
        return [Check("recorded example", "none recorded", "an example in metrics.json", False)]
    probabilities = example_record(bundle, bundle.task.Example.from_row(recorded["row"]))["probabilities"]
    good = all(abs(a - b) <= TOLERANCE for a, b in zip(probabilities, recorded["probabilities"], strict=True))
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    return [Check("recorded example", f"{probabilities[best]:.4f}", f"{recorded['probabilities'][best]:.4f}", good)]
