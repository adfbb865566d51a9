"""How often each word of the rows that a tagger was trained on is a predicate there: a count beside its weights, and
what it says of a word that is asked about.  Part of speech is not known when a word is clicked; this is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from triattn_core.tasks.roles import Example
from triattn_core.text.direction import isolate

FILE = "predicates.json"  # of a checkpoint's folder
FEW = 5  # occurrences below which a word says too little
SELDOM = 0.02  # of its occurrences: below it a word is probably no predicate
LONGEST = 40  # letters that are quoted: a sentence without spaces is one word
ALWAYS = "The model gives V to nearly any word that is chosen."

Counts = Mapping[str, tuple[int, int]]  # of a word in lower case: its occurrences, and those as a predicate


def count_words(examples: Iterable[Example]) -> dict[str, tuple[int, int]]:
    """The counts over the sentences of these rows, each once; words that occur seldom and are never a predicate are
    left out."""
    predicates: dict[tuple[str, ...], set[int]] = {}
    for example in examples:
        predicates.setdefault(example.words, set()).add(example.predicate)
    all_words, chosen = Counter[str](), Counter[str]()
    for words, places in predicates.items():
        all_words.update(word.lower() for word in words)
        chosen.update(words[place].lower() for place in places)
    return {word: (n, chosen[word]) for word, n in sorted(all_words.items()) if n >= FEW or chosen[word]}


def counts_text(counts: Counts) -> str:
    """The counts as the text of `FILE`, a word a line."""
    lines = (f"{json.dumps(word, ensure_ascii=False)}: {json.dumps(pair)}" for word, pair in counts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_counts(folder: Path) -> Counts:
    """The counts of a checkpoint, empty where it has none."""
    file = folder / FILE
    return _read(file, file.stat().st_mtime_ns) if file.is_file() else {}


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> Counts:
    return {word: (pair[0], pair[1]) for word, pair in json.loads(file.read_text("utf-8")).items()}


def doubt(word: str, counts: Counts) -> str:
    """What the counts say against a word as a predicate, in a line; empty where nothing, or there are no counts."""
    if not counts:
        return ""
    occurrences, chosen = counts.get(word.lower(), (0, 0))
    if chosen and (occurrences < FEW or chosen >= SELDOM * occurrences):
        return ""
    quoted = f"“{isolate(word if len(word) <= LONGEST else word[:LONGEST] + '…')}”"
    if occurrences < FEW:
        return f"{quoted} occurs fewer than {FEW} times in training, never as a predicate: it may be none. {ALWAYS}"
    return (
        f"{quoted} is a predicate in {chosen:,} of its {occurrences:,} occurrences in training: it is probably none. "
        f"{ALWAYS}"
    )
