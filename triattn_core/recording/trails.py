"""The tensors that softmaxes became: carried through what a model does to weights before they meet values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.follow import COLLECTS, Product, Trail, collect
from triattn_core.recording.multiplied import MULTIPLIES, Multiplied, multiply
from triattn_core.recording.softmax_axis import carried_axes
from triattn_core.recording.tensors import tensors_of

WRITES = frozenset("copy_ __setitem__ scatter scatter_".split())


class Trails:
    """followed: tensors, to the trail of each."""

    def __init__(self) -> None:
        self.followed: Any = WeakTensorKeyDictionary()
        self._multiplied: Any = WeakTensorKeyDictionary()  # to weights times values, and the trail of the weights

    def see_change(self, func: Any, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """Takes a call of `KEEPS`."""
        if name in MULTIPLIES and self._see_multiplied(args, result):
            return
        source = next((tensor for tensor in tensors_of(args, kwargs) if tensor in self.followed), None)
        if source is None:
            return
        trail = self.followed[source]
        with torch._C.DisableTorchFunction(), torch.no_grad():
            axes = carried_axes(func, args, kwargs, source, result, trail.axes)
            if trail.softmax.parts and isinstance(result, Tensor):
                trail = replace(trail, softmax=trail.softmax.viewed(func, args, kwargs, source))
        for part, own in zip(result if isinstance(result, list | tuple) else (result,), axes):
            if isinstance(part, Tensor):
                self.followed[part] = replace(trail, axes=own)

    def see_mix(self, args: Any, result: Any) -> None:
        """The maps of heads times a matrix, as a linear map or a convolution over the axis of the heads."""
        source = args[0] if args and isinstance(args[0], Tensor) and args[0] in self.followed else None
        if source is None or not isinstance(result, Tensor) or source.ndim != result.ndim:
            return
        trail = self.followed[source]
        if trail.axes and all(source.shape[axis] == result.shape[axis] for axis in trail.axes):
            changed = [axis for axis in range(source.ndim) if source.shape[axis] != result.shape[axis]]
            if source.ndim - 1 in trail.axes and len(args[1].shape) == 2 or len(changed) > 1:
                return  # weights times a matrix that is learned
            self.follow_mixed(trail, source, result, trail.axes)

    def follow_mixed(self, trail: Trail, part: Tensor, result: Tensor, axes: frozenset[int]) -> None:
        """Follows on the maps that those of the heads were mixed to.  part: these."""
        softmax = replace(trail.softmax, kind="mixed", parts=trail.softmax.parts or (part.detach(),))
        self.followed[result] = Trail(softmax, axes)

    def see_join(self, kind: str, operands: list[Tensor], result: Tensor) -> bool:
        """Takes two maps that are joined before they meet the values.  Returns whether one of them was a map."""
        followed = [operand for operand in operands if operand in self.followed]
        if len(followed) == 2 and operands[0].shape == operands[1].shape == result.shape:
            parts = tuple(operand.detach() for operand in operands)
            trail, other = (self.followed[operand] for operand in operands)
            calls = trail.softmax.calls | other.softmax.calls
            self.followed[result] = replace(trail, softmax=replace(trail.softmax, kind=kind, parts=parts, calls=calls))
        elif len(followed) == 1 and followed[0].shape == result.shape:
            self.followed[result] = self.followed[followed[0]]
        return bool(followed)

    def see_written(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """Maps that are put together into one tensor, or written into another."""
        if name in COLLECTS:
            given = list(args[0] if args else kwargs.get("tensors", ()))
            if given and all(isinstance(part, Tensor) and part in self.followed for part in given):
                trail = collect(name, args, kwargs, given[0].ndim, [self.followed[part] for part in given])
                if trail is not None:
                    self.followed[result] = trail
            return
        source = next((value for value in args[1:] if isinstance(value, Tensor) and value in self.followed), None)
        if source is None:
            return
        trail, target = self.followed[source], args[0]
        if name.startswith("scatter"):  # such as the largest of each row alone
            if source.ndim > 2 and isinstance(args[1], int) and trail.axes == frozenset({args[1] % source.ndim}):
                softmax = replace(trail.softmax, shape=tuple(result.shape), axis=args[1] % source.ndim, hidden=None)
                self.followed[result] = replace(trail, softmax=replace(softmax, scores=None))
            return
        for written in (target, target._base):
            if written is not None:
                known = self.followed.get(written)
                calls = trail.softmax.calls | (known.softmax.calls if known is not None else frozenset())
                axes = trail.axes if written.shape == source.shape else None
                self.followed[written] = Trail(replace(trail.softmax, scores=None, calls=calls), axes)

    def _see_multiplied(self, args: Any, result: Tensor) -> bool:
        """Weights times values that are broadcast: a sum over keys may follow.  Returns whether the features of values
        were weighed, as by the gate of an expert too: what that made is no map."""
        weights = next(
            (x for x in args if isinstance(x, Tensor) and (x in self._multiplied or x in self.followed)), None
        )
        if weights is None:
            return False
        before: tuple[Multiplied, Trail] | None = self._multiplied.get(weights)
        with torch._C.DisableTorchFunction(), torch.no_grad():
            made = multiply(weights, None if before is None else before[0], args, result)
        if made is not None:
            self._multiplied[result] = made, self.followed[weights] if before is None else before[1]
        return weights not in self.followed or weights.shape[-1:] == (1,) != result.shape[-1:]

    def __bool__(self) -> bool:
        return bool(self.followed or self._multiplied)

    def read_sum(self, args: Any, kwargs: Any) -> tuple[Trail, Product, set[str]] | None:
        """The trail, the product and the axes of a softmax, where a sum is one over keys of weights times values."""
        whole = args[0] if args and isinstance(args[0], Tensor) else None
        if whole is None or whole not in self._multiplied:
            return None
        multiplied, trail = self._multiplied[whole]
        with torch._C.DisableTorchFunction(), torch.no_grad():
            read = multiplied.summed(whole, args, kwargs)
        return None if read is None else (trail, read[0], {read[1][axis] for axis in trail.axes or ()})
