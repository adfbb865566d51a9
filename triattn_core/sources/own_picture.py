"""A picture as a module of one's own reads it: its tokens are the patches.

Nothing says how such a module cuts a picture.  Its patches are taken for squares, row by row, after at most MOST_EXTRA
other tokens: the size is the one by which the pixels that it was given are as many patches as an axis has positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from torch import Tensor

from triattn_core.importers.pictures import as_png, patch_columns, patch_tokens
from triattn_core.importers.token_coords import token_columns
from triattn_core.trace import AttentionTrace

ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif")
MOST_EXTRA = 8  # [CLS], registers
NO_PATCHES = "No axis has as many positions as square patches of the picture: keys have numbers."


def patch_grid(height: int, width: int, positions: int) -> tuple[int, int] | None:
    """Returns the rows and columns of square patches that are so many positions, with the fewest others before them;
    None where no size fits."""
    sizes = [n for n in range(1, min(height, width) + 1) if height % n == 0 and width % n == 0]
    grids = [(height // n, width // n) for n in sizes]
    fitting = [grid for grid in grids if 0 <= positions - grid[0] * grid[1] <= MOST_EXTRA and grid[0] * grid[1] > 1]
    return max(fitting, key=lambda grid: grid[0] * grid[1], default=None)


def over_picture(trace: AttentionTrace, image: Any, inputs: Any) -> AttentionTrace:
    """Returns a trace with patches along each axis that has them all, and the picture as the module read it.

    image: of PIL.  inputs: of the module, of which the first tensor [..., 1 or 3, height, width] is the picture.
    """
    pixels = next(_pictures(inputs), None)
    if pixels is None:
        return _noted(trace)
    sites = {site: _with_patches(array, *pixels.shape[-2:]) for site, array in trace.sites.items()}
    if not any("key_patch_row" in array.coords for array in sites.values()):
        return _noted(trace)
    return replace(trace, sites=sites, meta={**trace.meta, "picture": as_png(_levels(pixels, image))})


def _noted(trace: AttentionTrace) -> AttentionTrace:
    notes = "\n".join(filter(None, [str(trace.meta.get("notes", "")), NO_PATCHES]))
    return replace(trace, meta={**trace.meta, "notes": notes})


def _pictures(inputs: Any) -> Iterator[np.ndarray]:
    """The first picture of each tensor that holds some, [1 or 3, height, width]."""
    if isinstance(inputs, Tensor):
        if inputs.ndim in (3, 4) and inputs.shape[-3] in (1, 3):
            yield inputs.detach().cpu().double().numpy().reshape(-1, *inputs.shape[-3:])[0]
    elif isinstance(inputs, list | tuple | Mapping):
        for part in inputs.values() if isinstance(inputs, Mapping) else inputs:
            yield from _pictures(part)


def _levels(pixels: np.ndarray, image: Any) -> np.ndarray:
    """The pixels as levels 0 to 255 [height, width, 3]: each channel with the mean and deviation that it has in the
    picture, since how they were normalised is not known."""
    height, width = pixels.shape[-2:]
    like = np.asarray(image.resize((width, height)), np.float64).transpose(2, 0, 1)
    like = like if len(pixels) == 3 else like.mean(0, keepdims=True)
    over = (1, 2)
    unit = (pixels - pixels.mean(over, keepdims=True)) / np.maximum(pixels.std(over, keepdims=True), 1e-12)
    levels = unit * like.std(over, keepdims=True) + like.mean(over, keepdims=True)
    return np.broadcast_to(levels, (3, height, width)).transpose(1, 2, 0)


def _with_patches(array: xr.DataArray, height: int, width: int) -> xr.DataArray:
    coords: dict[str, Any] = {}
    for axis in ("query", "key"):
        grid = patch_grid(height, width, array.sizes.get(axis, 0))
        if grid is None:
            continue
        extra = array.sizes[axis] - grid[0] * grid[1]
        names = ("[CLS]",) if extra == 1 else tuple(f"special {i + 1}" for i in range(extra))
        tokens = patch_tokens(*grid, names)
        coords |= token_columns(tokens, axis) | patch_columns(tokens, extra, *grid, axis)
    return array.assign_coords(coords)
