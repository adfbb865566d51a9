"""What is proved of each third-order score on the laboratory's tasks, and whether what was measured agrees.

Of a score it is proved that its weights can, or cannot, single out the true cell in a first layer.  That they can says
that parameters of some size exist, not that training finds them.  That they cannot holds for each head at every size,
and says nothing of the task: even weights hand on which tokens are there, and wide enough layers above can find the
answer in that.  Where nothing is said here, a number is observed and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triattn_core.tasks.laboratory.composition import STRASSEN
from triattn_core.tasks.laboratory.statements import MATCH

POLY = "Chakrabarti et al. 2026, arXiv 2602.02422"
PENG = "Peng et al. 2024, arXiv 2402.08164"
TWO_WAY, ONE_LAYER = "best two-way", "two-way, 1 layer"
LEARNT = 95.0  # per cent of test rows right from which on a seed has learnt a task
CAN, CANNOT, NOT_LONG = "weights can", "weights cannot", "not if long"
MEANING = (
    "Proved is whether the weights of such a score can single out the true cell, at any size: that they can says "
    "nothing of training, and that they cannot nothing of the task. Layers above, wide enough, may still find the "
    "answer without it, even from equal weights"
)


@dataclass(frozen=True)
class Claim:
    """says: CAN or CANNOT, of weights that single out the true cell, or NOT_LONG of an asymptotic bound on the answers
    of a model.  why: in a clause.  source: who proved it."""

    says: str
    why: str
    source: str


_SUMS = Claim(
    CANNOT,
    "every two of its tokens are as frequent in true cells as in all, so a sum of scores of two has the same mean over "
    "both, and cannot rank every true cell first",
    "by counting, over all triples of the task",
)
_PAIRS = Claim(CAN, "one two-way layer is enough, and a score that passes over the context is one", MATCH)
CLAIMS: dict[tuple[str, str], Claim] = {
    **{
        (task, score): _SUMS
        for task in ("false-friends", "planted-sum", "planted-xor")
        for score in ("strassen", "tree")
    },
    ("planted-xor", "scaled_dot"): Claim(
        CAN, "with bits ±1, −Σ q k c is larger on the true cell than on any other", "constructed in the laboratory"
    ),
    ("function-composition", "strassen"): Claim(CAN, "one layer composes two functions", STRASSEN),
    ("function-composition", "tree"): Claim(CAN, "one layer composes two functions, in the time of two maps", POLY),
    ("function-composition", ONE_LAYER): Claim(
        NOT_LONG, "one layer fails once values are many for its width, heads and precision", PENG
    ),
    ("relation-composition", "strassen"): Claim(CAN, "one layer composes a relation with itself", STRASSEN),
    ("relation-composition", "triangle"): Claim(
        CAN, "its score reads the first flight and the second of each change", "by construction"
    ),
    ("relation-composition", ONE_LAYER): Claim(
        NOT_LONG, "one layer of constant width fails for all pairs of cities at once", STRASSEN
    ),
    **{("match2", score): _PAIRS for score in ("scaled_dot", "determinant", "additive", "strassen", "tree")},
    ("match3", "strassen"): Claim(CAN, "one layer of enough size, in heads too, finds the three numbers", STRASSEN),
    ("match3", ONE_LAYER): Claim(
        NOT_LONG, "width, heads and precision of one layer must grow with the length", f"{MATCH}; {STRASSEN}"
    ),
}


OPEN = "why training misses it is open"
EXPLAINED = {  # where it is not open why a score that can does not
    ("match3", "strassen"): "one head asks for one multiple of the modulus; more heads get more, see the results"
}


def agreement(task: str, score: str, accuracy: Sequence[float]) -> str:
    """A clause that holds measured accuracies, a seed each and in per cent, against what is proved; empty where both
    agree or nothing is proved."""
    claim, learnt = CLAIMS.get((task, score)), sum(value >= LEARNT for value in accuracy)
    missing = len(accuracy) - learnt
    if claim is not None and claim.says == CANNOT and learnt:
        return f"{learnt} of {len(accuracy)} seeds learnt it: not by weights that single out the true cell"
    if claim is not None and claim.says == CAN and missing:
        why = EXPLAINED.get((task, score), OPEN)
        return f"{CAN}, and {missing} of {len(accuracy)} seeds did not learn it: {why}"
    return ""
