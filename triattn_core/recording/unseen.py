"""Attention that is not recorded: of no softmax, or of one whose weights are lost on their way to the values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.follow import PRODUCTS, is_learned, read_product
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.tensors import tensors_of

WIDENS = ("cat", "concat", "pad", "__getitem__", "narrow")  # by a column for a sink, or back


def _is_wider(name: str, scores: Tensor, result: Tensor) -> bool:
    """Whether a function gave scores another number of columns."""
    return name in WIDENS and result.shape[:-1] == scores.shape[:-1]


class Scores:
    """Products of two projections that no softmax has taken; `stack.unseen` has the modules where one met values.

    `stack.lost` has each softmax of such a product, of tokens over tokens, that has not met values yet: neither a
    router of experts nor a head over a vocabulary, whose scores are a projection by what is learned.
    """

    def __init__(self, stack: ModuleStack):
        self.stack = stack
        self.scores: Any = WeakTensorKeyDictionary()
        self.products: Any = WeakTensorKeyDictionary()  # and what was made of them, cell by cell
        self.calls = 0

    def see_softmax(self, running: Running, scores: Tensor | None, result: Tensor, axis: int) -> int:
        """Takes a softmax.  Returns its number."""
        self.calls += 1
        lengths = {self.stack.length, *self.stack.lengths} - {0, 1}
        rest = [size for place, size in enumerate(result.shape) if place != axis % result.ndim]
        of_tokens = result.shape[axis] in lengths | {length**2 for length in lengths} and lengths & set(rest)
        if scores is not None and scores in self.products and of_tokens:
            self.stack.lost[self.calls] = running.path, tuple(result.shape)
        return self.calls

    def see_arrival(self, calls: Iterable[int]) -> None:
        """Takes that weights of these softmaxes met values."""
        for call in calls:
            self.stack.lost.pop(call, None)

    def _see_products(self, name: str, tensors: list[Tensor], result: Tensor) -> None:
        if name in PRODUCTS:
            if len(tensors) > 1 and not any(map(is_learned, tensors)):
                self.products[result] = True
        elif name != "linear" and any(
            tensor in self.products and result.numel() >= tensor.numel() for tensor in tensors
        ):
            self.products[result] = True

    def see(self, name: str, running: Running, args: Any, kwargs: Any, result: Tensor) -> None:
        """A product of two projections with a row and a column for each token, and its way to values but by a softmax:
        an attention that is not recorded."""
        tensors = list(tensors_of(args, kwargs))
        self._see_products(name, tensors, result)
        n = self.stack.length if result.ndim > 2 else self.stack.batch  # without a batch, tokens are the first axis
        scores = next((tensor for tensor in tensors if tensor in self.scores), None)
        if scores is not None and name in PRODUCTS:
            with torch._C.DisableTorchFunction():
                product = read_product(name, [*args, *kwargs.values()], scores)
            others = product.values if product is not None else ()
            meets = product is not None and product.keys == product.axes[-1] and product.axes[-2] in product.queries
            if meets and others and not isinstance(others[0], nn.Parameter):
                self.stack.unseen.setdefault(running.path)
        elif scores is not None and (result.shape[-2:] == scores.shape[-2:] or _is_wider(name, scores, result)):
            self.scores[result] = True
        elif name in PRODUCTS and n > 1 and tuple(result.shape[-2:]) == (n, n) and len(tensors) > 1:
            if any(isinstance(tensor, nn.Parameter) for tensor in tensors):
                return
            self.scores[result] = True
