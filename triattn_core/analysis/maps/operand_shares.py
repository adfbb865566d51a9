"""How much of the scores of *which two numbers make this one?* reads the number made and both operands together.

Functional ANOVA (`analysis.maps.anova`) of the relevance over the numbers that may be asked for (those that two of the
problem's numbers make, and its own), first and second operand; a pair of a number with itself is left out.  Where each
operand has a softmax of its own, the relevance of a pair is the sum of two, up to what is equal for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from triattn_core.analysis.maps.anova import variance_shares
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.inference.evaluate import verdicts
from triattn_core.tasks.operands.example import Example
from triattn_core.tasks.operands.typed_problem import made_numbers
from triattn_core.trace.site import Site

PARTS = {  # what of the variance that the softmax sees
    "one_number": ("key", "context"),
    "made_and_one": ("query_key", "query_context"),
    "two_numbers": ("key_context",),
    "three_way": ("three_way",),
}


def relevance_cubes(bundle: Bundle, example: Example) -> np.ndarray:
    """[heads, numbers asked for, n, n]: the relevance of each ordered pair of the example's numbers."""
    asked = dict.fromkeys((example.result, *made_numbers(example.numbers)))
    rows = bundle.task.roles(
        [replace(example, result=value) for value in asked], bundle.tokenizer, bundle.config.limits
    )
    first = Site(layer=bundle.config.model.before, role="a_over_b", quantity="relevance")
    with recording(lambda site: site.quantity == "relevance" and site.layer == first.layer) as record:
        bundle.logits(bundle.batch([row for (row,) in rows]))
    found = record.sites[first].tensor[:, :, 0].double().cpu().numpy()
    if found.ndim == 3:
        second = record.sites[replace(first, role="a_over_c")].tensor[:, :, 0].double().cpu().numpy()
        found = found[..., :, None] + second[..., None, :]
    return found.swapaxes(0, 1)


def shares(bundle: Bundle, example: Example) -> dict[str, float]:
    """The share of each of PARTS, in per cent, mean over heads."""
    cubes = relevance_cubes(bundle, example)
    apart = ~np.eye(cubes.shape[-1], dtype=bool)
    found = variance_shares(cubes, np.broadcast_to(apart, cubes.shape))
    return {name: 100 * sum(float(found[term].mean()) for term in terms) for name, terms in PARTS.items()}


def measure_shares(
    bundle: Bundle, examples: Sequence[Example], progress: Callable[[int], object] = lambda count: None
) -> dict:
    """{"n", "metric", "score", "shares": {part: {"mean", "untrained"}}}: means over the labelled examples, in per cent.

    Raises InputError if no example is labelled.
    """
    examples = [example for example in examples if example.truth]
    if not examples:
        raise InputError("no row has its pair: nothing to measure")
    (judged,) = verdicts([bundle], examples)
    metric, score = next(iter(bundle.task.metrics(judged).items()))
    untrained, measured = bundle.untrained(), []
    for example in examples:
        measured.append((shares(bundle, example), shares(untrained, example)))
        progress(1)
    table = {
        name: {
            "mean": round(fmean(own[name] for own, _ in measured), 2),
            "untrained": round(fmean(other[name] for _, other in measured), 2),
        }
        for name in PARTS
    }
    return {"n": len(examples), "metric": metric, "score": score, "shares": table}
