"""Tokens as plain lists of strings: the coordinates of an axis, and the texts that they are cut from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from triattn_core.errors import TraceError, choices

SPECIAL = frozenset("[CLS] [SEP] [PAD] <s> </s> <pad> <|endoftext|> <bos> <eos>".split())
TOKEN_AXES = ("query", "key", "context")


def token_coords(
    sizes: Mapping[str, int],
    kept: Mapping[str, tuple[int, int]],
    tokens: Iterable | None,
    given: Mapping[str, Iterable | None],
    names: Mapping[str, str],
) -> tuple[dict, dict[str, str]]:
    """Coordinates of each axis (`axes.COORDINATES`), and the texts by name.

    sizes: of the whole array; kept: first position and the one after the last; tokens: of every axis that has as many
    positions; given: of one axis.  Where the same list is on several axes they share a text.  Raises TraceError where a
    list does not fit.
    """
    lists = _lists(sizes, kept, tokens, given)
    coords, texts, owners = {}, {}, {}
    for axis in (one for one in TOKEN_AXES if one in sizes):
        words = lists.get(axis)
        if words is None:
            start, stop = kept[axis]
            words, spans, name = [str(i + 1) for i in range(start, stop)], [(0, 0)] * (stop - start), ""
        else:
            name = owners.setdefault(tuple(words), _text_name(axis, words, lists, names))
            texts[name], spans = join_tokens(words)
        called = names.get(axis, name)
        special = [int(word in SPECIAL) for word in words]
        coords |= {
            f"{axis}_token": (axis, words),
            f"{axis}_text": (axis, ["" if mark else name for mark in special]),
            f"{axis}_start": (axis, [start for start, _ in spans]),
            f"{axis}_end": (axis, [end for _, end in spans]),
            f"{axis}_special": (axis, special),
            f"{axis}_segment": (axis, ["" if mark else called for mark in special]),
            f"{axis}_tokens": (axis, [1] * len(words)),
        }
    return coords, texts


def join_tokens(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of tokens, a space between them but before a word piece (##), and the span of each in it; special tokens
    are no part of the text."""
    text, spans = "", []
    for token in tokens:
        if token in SPECIAL:
            spans.append((0, 0))
            continue
        piece = token.startswith("##") and len(token) > 2 and bool(text)
        text += "" if piece or not text else " "
        spans.append((len(text), len(text) + len(token[2:] if piece else token)))
        text += token[2:] if piece else token
    return text, spans


def _text_name(axis: str, words: Sequence[str], lists: Mapping[str, Sequence[str]], names: Mapping[str, str]) -> str:
    """ "tokens" where other axes have the same; else what you call the axis."""
    shared = sum(list(other) == list(words) for other in lists.values())
    return "tokens" if shared > 1 else names.get(axis, axis)


def _lists(
    sizes: Mapping[str, int],
    kept: Mapping[str, tuple[int, int]],
    tokens: Iterable | None,
    given: Mapping[str, Iterable | None],
) -> dict[str, list[str]]:
    """The tokens of each axis that has any, as many as are kept."""
    found = {}
    for axis, words in given.items():
        if words is None:
            continue
        if axis not in sizes:
            raise TraceError(f"tokens of {axis}: there is no such axis; {choices(axis, sizes)}")
        found[axis] = _fitting(axis, _strings(axis, words), sizes[axis], kept[axis])
    if tokens is None:
        return found
    words, free = _strings("tokens", tokens), [axis for axis in TOKEN_AXES if axis in sizes and axis not in found]
    fits = [axis for axis in free if len(words) in (sizes[axis], kept[axis][1] - kept[axis][0])]
    if not fits:
        there = ", ".join(f"{axis} {sizes[axis]}" for axis in free) or "none is left without"
        raise TraceError(f"{len(words)} tokens fit no axis: {there}")
    return found | {axis: _fitting(axis, words, sizes[axis], kept[axis]) for axis in fits}


def _strings(axis: str, words: Iterable) -> list[str]:
    if isinstance(words, str):
        words = words.split()
    words = list(words)
    for word in words:
        if not isinstance(word, str):
            raise TraceError(f"tokens of {axis}: expected strings, got {type(word).__name__} {word!r:.40}")
    return [str(word).replace("\0", "") for word in words]  # HDF5 strings end at a zero


def _fitting(axis: str, words: list[str], size: int, kept: tuple[int, int]) -> list[str]:
    if len(words) == size:
        return words[slice(*kept)]
    if len(words) == kept[1] - kept[0]:
        return words
    raise TraceError(f"tokens of {axis}: {len(words)} for {size} positions; expected one for each")
