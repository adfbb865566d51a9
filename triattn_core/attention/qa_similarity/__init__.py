"""The similarity functions of the QA study (the T-trilinear paper, Table 1 and Eq. 16).  To add one: a file, a line.

The names are that paper's: its *bilinear* is not the one of `attention.tri_similarity`, its *trilinear* is two-way.
A class takes the width d of the states and is called with H [B, M, d] and U [B, N, d]; it returns S [B, M, N],
`s_ij = phi(h_i, u_j)` (Eq. 3), without forming anything of size [M, N, d].  `terms(h, u)` decomposes a score: for
vectors [..., d], the products [..., d] of each term by name, all of which sum to the score.  Unlike in the paper
(section 5.2), linear layers inside a function have no dropout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from triattn_core.attention.qa_similarity.bilinear import Bilinear
from triattn_core.attention.qa_similarity.concat_fnn import ConcatFnn
from triattn_core.attention.qa_similarity.cosine import Cosine
from triattn_core.attention.qa_similarity.dot import Dot
from triattn_core.attention.qa_similarity.fnn import Fnn
from triattn_core.attention.qa_similarity.general1 import General1
from triattn_core.attention.qa_similarity.general2 import General2
from triattn_core.attention.qa_similarity.general3 import General3
from triattn_core.attention.qa_similarity.hadamard import Hadamard
from triattn_core.attention.qa_similarity.scaled_dot import ScaledDot
from triattn_core.attention.qa_similarity.t_trilinear import TTrilinear
from triattn_core.attention.qa_similarity.trilinear import Trilinear


@runtime_checkable
class QaSimilarity(Protocol):
    """What every class of the table is."""

    def __call__(self, H: Tensor, U: Tensor) -> Any:
        """S, or what `scores` takes."""

    def terms(self, h: Tensor, u: Tensor) -> dict[str, Tensor]:
        """The terms [d] whose sums add up to the score of one pair of words."""


QA_SIMILARITIES: dict[str, Callable[[int], QaSimilarity]] = {
    "bilinear": Bilinear,
    "trilinear": Trilinear,
    "fnn": Fnn,
    "concat_fnn": ConcatFnn,
    "dot": Dot,
    "cosine": Cosine,
    "scaled_dot": ScaledDot,
    "general1": General1,
    "general2": General2,
    "general3": General3,
    "hadamard": Hadamard,
    "t_trilinear": TTrilinear,
}
