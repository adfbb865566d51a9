"""The cells of a trace as rows: the strongest first, each with its share of the mass.  For tables, CSV and pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.aggregation import cell_counts, continues_word
from triattn_core.views.lib.palette import centred

AXES = ("query", "key", "context")
_NUMBERED = re.compile(r"(turn|sentences?) (\d.*)")
PIECE_MARK = "·"  # no dash, which would read as a minus before a number
SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUM_TOLERANCE = 1e-3  # by which a sum of weights may miss one


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
    return [PIECE_MARK * tied + word for tied, word in zip(continues_word(array, axis), words(array, texts, axis))]


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


def other_quantity(trace: AttentionTrace, choice: Choice, quantity: str) -> xr.DataArray | None:
    """The same choice of the other quantity's site, or None where the trace has none."""
    site = choice.site.with_quantity(quantity)
    return trace.pick(replace(choice, site=site)) if site in trace.sites else None


def select_array(trace: AttentionTrace, choice: Choice, needs: tuple[str, ...] = ()) -> xr.DataArray:
    """The array of a choice as it is shown: relevance is centred per query.

    Raises TraceError where the choice does not leave the axes that are needed.
    """
    array = trace.pick(choice)
    missing = [axis for axis in needs if axis not in array.dims]
    if missing:
        raise TraceError(f"{choice.site} has no axis {missing[0]!r} (it has {', '.join(map(str, array.dims))})")
    return centred(array) if array.attrs["quantity"] == "relevance" else array


def visible(array: xr.DataArray, hide_special: bool) -> dict[str, np.ndarray]:
    """Positions that are shown on each axis; an axis of special tokens alone keeps them."""
    positions = {}
    for axis in map(str, array.dims):
        special = array[f"{axis}_special"].values if f"{axis}_special" in array.coords else np.zeros(array.sizes[axis])
        real = np.flatnonzero(special == 0)
        positions[axis] = real if hide_special and len(real) else np.arange(array.sizes[axis])
    return positions


def distribution_axes(trace: AttentionTrace, choice: Choice) -> list[str]:
    """The axes that a distribution of the chosen site runs over: those that its weights sum to one over, else all but
    the query's."""
    site = choice.site.with_quantity("weight")
    array = trace.site(site if site in trace.sites else choice.site)
    fixed_axes = {axis for axis, _ in (*choice.index, *choice.reduce)}
    free_axes = [str(axis) for axis in array.dims if axis not in fixed_axes]
    named = [axis for axis in free_axes if axis in array.attrs.get("sums_over", "").split(",")]
    return named or [axis for axis in free_axes if axis != "query"]


def opened(trace: AttentionTrace, choice: Choice) -> xr.DataArray | None:
    """How many cells of each distribution a mask leaves; None where it leaves all, or the trace has no scores."""
    scores = other_quantity(trace, choice, "relevance")
    if scores is None or not np.isneginf(scores.values).any():
        return None
    return (scores > -np.inf).sum(distribution_axes(trace, choice))


def empty_share(trace: AttentionTrace, choice: Choice) -> float:
    """The share of distributions that a mask leaves nothing: they hold no mass."""
    open_cells = opened(trace, choice)
    return 0.0 if open_cells is None else float((open_cells == 0).mean())


def distributions(weight: xr.DataArray, axes: Sequence[str]) -> int:
    """How many distributions of the model over `axes` an array holds: each has a mass of one."""
    return int(np.prod([cell_counts(weight, str(axis)).sum() for axis in weight.dims if axis not in axes]))


def held(weight: xr.DataArray, axes: Sequence[str]) -> xr.DataArray:
    """The share of the whole mass that each cell holds: a folded query stands for all the rows that it joins."""
    for axis in [str(axis) for axis in weight.dims if axis not in axes]:
        cells = cell_counts(weight, axis)
        weight = weight * xr.DataArray(cells / cells.sum(), dims=axis)
    return weight


def shares(trace: AttentionTrace, choice: Choice, weight: xr.DataArray) -> xr.DataArray:
    """`held` as a share of the unmasked mass: a row that a mask leaves nothing holds none."""
    return held(weight, distribution_axes(trace, choice)) / (distribution_mass(trace, choice) or 1.0)


