"""What is a softmax by another name: softmin, Gumbel's, exp of log_softmax or of x - logsumexp(x)."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

AXES = {"softmax": 1, "special_softmax": 1, "softmin": 1, "gumbel_softmax": 4}  # the place of the axis in a call
LOGARITHMS = frozenset(("log_softmax", "special_log_softmax"))
SAME_SUM = frozenset("unsqueeze __getitem__ view reshape expand expand_as to float".split())


class Softmaxes:
    """Logarithms of weights, and sums of exponentiated scores, that `exp` and `-` may make weights of."""

    def __init__(self) -> None:
        self.logarithms: Any = WeakTensorKeyDictionary()  # to their scores and their axis
        self.sums: Any = WeakTensorKeyDictionary()

    def see(self, name: str, args: Any, kwargs: Any, result: Any) -> tuple[Tensor | None, int | None] | None:
        """Returns the scores and the axis of a softmax that a call has made; None for any other call.

        The scores are None where they are gone.
        """
        scores = next((kwargs[key] for key in ("input", "logits") if key in kwargs), args[0] if args else None)
        if not isinstance(scores, Tensor) or not isinstance(result, Tensor):
            return None
        if name in AXES:
            return -scores if name == "softmin" else scores, _axis(args, kwargs, AXES[name])
        if name in LOGARITHMS or name == "logsumexp":
            kept = self.sums if name == "logsumexp" else self.logarithms
            kept[result] = weakref.ref(scores), _axis(args, kwargs, 1)
        elif name in ("sub", "__sub__") and self.sums and isinstance(args[-1], Tensor) and args[-1] in self.sums:
            taken, axis = self.sums[args[-1]]
            if taken() is scores:
                self.logarithms[result] = taken, axis
        elif name in SAME_SUM and self.sums and scores in self.sums:
            self.sums[result] = self.sums[scores]
        elif name in ("exp", "exp_") and self.logarithms and scores in self.logarithms:
            taken, axis = self.logarithms[scores]
            return taken(), axis
        return None


def _axis(args: Any, kwargs: Any, place: int) -> int | None:
    axis = kwargs.get("dim", args[place] if len(args) > place and isinstance(args[place], int | list | tuple) else -1)
    return axis[0] if isinstance(axis, list | tuple) and len(axis) == 1 else axis
