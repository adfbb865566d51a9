"""Relevance functions, each in a two-way and a three-way form.  To add one: a file here, a line in the table.

A class takes (heads, features, context) and has `two`, `three` and `value`, the contextual value paired with it.  If
its three-way relevance is a sum of products `q_d k_d c_d`, it may be a `ProductSimilarity` (`protocol`); outputs are
then computed without the cube (see `attention.factored`).
"""

from __future__ import annotations

from triattn_core.attention.tri_similarity.additive import Additive
from triattn_core.attention.tri_similarity.bilinear import Bilinear
from triattn_core.attention.tri_similarity.dot import Dot
from triattn_core.attention.tri_similarity.full_trilinear import FullTrilinear
from triattn_core.attention.tri_similarity.pairwise import Pairwise
from triattn_core.attention.tri_similarity.scaled_dot import ScaledDot

SIMILARITIES = {
    "additive": Additive,
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "bilinear": Bilinear,
    "full_trilinear": FullTrilinear,
    "pairwise": Pairwise,
}
