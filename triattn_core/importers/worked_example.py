"""A cube that the page Open begins with: made by a formula, so that what it shows is known."""

from __future__ import annotations

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.open import trace_of

SEQUENCE = "GIVEQCCTSICSLYQLENYC"  # the A chain of human insulin without its last residue, N
WIDTHS = (4.0, 8.0)  # ångström: how fast the weight of a triangle falls, by head
NAMES = {"query": "residue i", "key": "residue j", "context": "residue k"}


def example_trace() -> AttentionTrace:
    """Triangles of residues on an ideal helix, two heads: A[i,j,k] falls with the circumference of i, j and k.

    A[i] is the softmax over j × k of -(d(i,j) + d(j,k) + d(k,i)) / width, distances d between points of an α-helix
    (rise 1.5 Å, 100° and 2.3 Å radius a residue); d(i,i) is 8 Å, so that no triangle is a point.
    """
    at = np.arange(len(SEQUENCE))
    turn = np.deg2rad(100) * at
    points = np.stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), 1.5 * at], -1)
    far = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(far, 8.0)
    around = far[:, :, None] + far[None] + far[:, None, :]
    scores = np.stack([-around / width for width in WIDTHS])
    residues = [f"{letter}{i + 1}" for i, letter in enumerate(SEQUENCE)]
    tokens = dict.fromkeys(NAMES, residues)
    made = {"quantity": "relevance", "axes": ("head", *NAMES), "names": NAMES}
    return trace_of(scores, **tokens, **made, source="worked example: triangles on a helix")
