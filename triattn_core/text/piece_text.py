"""The text that the pieces of a tokenizer stand for, and the characters of each, where it gives no offsets: as for what
a model writes itself.

How the pieces are put together is asked of the tokenizer, with a few pieces of each form: letters for bytes (GPT-2,
ByT5), "##" before what continues a word (BERT), "@@" after what a word goes on from (CTRL), "</w>" after a word (CLIP),
and "▁" for a space, with names of bytes (Llama); else pieces stand beside each other.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from triattn_core.text.token_names import BYTES

BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
ESCAPED = "surrogateescape"  # a byte of no character is one of U+DC80 to U+DCFF


def piece_spans(tokenizer: Any, pieces: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of the pieces, and of each the characters that it has a part in; a byte that is a part of no character
    is one of its own, of U+DC80 to U+DCFF."""
    parts = _bytes(tokenizer, pieces)
    text = b"".join(parts).decode("utf-8", ESCAPED)
    starts = [0, *accumulate(len(char.encode("utf-8", ESCAPED)) for char in text)]
    spans, first = [], 0
    for part in parts:
        start = bisect_right(starts, first) - 1
        spans.append((start, bisect_right(starts, first + len(part) - 1) if part else start))
        first += len(part)
    return text, spans


def give_decoder(tokenizer: Any) -> None:
    """Gives a tokenizer that was saved without a decoder the one that its pieces are made for: letters for bytes, or a
    mark for a space; without one each piece would stand as it is in the vocabulary."""
    from tokenizers import decoders

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or backend.decoder is not None:
        return
    made_by = f"{backend.pre_tokenizer!r} {backend.normalizer!r}"
    if "ByteLevel(" in made_by:
        backend.decoder = decoders.ByteLevel()
    elif "Metaspace(" in made_by or "\u2581" in made_by:
        parts = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
        backend.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)])


def _bytes(tokenizer: Any, pieces: Sequence[str]) -> list[bytes]:
    """What each piece stands for, in UTF-8."""
    added = set(getattr(tokenizer, "added_tokens_encoder", ()))
    ends = "</w>" if _joined(tokenizer, "a</w>", "b").strip() == "a b" else ""
    plain = _form(tokenizer)
    parts = []
    for piece in pieces:
        if piece in added:
            parts.append(piece.encode("utf-8", "replace"))
        elif ends and piece.endswith(ends):
            parts.append(plain(piece.removesuffix(ends)) + b" ")
        else:
            parts.append(plain(piece))
    return parts


def _form(tokenizer: Any) -> Any:
    """The function that gives the bytes of a piece."""
    if _joined(tokenizer, "Ã", "©").strip() == "é":
        return _of_letters
    if _joined(tokenizer, "a", "##b") == "ab" or _model(tokenizer) == "WordPiece":
        return lambda piece: (piece[2:] if piece.startswith("##") and piece[2:] else f" {piece}").encode()
    if _joined(tokenizer, "a@@", "b").strip() == "ab":
        return lambda piece: (piece[:-2] if piece.endswith("@@") else f"{piece} ").encode()
    spaced = "\u2581" if _joined(tokenizer, "a", "\u2581b").strip() == "a b" else ""
    has_bytes = _joined(tokenizer, "<0x41>", "<0x42>").strip() == "AB"
    apart = " " if not spaced and _joined(tokenizer, "a", "b").strip() == "a b" else ""

    def plain(piece: str) -> bytes:
        if has_bytes and (byte := BYTE.fullmatch(piece)):
            return bytes([int(byte[1], 16)])
        return apart.encode() + (piece.replace(spaced, " ") if spaced else piece).encode("utf-8", "replace")

    return plain


def _of_letters(piece: str) -> bytes:
    codes = [BYTES.get(char, ord(char)) for char in piece]
    return bytes(codes) if max(codes, default=0) < 256 else piece.encode("utf-8", "replace")


def _joined(tokenizer: Any, *pieces: str) -> str:
    """What a tokenizer makes of pieces, which its vocabulary may not have."""
    try:
        return str(tokenizer.convert_tokens_to_string(list(pieces)))
    except Exception:  # each tokenizer in Python has its own
        return ""


def _model(tokenizer: Any) -> str:
    return type(tokenizer.backend_tokenizer.model).__name__ if getattr(tokenizer, "is_fast", False) else ""
