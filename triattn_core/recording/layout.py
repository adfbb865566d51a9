"""Which axis of recorded weights is what: heads, queries, keys and contexts, found from how they meet the values."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from triattn_core.recording.follow import Product
from triattn_core.recording.rebuild import count_to_a_key, marks_of, require_example

ORDER = ("head", "query", "key", "context")


@dataclass(frozen=True)
class Layout:
    """The axes of a weights tensor by their letters, and the axes of a trace that the softmax runs over.

    batch: the letter of the batch, if there is one; context and key are both letters of keys where a query attends to
    pairs, which may be flat (`pairs`): one axis of n² that is read as n × n.
    blocks: of a band, the axis of its blocks of w queries, each over the 3 w keys of the blocks around it;
    length: how many of its tokens are no padding.  in_pieces: whether its queries are those of a block and its keys a
    part of those that the softmax ran over: such a piece is no map of tokens.
    """

    axes: str
    query: str
    key: str
    context: str = ""
    batch: str = ""
    pairs: int = 0
    blocks: str = ""
    length: int = 0
    in_pieces: bool = False
    sums_over: tuple[str, ...] = ("key",)

    @property
    def dims(self) -> tuple[str, ...]:
        return ORDER if self.context or self.pairs else ORDER[:3]

    def arrange(self, weights: Tensor, batch: int = 1, example: int = 0) -> Tensor:
        """The weights [head, query, key] or [head, query, key, context] of one example."""
        axes = self.axes
        if self.batch:
            place = axes.index(self.batch)
            size = weights.shape[place]
            require_example(example, batch)
            if size == batch:
                weights, axes = weights.select(place, example), axes.replace(self.batch, "")
            else:  # batch × heads on one axis
                weights = weights.unflatten(place, (batch, size // batch)).select(place, example)
        ends = self.blocks + self.query + self.key + self.context
        heads = [letter for letter in axes if letter not in ends]
        weights = weights.permute(*(axes.index(letter) for letter in (*heads, *ends)))
        weights = weights.flatten(0, len(heads) - 1) if heads else weights[None]
        if self.blocks:
            return unfold_band(weights)[:, : self.length, : self.length]
        return weights.unflatten(-1, (self.pairs, self.pairs)) if self.pairs else weights

    def queries(self, weights: Tensor) -> int:
        """How many queries a band of weights has, with the padding to whole blocks."""
        return weights.shape[self.axes.index(self.blocks)] * weights.shape[self.axes.index(self.query)]

    def cells(self, weights: Tensor) -> int:
        """How many cells a band of weights has where it is unfolded to queries × keys."""
        return weights.numel() // weights.shape[self.axes.index(self.key)] * self.queries(weights)

    def heads_to_a_key(self, weights: Tensor, values: Tensor, value_axes: str, batch: int, example: int) -> int:
        """How many heads of one example share the values that they meet: repeated heads of values are equal."""
        ends = self.blocks + self.query + self.key + self.context
        heads = [letter for letter in self.axes if letter not in ends]
        sizes = dict(zip(self.axes, weights.shape))
        if self.batch:
            require_example(example, batch)
            sizes[self.batch] //= batch
            if self.batch in value_axes:  # its own rows of the batch alone, and what heads are on that axis
                place, rows = value_axes.index(self.batch), sizes[self.batch]
                start = example * rows if values.shape[place] == batch * rows else 0
                values = values.narrow(place, start, min(rows, values.shape[place]))
        count = math.prod(sizes[letter] for letter in heads)
        places = [value_axes.index(letter) for letter in heads if letter in value_axes]
        own = [place for place in range(values.ndim) if place not in places]
        by_head = values.permute(*places, *own)
        return count_to_a_key(count, by_head.reshape(math.prod(by_head.shape[: len(places)]), -1))

    def marks(self, product: Product, batch: int) -> Tensor | None:
        """The marks [batch, key] of the values of a product, see `marks_of`; None where keys are of no single axis."""
        values, axes = product.values[0], product.value_axes[0]
        if len(product.values) > 1 or self.context or self.pairs or self.blocks or self.key not in axes:
            return None
        order = [self.batch] * (self.batch in axes and self.batch != "") + [
            letter for letter in axes if letter not in (self.batch, self.key)
        ]
        rows = values.permute(*(axes.index(letter) for letter in (*order, self.key)))
        return marks_of(rows[..., None], batch if self.batch in axes else 1)

    def row_and_head(self, weights: Tensor, batch: int) -> tuple[Tensor, Tensor]:
        """Of each cell its row of the batch, and its head in the order of `arrange`; they spread to its shape."""
        ends = self.blocks + self.query + self.key + self.context
        row = head = torch.zeros((), dtype=torch.long, device=weights.device)
        for place, (letter, size) in enumerate(zip(self.axes, weights.shape)):
            if letter in ends:
                continue
            index = torch.arange(size, device=weights.device)
            index = index.view(*(-1 if axis == place else 1 for axis in range(weights.ndim)))
            if letter == self.batch:
                size //= batch
                row, index = index // size, index % size
            head = head * size + index
        return row, head


def count_windows(product: Product, layout: Layout, batch: int) -> int:
    """How many windows of an example have heads of their own: rows of weights [row, head, query, key] beside those of
    the batch, which the values have too."""
    first = product.axes[0]
    ends = layout.query + layout.key + layout.context
    if (
        layout.blocks
        or len(product.axes) != 4
        or first in ends
        or any(first not in axes for axes in product.value_axes)
    ):
        return 1
    rows = product.weights.shape[0]
    return rows // batch if rows > batch and rows % batch == 0 else 1


def unfold_band(band: Tensor) -> Tensor:
    """[head, n, n] of a band [head, block, w, 3 w] with n = blocks · w: column c of block b is key b w + c − w."""
    heads, blocks, width, reach = band.shape
    n = blocks * width
    padded = band.new_zeros(heads, n, n + 2 * width)
    for block in range(blocks):
        start = block * width
        padded[:, start : start + width, start : start + reach] = band[:, block]
    return padded[:, :, width : width + n]


def find_layout(
    product: Product,
    columns: int,
    batch: int,
    length: int = 0,
    pairs: Collection[int] = (),
    over: Collection[str] = (),
    lengths: Collection[int] = (),
) -> Layout:
    """The layout of the weights of a product.  columns: over how many cells their softmax ran.

    A query attends to pairs where the softmax ran over two axes, of which the product may sum over one at a time, or
    over n² cells; a cube whose softmax ran over one axis has a pair as query (triangle attention): its row is the
    context.  That is told from blocks of n tokens by `pairs`: the sizes n of representations [n, n, d] that were seen.
    length: how many tokens the model reads; over: the axes that the softmax ran over; both where they are known.
    lengths: of the inputs that modules were given: keys that are as many are their tokens, not pairs of queries.
    """
    sizes = dict(zip(product.axes, product.weights.shape))
    keys, rest = list(product.keys), [letter for letter in product.axes if letter not in product.keys]
    summed = math.prod(sizes[letter] for letter in keys)
    if len(keys) == 1 and summed < columns:  # the other key axis is summed over by a later product
        other = [letter for letter in rest if sizes[letter] * summed == columns and letter in product.result_axes]
        other = [letter for letter in other if letter in over or not over]
        if other and sizes[other[-1]] > 1:
            keys = sorted([*keys, other[-1]], key=product.axes.index)
            rest.remove(other[-1])
    queries = [letter for letter in rest if letter in product.queries]
    same = [letter for letter in rest if sizes[letter] == sizes[keys[-1]]]
    query = (queries or same or rest)[-1]
    rest.remove(query)
    first = rest[0] if rest else ""
    is_batch = first and (sizes[first] == batch or (batch > 1 and sizes[first] % batch == 0))
    heads = [letter for letter in rest if not (is_batch and letter == first)]
    if len(keys) == 2:
        alone = [name for name, letter in zip(("key", "context"), keys) if sizes[letter] == columns]
        over = ("key", "context") if columns != sizes[keys[0]] or not alone else tuple(alone[-1:])
        return Layout(product.axes, query, keys[0], keys[1], first if is_batch else "", sums_over=over)
    size, blocks = sizes[query], product.axes[1]
    of_tokens = sizes[keys[0]] in lengths
    is_band = blocks in heads and _is_band(size, sizes[keys[0]], sizes[blocks], length, of_tokens)
    if size > 1 and sizes[keys[0]] == size**2 == columns and not of_tokens and not (is_band and size < length):
        first = first if is_batch else ""
        return Layout(product.axes, query, keys[0], batch=first, pairs=size, sums_over=("key", "context"))
    if is_band:
        length = length or sizes[blocks] * size
        first = first if is_batch else ""
        return Layout(product.axes, query, keys[0], batch=first, blocks=blocks, length=length)
    rows = [letter for letter in heads if sizes[letter] == size == sizes[keys[0]] and size in pairs]
    context = rows[0] if rows and len(heads) > 1 else ""
    in_pieces = len(heads) > 1 and 1 < length != size and summed < columns and not context
    return Layout(product.axes, query, keys[0], context, first if is_batch else "", in_pieces=in_pieces)


def _is_band(width: int, keys: int, blocks: int, length: int, of_tokens: bool) -> bool:
    """Whether so many blocks of queries, and not heads, each see three blocks of keys.

    Blocks have room for all tokens, and for less than two blocks of padding.  of_tokens: whether an input has as many
    tokens as there are keys, which of a band is so with three blocks alone.
    """
    fits = not length or 0 <= blocks * width - length < 2 * width
    return width > 1 and keys == 3 * width and fits and (blocks == 3 or not of_tokens)
