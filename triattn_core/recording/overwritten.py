"""Rows of an attention that the model computes and then writes over or drops, such as those of a global token.

A twin of what an attention made has the number of its row in each cell, and goes through the same views, copies and
writes: where some of these numbers meet no function that computes with them, these rows were not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from triattn_core.recording.attention import Attention
from triattn_core.recording.softmax_axis import VIEWS
from triattn_core.recording.tensors import tensors_of

ALIKE = frozenset(  # the numbers of a row stay in their place
    "contiguous clone detach to type float double half bfloat16 type_as cpu cuda dropout dropout_ add __add__ __radd__"
    " add_ __iadd__ nan_to_num".split()
)
CUTS = frozenset("__getitem__ narrow select slice chunk split unbind index_select".split())
MOVES = VIEWS | {"pad", "index_select"}
# What writes into a tensor, to the place of what it writes among its arguments.
VALUES = {"__setitem__": 2, "index_put": 2, "index_copy": 3, "scatter": 3, "masked_scatter": 2, "masked_fill": 2}
VALUES |= {"index_fill": 3, "copy": 1}
OF_SHAPE = frozenset("new_zeros new_empty new_ones new_full zeros_like empty_like ones_like full_like".split())


@dataclass
class Twin:
    """The numbers of the rows of one attention in a tensor, from 1; negative where they were written over, 0 elsewhere.

    numbers: of what the attention made; made when they are first needed, by the steps that led to this tensor.
    """

    start: Callable[[], Tensor]
    steps: tuple[Callable[[Tensor], Tensor], ...] = ()
    cut: bool = False

    def numbers(self) -> Tensor:
        if self.steps:
            made = self.start()
            for step in self.steps:
                made = step(made)
            self.set(made)
        return self.start()

    def set(self, numbers: Tensor) -> None:
        self.start, self.steps = lambda: numbers, ()

    def after(self, step: Callable[[Tensor], Tensor], cut: bool) -> Twin:
        return Twin(self.start, (*self.steps, step), self.cut or cut)


@dataclass
class Uses:
    """Which rows of an attention were used, and whose rows stand where some of its own were."""

    attention: Attention
    shape: tuple[int, ...]  # of its rows
    whole: bool = False
    used: list[Tensor] = field(default_factory=list)
    instead: dict[int, list[Tensor]] = field(default_factory=dict)  # pairs [2, n] of own rows and rows of another


class Rows:
    """The rows of attentions, while a module of theirs runs."""

    def __init__(self) -> None:
        self.twins: Any = WeakTensorKeyDictionary()  # tensors, to a dict of twins by the number of the attention
        self.uses: list[Uses] = []

    def add(self, attention: Attention, made: Tensor) -> None:
        """Begins to follow the rows of an attention."""
        if made.is_nested or attention.kind == "difference":
            return
        axes = [axis for axis in range(made.ndim) if attention.is_row_axis(axis, made.ndim)]
        shape, whole, device = tuple(made.shape[axis] for axis in axes), made.shape, made.device
        spread = [size if axis in axes else 1 for axis, size in enumerate(whole)]
        if not math.prod(whole):
            return

        def start() -> Tensor:
            numbers = torch.arange(1, math.prod(shape) + 1, dtype=torch.int32, device=device)
            return numbers.view(spread).expand(whole).contiguous()

        self.twins[made] = {len(self.uses): Twin(start)}
        self.uses.append(Uses(attention, shape))

    def carry(self, name: str, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Takes a function that has run: a view, a copy, a write, or one that uses the rows."""
        followed = [value for value in tensors_of(args, kwargs) if value in self.twins] if self.twins else []
        if not followed or name in OF_SHAPE:
            return
        try:
            self._carry(name, func, args, kwargs, result, followed)
        except Exception:  # a call of a form that is not known: all that it was given is used
            for tensor in followed:
                for number in self.twins[tensor]:
                    self.uses[number].whole = True

    def _carry(self, name: str, func: Any, args: Any, kwargs: Any, result: Any, followed: list[Tensor]) -> None:
        source, write = followed[0], name.removesuffix("_") if name != "__setitem__" else name
        if write == "where" and len(args) == 3:
            condition, first, second = args if args[0].dtype == torch.bool else (args[1], args[0], args[2])
            self._choose(condition, first, second, result)
        elif write in VALUES and isinstance(args[0], Tensor):
            self._write(write, func, args, kwargs, result)
        elif name in MOVES and args and source is args[0]:
            self._move(name, func, args, kwargs, result, source)
        elif name in ALIKE and isinstance(result, Tensor) and result.shape == source.shape:
            twins: dict[int, Twin] = {}
            for tensor in followed:
                twins |= self.twins[tensor] if tensor.shape == result.shape else {}
            self.twins[result] = {number: Twin(twin.start, twin.steps, twin.cut) for number, twin in twins.items()}
        elif any(part.is_floating_point() for part in tensors_of([result], {})):
            for tensor in followed:
                self._use(tensor)

    def _move(self, name: str, func: Any, args: Any, kwargs: Any, result: Any, source: Tensor) -> None:
        parts = list(result) if isinstance(result, list | tuple) else [result]
        others = {key: value for key, value in kwargs.items() if key != "value"}  # that `pad` pads with
        rest = args[1:] if name != "pad" else args[1:2]

        def step(place: int) -> Callable[[Tensor], Tensor]:
            def move(numbers: Tensor) -> Tensor:
                called = torch.Tensor.reshape if name == "view" else func
                made = called(numbers, *rest, **others)
                return made[place] if isinstance(result, list | tuple) else made

            return move

        for place, part in enumerate(parts):
            if isinstance(part, Tensor):
                cut = name in CUTS
                self.twins[part] = {n: twin.after(step(place), cut) for n, twin in self.twins[source].items()}

    def _use(self, tensor: Tensor) -> None:
        """Rows of this tensor are computed with, or returned."""
        twins = self.twins[tensor]
        for number, twin in twins.items():
            uses = self.uses[number]
            if uses.whole or not twin.cut:
                uses.whole = True
                continue
            numbers = twin.numbers()
            uses.used.append(numbers[numbers > 0].unique())
            for other, beside in twins.items():
                if other != number and beside.cut:
                    there = beside.numbers()
                    both = (numbers < 0) & (there > 0)
                    if bool(both.any()):
                        pairs = torch.stack([-numbers[both], there[both]]).unique(dim=1)
                        uses.instead.setdefault(other, []).append(pairs)

    def _choose(self, first: Tensor, one: Any, other: Any, result: Tensor) -> None:
        """Takes `where`, which puts cells of each of two tensors in one."""
        chosen: dict[int, Twin] = {}
        for source, cells in ((one, first), (other, ~first)):
            if not isinstance(source, Tensor) or source not in self.twins:
                continue
            if source.shape != result.shape:
                self._use(source)
                continue
            for number, twin in self.twins[source].items():
                numbers = twin.numbers()
                chosen.setdefault(number, _made(torch.where(cells, numbers, -numbers.abs())))
        self.twins[result] = chosen

    def _write(self, name: str, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Takes a function that puts other numbers in some cells of a tensor."""
        target, place = args[0], VALUES[name]
        key = next((key for key in ("value", "values", "source", "src", "other") if key in kwargs), None)
        value = args[place] if key is None else kwargs[key]
        made = target if name == "__setitem__" else result

        def put(numbers: Tensor, new: Any) -> Tensor:
            given, named = list(args[1:]), {name: value for name, value in kwargs.items() if name != "non_blocking"}
            if key is None:
                given[place - 1] = new
            else:
                named[key] = new
            changed = numbers.clone(memory_format=torch.contiguous_format)
            returned = func(changed, *given, **named)
            return returned if isinstance(returned, Tensor) else changed

        blank = torch.zeros(target.shape, dtype=torch.int32, device=target.device)
        ones = torch.ones(value.shape, dtype=torch.int32, device=target.device) if isinstance(value, Tensor) else 1
        cells = put(blank, ones)
        new = self.twins.get(value, {}) if isinstance(value, Tensor) else {}
        placed = {number: put(blank, twin.numbers()) for number, twin in new.items()}
        if made is target:
            self._write_memory(target, cells, placed)
        else:
            self.twins[made] = _written(self.twins.get(target, {}), cells, placed)

    def _write_memory(self, target: Tensor, cells: Tensor, placed: dict[int, Tensor]) -> None:
        """Writes into the twins of all tensors that lie in the memory of one: of itself, its base, and other views."""
        memory = target.untyped_storage()
        size, start = memory.nbytes() // target.element_size(), memory.data_ptr()

        def seen_in(tensor: Tensor, numbers: Tensor) -> Tensor:
            whole = torch.zeros(size, dtype=torch.int32, device=numbers.device)
            whole.as_strided(target.shape, target.stride(), target.storage_offset()).copy_(numbers)
            return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

        base = target if target._base is None else target._base
        beside = [tensor for tensor in list(self.twins) if tensor.untyped_storage().data_ptr() == start]
        for tensor in {id(tensor): tensor for tensor in (target, base, *beside)}.values():
            own = {number: seen_in(tensor, numbers) for number, numbers in placed.items()}
            self.twins[tensor] = _written(self.twins.get(tensor, {}), seen_in(tensor, cells), own)

    def see_return(self, path: str, tensors: Iterable[Tensor]) -> None:
        """Takes what a module returns: rows of attentions inside it that are in it are used, for all that it knows."""
        inside = path + "." * bool(path)
        for tensor in tensors:
            twins = self.twins.get(tensor, {})
            paths = [self.uses[number].attention.running.path for number in twins]
            if any(own == path or own.startswith(inside) for own in paths):
                self._use(tensor)

    def end(self) -> None:
        """Tells the attentions what became of their rows."""
        for uses in self.uses:
            if uses.whole or not uses.used:
                continue
            seen = torch.cat(uses.used).long()
            unused = torch.ones(math.prod(uses.shape) + 1, dtype=torch.bool, device=seen.device)
            unused[seen] = False
            if not bool(unused[1:].any()):
                continue
            reach = uses.attention.reach
            reach.unused = unused[1:].view(uses.shape)
            reach.instead = [
                (self.uses[other].attention, self.uses[other].shape, torch.cat(pairs, 1))
                for other, pairs in uses.instead.items()
            ]
        self.twins.clear()
        self.uses.clear()


def _made(numbers: Tensor) -> Twin:
    return Twin(lambda: numbers, (), True)


def _written(twins: dict[int, Twin], cells: Tensor, placed: dict[int, Tensor]) -> dict[int, Twin]:
    """Twins of a tensor after other numbers were put in some cells.  cells: 1 there; placed: rows that were put."""
    after = {
        number: _made(torch.where(cells > 0, -twin.numbers().abs(), twin.numbers())) for number, twin in twins.items()
    }
    return {number: _made(numbers) for number, numbers in placed.items()} | after
