"""In which of the shelf's languages a text is written, as far as its letters tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

READ = 2000  # characters that are looked at
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_NEIGHBOURS = {"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}  # write Chinese characters too
_WORD = re.compile(r"[a-z\u00c0-\u024f]+(?:['’][a-z]+)?")


def guess(text: str) -> str | None:
    """`"zh"` where Chinese characters outnumber Latin words, `"en"` where words do; `"Japanese"`, `"Korean"` or a
    script such as `"Arabic"` where that has most of the letters; else None.

    One Latin word is no sign: Chinese sentences name products and firms as they are written.
    """
    text = unicodedata.normalize("NFKC", text[:READ]).lower()
    characters, words = len(_HAN.findall(text)), _WORD.findall(text)
    script, letters = _script(text)
    if letters > sum(map(len, words)) and (script in _NEIGHBOURS or letters > characters):
        return _NEIGHBOURS.get(script, script.title())
    if characters > len(words):
        return "zh"
    return "en" if len(words) > max(characters, 1) else None


def _script(text: str) -> tuple[str, int]:
    """The most frequent script beside Latin and Chinese, as Unicode names its letters, and how many there are."""
    names = (unicodedata.name(one, "") for one in text if one.isalpha() and not _HAN.match(one))
    found = Counter(name.split()[0] for name in names if name and not name.startswith("LATIN"))
    return found.most_common(1)[0] if found else ("", 0)


def other_than(code: str, texts: Iterable[str]) -> str | None:
    """The language that most of the texts look to be in, where it is not `code`."""
    found = Counter(filter(None, map(guess, texts)))
    most, count = found.most_common(1)[0] if found else (None, 0)
    return most if most != code and 2 * count > found.total() else None
