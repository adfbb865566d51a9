"""The tokens of recorded maps: of which axes they are, and that they fit one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr
from torch import nn

from triattn_core.errors import TraceError, choices
from triattn_core.trace.axes import TOKEN_AXES
from triattn_core.trace.site import Site
from triattn_core.trace.token_lists import token_coords


def with_tokens(
    array: xr.DataArray, tokens: Iterable[str] | None, given: Mapping[str, Iterable[str] | None], model: nn.Module
) -> tuple[xr.DataArray, dict[str, str]]:
    """The array with the tokens of each axis that has as many positions; keys that a module of the model adds are named
    after those of the text."""
    sizes = {str(axis): size for axis, size in array.sizes.items()}
    words = None if tokens is None else list(tokens)
    fitting = words if words is not None and len(words) in [sizes[axis] for axis in sizes if axis != "head"] else None
    by_axis = {axis: list(own) for axis, own in given.items() if own is not None and axis in sizes}
    added = added_keys(model, str(array.attrs.get("module", "")))
    before = by_axis.get("key") or words or []
    if added and len(before) + len(added) == sizes.get("key"):
        by_axis["key"] = [*before, *added]
    by_axis = {axis: own for axis, own in by_axis.items() if len(own) == sizes[axis]}
    if fitting is not None and not any(sizes[axis] == len(fitting) for axis in sizes if axis not in (*by_axis, "head")):
        fitting = None
    crops = {axis: (0, size) for axis, size in sizes.items()}
    coords, texts = token_coords(sizes, crops, fitting, by_axis, {}, added)
    return array.assign_coords(coords), texts


def added_keys(model: nn.Module, path: str) -> list[str]:
    """The names of keys that torch's own attention puts after those of the text: one that it learned, and one whose
    value is zero."""
    module: Any = model
    for name in filter(None, path.split(".")):  # TorchScript has no get_submodule
        module = getattr(module, name, None)
    if not isinstance(module, nn.MultiheadAttention):
        return []
    return ["[BIAS]"] * (module.bias_k is not None) + ["[ZERO]"] * module.add_zero_attn


def tokens_by_axis(
    tokens: Mapping[str, Iterable[str]], named: Mapping[str, Iterable[str] | None]
) -> tuple[dict[str, Iterable[str] | None], Iterable[str] | None]:
    """Tokens by axis, those given by name first, and those of all other axes.  Raises TraceError for another name."""
    for name in tokens:
        if name not in (*named, "tokens"):
            raise TraceError(f"tokens of {name}: there is no such axis; {choices(str(name), [*named, 'tokens'])}")
    return {axis: tokens.get(axis) if own is None else own for axis, own in named.items()}, tokens.get("tokens")


def words_of(tokens: Iterable[str]) -> Iterable[str]:
    """Tokens as a list of them is, a text split at its spaces."""
    return tokens.split() if isinstance(tokens, str) else tokens


def require_fit(
    arrays: Mapping[Site, xr.DataArray], tokens: list[str] | None, given: Mapping[str, list[str]], model: nn.Module
) -> None:
    """Raises TraceError where tokens fit no axis of any map: they would be dropped without a word."""
    for name, words, axes in [("tokens", tokens, TOKEN_AXES), *((axis, own, (axis,)) for axis, own in given.items())]:
        sizes = {array.sizes[axis] for array in arrays.values() for axis in axes if axis in array.sizes}
        if "key" in axes:
            sizes |= {
                array.sizes.get("key", 0) - len(added_keys(model, array.attrs["module"])) for array in arrays.values()
            }
        if words is not None and len(words) not in sizes:
            there = ", ".join(map(str, sorted(sizes))) or "none"
            raise TraceError(f"{name}: {len(words)} given, and no map has as many there (but {there})")
