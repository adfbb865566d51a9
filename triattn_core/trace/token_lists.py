"""Coordinates and texts from tokens given as plain lists of strings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from triattn_core.errors import TraceError, choices
from triattn_core.trace.axes import TOKEN_AXES

HALF = re.compile("[\ud800-\udfff]")  # half a character alone
# The forms of special tokens in published vocabularies, but those for unknown words, which stand for text.
_SPECIAL = re.compile(
    r"\[(CLS|SEP|PAD|MASK|BOS|EOS|EOT|START|END|INST|/INST|unused\d+)\]|<\|[^|<>\s]+\|>|<｜[^｜<>]+｜>|<extra_id_\d+>|<unused\d+>"
    r"|</?(s|pad|cls|sep|mask|bos|eos|eot|eod|eop|start_of_turn|end_of_turn|start_of_image|end_of_image)>"
)


def token_coords(
    sizes: Mapping[str, int],
    crops: Mapping[str, tuple[int, int]],
    tokens: Iterable | None,
    tokens_by_axis: Mapping[str, Iterable],
    names: Mapping[str, str],
    special_tokens: Iterable[str] = (),
) -> tuple[dict, dict[str, str]]:
    """Coordinates of each axis (`axes.COORDINATES`), and the texts by name.

    sizes: of the uncropped array; crops: (first position, one past the last) of each axis; tokens: tokens of every axis
    with that many positions; tokens_by_axis: tokens of one axis; special_tokens: those that are no text, beside those
    whose form says so (`is_special`). Axes with the same tokens share a text.  Raises
    TraceError if a list does not fit.
    """
    known = frozenset(special_tokens)
    lists = _lists(sizes, crops, tokens, tokens_by_axis)
    coords: dict[str, tuple] = {}
    texts: dict[str, str] = {}
    owners: dict[tuple, str] = {}
    for axis in filter(sizes.__contains__, TOKEN_AXES):
        words = lists.get(axis)
        if words is None:
            start, stop = crops[axis]
            words, spans, name = [str(i + 1) for i in range(start, stop)], [(0, 0)] * (stop - start), ""
        else:
            name = owners.setdefault(tuple(words), _text_name(axis, words, lists, names))
            texts[name], spans = join_tokens(words, known)
        segment = names.get(axis, name)
        special = [int(is_special(word, known)) for word in words]
        coords |= {
            f"{axis}_token": (axis, words),
            f"{axis}_text": (axis, ["" if is_special else name for is_special in special]),
            f"{axis}_start": (axis, [start for start, _ in spans]),
            f"{axis}_end": (axis, [end for _, end in spans]),
            f"{axis}_special": (axis, special),
            f"{axis}_segment": (axis, ["" if is_special else segment for is_special in special]),
            f"{axis}_tokens": (axis, [1] * len(words)),
        }
    return coords, texts


def is_special(token: str, known: Collection[str] = ()) -> bool:
    """Whether a token is special: one of `known`, or of a form that special tokens have, such as [CLS] or <|end|>."""
    return token in known or bool(_SPECIAL.fullmatch(token))


def join_tokens(tokens: Sequence[str], special: Collection[str] = ()) -> tuple[str, list[tuple[int, int]]]:
    """Join tokens to a text, with spaces except before word pieces (##); returns it with the span of each token.

    Special tokens are not part of the text.
    """
    text, spans = "", []
    for token in tokens:
        if is_special(token, special):
            spans.append((0, 0))
            continue
        piece = token.startswith("##") and len(token) > 2 and bool(text)
        text += "" if piece or not text else " "
        spans.append((len(text), len(text) + len(token[2:] if piece else token)))
        text += token[2:] if piece else token
    return text, spans


def _text_name(axis: str, words: Sequence[str], lists: Mapping[str, Sequence[str]], names: Mapping[str, str]) -> str:
    """ "tokens" if several axes share these words; otherwise your name for the axis."""
    shared = sum(list(other) == list(words) for other in lists.values())
    return "tokens" if shared > 1 else names.get(axis, axis)


def _lists(
    sizes: Mapping[str, int],
    crops: Mapping[str, tuple[int, int]],
    tokens: Iterable | None,
    tokens_by_axis: Mapping[str, Iterable],
) -> dict[str, list[str]]:
    """The tokens of each axis that has any, cropped."""
    lists = {}
    for axis, words in tokens_by_axis.items():
        if axis not in sizes:
            raise TraceError(f"tokens of {axis}: there is no such axis; {choices(axis, sizes)}")
        lists[axis] = _fitting(axis, _strings(axis, words), sizes[axis], crops[axis])
    if tokens is None:
        return lists
    words, unlisted = _strings("tokens", tokens), [axis for axis in TOKEN_AXES if axis in sizes and axis not in lists]
    fitting = [axis for axis in unlisted if len(words) in (sizes[axis], crops[axis][1] - crops[axis][0])]
    if not fitting:
        lengths = ", ".join(f"{axis} {sizes[axis]}" for axis in unlisted) or "none is left without"
        raise TraceError(f"{len(words)} tokens fit no axis: {lengths}")
    return lists | {axis: _fitting(axis, words, sizes[axis], crops[axis]) for axis in fitting}


def _strings(axis: str, words: Iterable) -> list[str]:
    if isinstance(words, str):
        words = words.split()
    words = list(words)
    for word in words:
        if not isinstance(word, str):
            raise TraceError(f"tokens of {axis}: expected strings, got {type(word).__name__} {word!r:.40}")
    return [_written(word) for word in words]


def _written(word: str) -> str:
    """The word as a file can hold it: HDF5 strings end at a zero byte, and half a character is no text."""
    word = str(word).replace("\0", "")
    return word if word.isascii() else HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", word)


def _fitting(axis: str, words: list[str], size: int, crop: tuple[int, int]) -> list[str]:
    if len(words) == size:
        return words[slice(*crop)]
    if len(words) == crop[1] - crop[0]:
        return words
    raise TraceError(f"tokens of {axis}: {len(words)} for {size} positions; expected one for each")