def sums_to_one(trace: AttentionTrace, choice: Choice) -> bool:
    """Whether the weights of each distribution sum to one, or to zero where a mask leaves nothing.  A model's do; those
    of an array of yours are added up."""
    weight = other_quantity(trace, choice, "weight")
    if weight is None or "mechanism" in trace.meta:
        return True
    sums = weight.sum(distribution_axes(trace, choice), dtype=np.float64).values
    return bool((np.abs(sums[sums != 0] - 1) <= SUM_TOLERANCE).all())


def distribution_mass(trace: AttentionTrace, choice: Choice) -> float:
    """The mean mass of a distribution: the share of those that a mask leaves something, or what weights that do not sum
    to one sum to."""
    weight = other_quantity(trace, choice, "weight")
    if weight is None or sums_to_one(trace, choice):
        return 1 - empty_share(trace, choice)
    return float(held(weight, distribution_axes(trace, choice)).sum(dtype=np.float64))


def strongest(trace: AttentionTrace, choice: Choice, n: int | None = None, hide_special: bool = False) -> pd.DataFrame:
    """The `n` largest cells (all without `n`), largest first; of weights under a mask those that are largest against
    what even attention would give, for a query with one key left gives it all.

    Columns: each axis with its label and, as `<axis>_at`, its position; as `<axis>_tokens` how many tokens it stands
    for, where that is not always one; the quantity; `share`, the part of the whole mass that the cell holds (each
    distribution holds the same, but for those that a mask leaves nothing), missing where the trace has no weights.
    """
    array = select_array(trace, choice)
    visible_positions = visible(array, hide_special)
    unhidden = all(len(visible_positions[str(axis)]) == size for axis, size in array.sizes.items())
    values = (array if unhidden else array.isel(visible_positions)).values
    flat, open_cells = values.ravel(), opened(trace, choice)
    size = np.where(np.isfinite(flat), flat, -np.inf)
    if array.attrs["quantity"] == "weight":
        part = _uneven(array, distribution_axes(trace, choice))
        part = part if open_cells is None else part * open_cells
        size = part.transpose(*array.dims).isel(visible_positions).values.ravel() if part is not array else size
    n = min(n or flat.size, flat.size)
    top = np.argpartition(-size, n - 1)[:n] if n < flat.size else np.arange(flat.size)
    top = top[np.lexsort((top, -size[top]))]
    places = np.unravel_index(top, values.shape)
    positions = {str(axis): visible_positions[str(axis)][place] for axis, place in zip(array.dims, places)}
    names = {axis: np.array(labels(array, dict(trace.texts), axis), object) for axis in positions}
    weight = other_quantity(trace, choice, "weight")
    share = np.nan if weight is None else _shares_at(trace, choice, weight, positions)
    columns = {axis: names[axis][where] for axis, where in positions.items()}
    columns |= {f"{axis}_at": where for axis, where in positions.items()}
    counts = {axis: array[f"{axis}_tokens"].values for axis in positions if f"{axis}_tokens" in array.coords}
    columns |= {f"{axis}_tokens": count[positions[axis]] for axis, count in counts.items() if count.max() > 1}
    return pd.DataFrame({**columns, array.attrs["quantity"]: _finite(flat[top]), "share": share})


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, -np.inf)


def _uneven(weight: xr.DataArray, axes: Sequence[str]) -> xr.DataArray:
    """`held` but for a factor that is the same for all cells: their order is the same, and most need no copy."""
    for axis in [str(axis) for axis in weight.dims if axis not in axes]:
        cells = cell_counts(weight, axis)
        weight = weight if (cells == cells[0]).all() else weight * xr.DataArray(cells, dims=axis)
    return weight


def _shares_at(
    trace: AttentionTrace, choice: Choice, weight: xr.DataArray, positions: dict[str, np.ndarray]
) -> np.ndarray:
    """`shares` of some cells, by their positions on each axis."""
    weights = weight.transpose(*positions).values[tuple(positions.values())].astype(np.float64)
    for axis in [axis for axis in positions if axis not in distribution_axes(trace, choice)]:  # in a fixed order
        cells = cell_counts(weight, axis)
        weights = weights * (cells / cells.sum())[positions[axis]]
    return weights / (distribution_mass(trace, choice) or 1.0)
