"""The cells of a trace as rows: the strongest first, each with its share of the mass.  For tables, CSV and pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.aggregation import cell_counts, continues_word
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.relevance import centred

_NUMBERED = re.compile(r"(turn|sentences?) (\d.*)")
PIECE_MARK = "·"  # no dash, which would read as a minus before a number
SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def words(array: xr.DataArray, texts: Mapping[str, str], axis: str) -> list[str]:
    """The tokens of an axis as the user knows them: the characters they were cut from, or a special one's name; of
    a folded axis what the groups are called; of one without tokens numbers from 1."""
    if f"{axis}_token" not in array.coords:
        return [str(i + 1) for i in range(array.sizes[axis])]
    if f"{axis}_label" in array.coords:
        return array[f"{axis}_label"].values.tolist()
    if f"{axis}_word" in array.coords:
        return array[f"{axis}_token"].values.tolist()
    coords = (array[f"{axis}_{name}"].values.tolist() for name in ("token", "text", "start", "end"))
    return [texts.get(name, "")[start:end] or token.removeprefix("##") for token, name, start, end in zip(*coords)]


def labels(array: xr.DataArray, texts: Mapping[str, str], axis: str) -> list[str]:
    """The words of an axis, where PIECE_MARK ties a piece to the word that it continues."""
    return _tie(continues_word(array, axis), words(array, texts, axis))


def _tie(tied: Iterable[bool], words: Iterable[str]) -> list[str]:
    return [PIECE_MARK * continues + word for continues, word in zip(tied, words)]


def numbered(words: Iterable[str]) -> list[str]:
    """The words of one axis, no two alike: a small number stands at the second "milk" and those after it."""
    seen: Counter = Counter()
    numbered_words = []
    for word in words:
        seen[word] += 1
        numbered_words.append(word + "".join(SMALL[int(digit)] for digit in str(seen[word])) * (seen[word] > 1))
    return numbered_words


def brief(segment: str) -> str:
    """A turn, a sentence or a text in as few letters as tell it from others: T4, S3–4, A, R for the response."""
    numbered = _NUMBERED.fullmatch(segment)
    if numbered:
        return numbered[1][0].upper() + numbered[2]
    return "[ ]" if segment.startswith("[") else segment.removeprefix("sentence ")[:1].upper()


def shown_array(shown: Distribution, needs: tuple[str, ...] = ()) -> xr.DataArray:
    """The array of a choice as it is shown: relevance is centred in each distribution.

    Raises TraceError where the choice does not leave the axes that are needed.
    """
    array = shown.array
    missing = [axis for axis in needs if axis not in array.dims]
    if missing:
        raise TraceError(f"{shown.choice.site} has no axis {missing[0]!r} (it has {', '.join(map(str, array.dims))})")
    return centred(array, shown.axes) if shown.quantity == "relevance" else array


def visible(array: xr.DataArray, hide_special: bool) -> dict[str, np.ndarray]:
    """Positions that are shown on each axis; an axis of special tokens alone keeps them."""
    positions = {}
    for axis in map(str, array.dims):
        special = array[f"{axis}_special"].values if f"{axis}_special" in array.coords else np.zeros(array.sizes[axis])
        real = np.flatnonzero(special == 0)
        positions[axis] = real if hide_special and len(real) else np.arange(array.sizes[axis])
    return positions


def strongest(shown: Distribution, n: int | None = None, hide_special: bool = False) -> pd.DataFrame:
    """The `n` largest cells (all without `n`), largest first; of weights under a mask those that are largest against
    what even attention would give, for a query with one key left gives it all.

    Columns: each axis with its label and, as `<axis>_at`, its position; as `<axis>_tokens` how many tokens it stands
    for, where that is not always one; the quantity; `share`, the part of the whole mass that the cell holds (each
    distribution holds the same, but for those that a mask leaves nothing), missing where the trace has no weights.
    """
    array = shown_array(shown)
    visible_positions = visible(array, hide_special)
    unhidden = all(len(visible_positions[str(axis)]) == size for axis, size in array.sizes.items())
    values = (array if unhidden else array.isel(visible_positions)).values
    flat, open_cells = values.ravel(), shown.open_cells
    size = np.where(np.isfinite(flat), flat, -np.inf)
    if array.attrs["quantity"] == "weight":
        part = _uneven(array, shown.axes)
        part = part if open_cells is None else part * open_cells
        size = part.transpose(*array.dims).isel(visible_positions).values.ravel() if part is not array else size
    n = min(n or flat.size, flat.size)
    top = np.argpartition(-size, n - 1)[:n] if n < flat.size else np.arange(flat.size)
    top = top[np.lexsort((top, -size[top]))]
    places = np.unravel_index(top, values.shape)
    positions = {str(axis): visible_positions[str(axis)][place] for axis, place in zip(array.dims, places)}
    tied, texts = [continues_word(array, axis) for axis in positions], dict(shown.trace.texts)
    names = {axis: np.array(_tie(ties, words(array, texts, axis)), object) for axis, ties in zip(positions, tied)}
    share = np.nan if shown.weight is None else shown.shares_at(shown.weight, positions)
    columns = {axis: names[axis][where] for axis, where in positions.items()}
    columns |= {f"{axis}_at": where for axis, where in positions.items()}
    counts = {axis: array[f"{axis}_tokens"].values for axis in positions if f"{axis}_tokens" in array.coords}
    columns |= {f"{axis}_tokens": count[positions[axis]] for axis, count in counts.items() if count.max() > 1}
    return pd.DataFrame({**columns, array.attrs["quantity"]: _finite(flat[top]), "share": share})


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, -np.inf)


def _uneven(weight: xr.DataArray, axes: Sequence[str]) -> xr.DataArray:
    """`Distribution.held` but for a factor that all cells share: their order is the same, and most need no copy."""
    for axis in [str(axis) for axis in weight.dims if axis not in axes]:
        cells = cell_counts(weight, axis)
        weight = weight if (cells == cells[0]).all() else weight * xr.DataArray(cells, dims=axis)
    return weight
