"""Which modules to record: by layer number, by a pattern of their path, or by a function of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from triattn_core.recording.names import layer_of_path

Select = None | int | str | Iterable[int | str] | Callable[[str], bool]


def selector(select: Select) -> Callable[[str], bool]:
    """Returns a function of a module path.

    None selects all; a number, a layer; a string, the paths that it matches (`*` and `?` as in file names), or that
    begin with it; several of them, what any of them selects; a function is asked for each path, once.
    """
    matches = _matcher(select)
    known: dict[str, bool] = {}

    def selects(path: str) -> bool:
        if path not in known:
            known[path] = matches(path)
        return known[path]

    return selects


def _matcher(select: Select) -> Callable[[str], bool]:
    if select is None:
        return lambda path: True
    if callable(select):
        return select
    if isinstance(select, int):
        return lambda path: layer_of_path(path) == select
    if isinstance(select, str):
        return lambda path: fnmatchcase(path, select) or path == select or path.startswith(select + ".")
    matchers = [_matcher(part) for part in select]
    return lambda path: any(matches(path) for matches in matchers)
