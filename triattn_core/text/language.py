"""Guess the language of a text from its letters, and from its commonest words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

READ = 2000  # characters to look at
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_NEIGHBOURS = {"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}  # write Chinese characters too
_COMMON = {  # words that are no English ones
    "German": "aber auch auf das dem den der du ein eine einen er es für habe hast hat ich ihr ist mit nicht seine sie "
    "sind und von wie wir wo zu",
    "French": "avec ce dans des elle est et il ils je les mais ne nous où pas pour que qui sa ses sont sur un une vous",
    "Spanish": "cómo del donde ella es está están hay las lo los muy más para pero por qué que se su sus un una y",
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_SHARE = 0.25  # of a text's words that must be common ones
_WORD = re.compile(r"[a-z\u00c0-\u024f]+(?:['’][a-z]+)?")


def guess_language(text: str) -> str | None:
    """`"zh"` if Chinese characters outnumber Latin words, `"en"` if words do; `"Japanese"`, `"Korean"` or a script such
    as `"Arabic"` if most letters belong to it; `"German"`, `"French"` or `"Spanish"` if two of its commonest words, and
    a quarter of all words, belong to it; otherwise None.

    A single Latin word does not count: Chinese sentences contain Latin names of products and firms.
    """
    text = unicodedata.normalize("NFKC", text[:READ]).lower()
    characters, words = len(_HAN.findall(text)), _WORD.findall(text)
    script, letters = _script(text)
    if letters > sum(map(len, words)) and (script in _NEIGHBOURS or letters > characters):
        return _NEIGHBOURS.get(script, script.title())
    if characters > len(words):
        return "zh"
    return (_other_latin(words) or "en") if len(words) > max(characters, 1) else None


def _other_latin(words: list[str]) -> str | None:
    hits = {language: [word for word in words if word in known] for language, known in _WORDS_OF.items()}
    best = max(hits, key=lambda language: len(hits[language]))
    return best if len(set(hits[best])) > 1 and len(hits[best]) >= _SHARE * len(words) else None


def _script(text: str) -> tuple[str, int]:
    """(script, number of letters) of the most frequent script, by Unicode name, other than Latin and Chinese."""
    names = (unicodedata.name(char, "") for char in text if char.isalpha() and not _HAN.match(char))
    counts = Counter(name.split()[0] for name in names if name and not name.startswith("LATIN"))
    return counts.most_common(1)[0] if counts else ("", 0)


def other_than(code: str, texts: Iterable[str]) -> str | None:
    """The language of most of the texts, if it is not `code`; otherwise None."""
    counts = Counter(filter(None, map(guess_language, texts)))
    language, count = counts.most_common(1)[0] if counts else (None, 0)
    return language if language != code and 2 * count > counts.total() else None
