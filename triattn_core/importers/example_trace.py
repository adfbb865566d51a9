"""The example cube of the page Open, made by a formula, so that its structure is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import trace_of

SEQUENCE = "GIVEQCCTSICSLYQLENYC"  # the A chain of human insulin without its last residue, N
WIDTHS = (4.0, 8.0)  # ångström: how fast the weight of a triangle falls, by head
NAMES = {"query": "residue i", "key": "residue j", "context": "residue k"}


def example_trace() -> AttentionTrace:
    """Triangles of residues on an ideal helix, two heads: A[i,j,k] falls with the circumference of i, j and k.

    A[i] is the softmax over j × k of -(d(i,j) + d(j,k) + d(k,i)) / width, with distances d between points of an α-helix
    (per residue a rise of 1.5 Å and a turn of 100°; radius 2.3 Å); d(i,i) is 8 Å, so that no triangle is a point.
    """
    index = np.arange(len(SEQUENCE))
    turn = np.deg2rad(100) * index
    points = np.stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), 1.5 * index], -1)
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(distances, 8.0)
    circumference = distances[:, :, None] + distances[None] + distances[:, None, :]
    scores = np.stack([-circumference / width for width in WIDTHS])
    residues = [f"{letter}{i + 1}" for i, letter in enumerate(SEQUENCE)]
    options: dict[str, Any] = {"quantity": "relevance", "axes": ("head", *NAMES), "names": NAMES}
    options["tokens"] = dict.fromkeys(NAMES, residues)
    return trace_of(scores, **options, source="worked example: triangles on a helix")
