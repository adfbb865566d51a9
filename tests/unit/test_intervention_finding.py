"""The sentence that leads an intervention: what happened to the answer and to the attention."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from triattn_core.scenes.intervene_text import describe_finding


def result(before: float, after: float) -> SimpleNamespace:
    sides = [
        SimpleNamespace(
            prediction=SimpleNamespace(
                labels=("not duplicate", "duplicate"), probabilities=(1 - p, p), best=int(p > 0.5), option=0
            )
        )
        for p in (before, after)
    ]
    return SimpleNamespace(
        before=sides[0], after=sides[1], flipped=sides[0].prediction.best != sides[1].prediction.best
    )


@pytest.mark.parametrize(
    ("after", "bits", "lead"),
    [
        (0.2, 0.00006, "The answer flipped, the attention hardly moved: "),
        (0.2, 0.3, "The answer flipped, and the attention moved: "),
        (0.7, 0.00006, "The answer moved, the attention hardly: "),
        (0.7, 0.3, "The answer moved, and the attention moved too: "),
        (0.91, 0.3, "The attention moved, the answer hardly: "),
        (0.91, 0.0, "Answer and attention hardly moved: "),
    ],
)
def test_what_moved_is_said_first(after, bits, lead):
    sentence = describe_finding(result(0.9, after), bits)
    assert sentence.startswith(lead)
    assert (
        f"probability of “duplicate” 0.900 before, {after:.3f} after; attention moved by {bits:.2g} bits." in sentence
    )
