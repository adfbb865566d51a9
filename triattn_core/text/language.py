"""In which of the shelf's languages a text is written, as far as its letters tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

READ = 2000  # characters that are looked at
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_NEIGHBOURS = re.compile("[\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]")  # kana and hangul: Japanese, Korean
_WORD = re.compile(r"[a-z\u00c0-\u024f]+(?:['’][a-z]+)?")


def guess(text: str) -> str | None:
    """`"zh"` where Chinese characters outnumber Latin words, `"en"` where words do; else None.

    One Latin word is no sign: Chinese sentences name products and firms as they are written.
    """
    text = unicodedata.normalize("NFKC", text[:READ]).lower()
    if _NEIGHBOURS.search(text):
        return None
    characters, words = len(_HAN.findall(text)), len(_WORD.findall(text))
    if characters > words:
        return "zh"
    return "en" if words > max(characters, 1) else None


def other_than(code: str, texts: Iterable[str]) -> str | None:
    """The language that most of the texts look to be in, where it is not `code`."""
    found = Counter(filter(None, map(guess, texts)))
    most, count = found.most_common(1)[0] if found else (None, 0)
    return most if most != code and 2 * count > found.total() else None
