"""Relevance functions, each in a two-way and a three-way form.  To add one: a file here, a line in the table.

A class takes (heads, features, context) and has `two`, `three` and `value`, the contextual value paired with it.  Two
kinds of three-way relevance give outputs without the cube (`protocol`): a `ProductSimilarity`, a sum of products
`q_d k_d c_d` (see `attention.factored`), and a `TreeSimilarity`, a sum of a term of query and key and one of key and
context (see `attention.tree_attention`).
"""

from __future__ import annotations

from triattn_core.attention.tri_similarity.additive import Additive
from triattn_core.attention.tri_similarity.bilinear import Bilinear
from triattn_core.attention.tri_similarity.determinant import Determinant
from triattn_core.attention.tri_similarity.dot import Dot
from triattn_core.attention.tri_similarity.full_trilinear import FullTrilinear
from triattn_core.attention.tri_similarity.scaled_dot import ScaledDot
from triattn_core.attention.tri_similarity.strassen import Strassen
from triattn_core.attention.tri_similarity.tree import Tree

SIMILARITIES = {
    "additive": Additive,
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "bilinear": Bilinear,
    "full_trilinear": FullTrilinear,
    "strassen": Strassen,
    "tree": Tree,
    "determinant": Determinant,
}
