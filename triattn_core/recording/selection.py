"""Which modules to record: by layer number, by a pattern of their path, or by a function of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

from torch import nn

from triattn_core.errors import ConfigError
from triattn_core.recording.layer_lists import layer_numbers

Select = None | int | str | Iterable[int | str] | Callable[[str], bool]


def check_select(model: nn.Module, select: Select) -> None:
    """Raises ConfigError in one line where a layer or pattern of `select` names no module of the model, or is none."""
    if select is None or callable(select):
        return
    parts = [select] if isinstance(select, int | str) else list(select) if isinstance(select, Iterable) else [select]
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, int | str):
            raise ConfigError(
                f"select {part!r}: expected a layer, such as 3, a module, such as 'encoder.*', or several"
            )
    if "" in parts:
        raise ConfigError("select '': nothing was selected; leave it out to select all")
    numbers = layer_numbers(model)
    for part in parts:
        if not any(map(_matcher(part, numbers), numbers)):
            layers = sorted({layer for layer in numbers.values() if layer is not None})
            known = f"layers are {layers[0]} to {layers[-1]}, counted from 0" if layers else "it has no numbered layers"
            what = f"no layer {part}" if isinstance(part, int) else f"no module {part!r}"
            raise ConfigError(f"select: {type(model).__name__} has {what}; {known}")


def selector(select: Select, layers: Mapping[str, int | None]) -> Callable[[str], bool]:
    """Returns a function of a module path.

    None selects all; a number, a layer; a string, the paths that it matches (`*` and `?` as in file names), or that
    begin with it; several of them, what any of them selects; a function is asked for each path, once.
    layers: the number of each path, see `layer_numbers`.
    """
    matches = _matcher(select, layers)
    known: dict[str, bool] = {}

    def selects(path: str) -> bool:
        if path not in known:
            known[path] = matches(path)
        return known[path]

    return selects


def _matcher(select: Select, layers: Mapping[str, int | None]) -> Callable[[str], bool]:
    if select is None:
        return lambda path: True
    if callable(select):
        return select
    if isinstance(select, int):
        return lambda path: layers.get(path) == select
    if isinstance(select, str):
        return lambda path: fnmatchcase(path, select) or path == select or path.startswith(select + ".")
    matchers = [_matcher(part, layers) for part in select]
    return lambda path: any(matches(path) for matches in matchers)
