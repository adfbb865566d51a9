"""What lists of texts say, row by row, out of the payload of `views.answers` and of `views.agreement`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def column(rows: Mapping[str, Any], mark: str, look: str = "") -> dict[str, Any]:
    """The first column of a kind; without values where there is none."""
    none = {"values": []}
    return next((one for one in rows["columns"] if one["mark"] == mark and one.get("look", "") == look), none)


def options(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options as they stand below each other: which one, its letter or number, its text, its shares, whether it is
    right."""
    (rows,) = payload["sections"][1]["parts"]
    shares = zip(*(one["values"] for one in rows["columns"] if one["mark"] == "meters"))
    marks, texts = (column(rows, "words", look)["values"] for look in ("mark", "text"))
    right = column(rows, "chips")["values"] or [False] * len(marks)
    names = ("at", "mark", "text", "shares", "right")
    return [dict(zip(names, row)) for row in zip(rows["values"], marks, texts, map(list, shares), right)]


def chosen(payload: Mapping[str, Any]) -> int:
    """The option that is chosen."""
    (rows,) = payload["sections"][1]["parts"]
    return rows["values"][rows["chosen"]]


def pinned(payload: Mapping[str, Any]) -> list[int]:
    """The options that are compared with the chosen one."""
    (rows,) = payload["sections"][1]["parts"]
    return [at for at, look in zip(rows["values"], rows["looks"]) if look == "pinned"]


def passage(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """The passage; None of a chat."""
    first = payload["sections"][0]["parts"][0]
    return first if first["kind"] == "passage" else None


def turns(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The texts of a chat, or those below a passage: in few letters and in words, who says it, its text, its share, and
    how it looks."""
    rows = payload["sections"][0]["parts"][-1]
    mark, who, bubble = (column(rows, "words", look) for look in ("mark", "who", "bubble"))
    speakers = who["values"] or [""] * len(bubble["values"])
    shares, names = column(rows, "meters")["values"], ("short", "long", "who", "text", "share", "looks")
    cells = zip(mark["values"], mark["help"], speakers, bubble["values"], shares, rows["looks"])
    return [dict(zip(names, row)) for row in cells]


def read_texts(payload: Mapping[str, Any]) -> list[str]:
    """All texts that go in."""
    first = passage(payload)
    return [*([first["text"]] if first else []), *(turn["text"] for turn in turns(payload))]
