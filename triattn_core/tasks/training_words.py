"""Which words the sentences have that a model was trained on, and how long they are: what tells a text in another
language, or one far longer, beside a score that was measured on texts like those of training."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from statistics import fmean
from textwrap import wrap

FILE = "source_words.json"  # of a translation model's folder
HALF = 0.5  # of the words of a text: unknown ones from which it is questioned
ALONE = 2  # unknown words below which it is not: one may be a name
ASKS = "is the text {}?"  # how that line ends, with the language
LONGEST = 99  # per cent of the training sentences that are no longer than `Sources.longest`
# Letters but those of scripts that put no space between words: Thai to Lao, Khmer, Chinese and Japanese.
_WORD = re.compile(r"[^\W\d_\u0e00-\u0eff\u1780-\u17ff\u3000-\u9fff]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True)
class Sources:
    """words: of the training sentences, in lower case.  mean, longest: words of a sentence on average, and the most
    that LONGEST per cent of them have."""

    words: frozenset[str]
    mean: float
    longest: int


def split_words(text: str) -> list[str]:
    """Its words in lower case, without numbers and punctuation."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def count_sources(sources: Iterable[str]) -> Sources:
    """Words and lengths of these sentences, at least one."""
    all_words = [split_words(source) for source in sources]
    lengths = [len(words) for words in all_words]
    longest = sorted(lengths)[ceil(len(lengths) * LONGEST / 100) - 1]
    return Sources(frozenset(word for words in all_words for word in words), round(fmean(lengths), 1), longest)


def sources_text(sources: Sources) -> str:
    """The text of `FILE`: the words in lines."""
    lines = wrap(" ".join(sorted(sources.words)), 110, break_long_words=False, break_on_hyphens=False)
    fields = {"mean": sources.mean, "longest": sources.longest, "words": lines}
    return json.dumps(fields, ensure_ascii=False, indent=0) + "\n"


def read_sources(folder: Path) -> Sources | None:
    """Words and lengths beside a checkpoint; None where it has none."""
    file = folder / FILE
    return _read(file, file.stat().st_mtime_ns) if file.is_file() else None


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> Sources:
    found = json.loads(file.read_text("utf-8"))
    return Sources(frozenset(word for line in found["words"] for word in line.split()), found["mean"], found["longest"])


def unknown_words(words: Sequence[str], known: Collection[str], occur: str, language: str) -> str:
    """A line where half of the words or more are unknown; empty where fewer are, or nothing is known.

    words: in lower case.  occur: how often unknown words occur in training.  language: the name of that read there.
    """
    unknown = sum(word not in known for word in words) if known else 0
    if unknown < max(ALONE, HALF * len(words)):
        return ""
    return f"{unknown:,} of {len(words):,} words {occur} in the {language} of its training: {ASKS.format(language)}"


def longer_text(words: Sequence[str], sources: Sources) -> str:
    """A line where a text has more words than almost every training sentence; else empty."""
    if len(words) <= sources.longest:
        return ""
    return (
        f"The text has {len(words):,} words, {LONGEST} % of the training sentences at most {sources.longest} "
        f"({sources.mean:.1f} on average)."
    )
