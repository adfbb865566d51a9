"""Reads tokens from a file: JSON, or plain text with one token per line."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.errors import DataError
from triattn_core.text.rows import HALF, is_text
from triattn_core.trace.axes import TOKEN_AXES

MOST_BYTES = 4 << 20


def read_tokens(path: Path) -> dict[str, list[str]]:
    """Tokens as `trace_of` takes them: {"tokens": […]} of a list, {"query": […], "key": […]} of a JSON object.

    Raises DataError in one line: no such file, no JSON, or neither of these.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if path.stat().st_size > MOST_BYTES:
        raise DataError(f"{path}: more than {MOST_BYTES >> 20} MiB, no list of tokens")
    try:
        return parse_tokens(path.read_bytes().decode("utf-8-sig"), path.suffix == ".json")
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def parse_tokens(text: str, as_json: bool | None = None) -> dict[str, list[str]]:
    """As `read_tokens`, from a text.  as_json: None detects JSON by its first character.  Other text has one token per
    line, which ends at a line feed and may be empty; a single line is split into words."""
    if as_json is None:
        as_json = text.lstrip()[:1] in ("[", "{")
    if not as_json:
        lines = text.removesuffix("\n").split("\n")
        if all(line.endswith("\r") for line in lines[:-1]):  # of Windows
            lines = [line.removesuffix("\r") for line in lines]
        return {"tokens": lines if len(lines) > 1 else text.split()}
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected JSON ({error})") from None
    if isinstance(content, list):
        content = {"tokens": content}
    if not isinstance(content, dict) or not content:
        raise DataError('expected a list of tokens, or {"query": […], "key": […], "context": […]}')
    for name, words in content.items():
        if name not in ("tokens", "special", *TOKEN_AXES):
            known = f"{', '.join(TOKEN_AXES)}, tokens for all, or special for those that are no text"
            raise DataError(f"{name!r} is no axis with tokens; known: {known}")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise DataError(f"{name}: expected a list of strings")
        if not all(map(is_text, words)):
            raise DataError(f"{name}: {HALF}")
    return content
