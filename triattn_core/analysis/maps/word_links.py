"""Which word of a source each word of a target is linked to: links of words from weights over their sub-words."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

Links = set[tuple[int, int]]  # (source word, target word), from 0
HALF = 0.5  # of the strongest weight: from there on a second word is named


@dataclass(frozen=True)
class WordLink:
    """A target word and the source words that it looks at most, (word, weight), the strongest first: one, and a second
    that has at least HALF of its weight."""

    target: str
    sources: tuple[tuple[str, float], ...]


def word_weights(
    weights: np.ndarray, source_words: Sequence[int], target_words: Sequence[int]
) -> dict[int, np.ndarray]:
    """Of each target word, in order, its weights over source words: from [target, source] over sub-words, summed over
    those of a source word and averaged over those of a target word; *_words: the word of each."""
    by_source = np.zeros((len(weights), max(source_words) + 1))
    for piece, word in enumerate(source_words):
        by_source[:, word] += weights[:, piece]
    owners = np.array(target_words)
    return {word: by_source[owners == word].mean(0) for word in sorted(set(target_words))}


def strongest_links(weights: np.ndarray, source_words: Sequence[int], target_words: Sequence[int]) -> Links:
    """The link of each target word to the source word with the most weight; see `word_weights`."""
    found = word_weights(weights, source_words, target_words)
    return {(int(over_source.argmax()), word) for word, over_source in found.items()}


def diagonal_links(source_words: int, target_words: int) -> Links:
    """Each target word to the source word at the same share of its sentence."""
    return {(int((word + 0.5) * source_words / target_words), word) for word in range(target_words)}


def word_of_each(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The index of the word, split at white space, that holds each span."""
    return [max(0, len(text[: start + 1].split()) - 1) for start, _ in spans]


def word_parts(text: str) -> list[tuple[int, str]]:
    """(start, part): words without the punctuation around them, and this by itself."""
    parts = []
    for chunk in re.finditer(r"\S+", text):
        start, end = chunk.span()
        inside = [i for i in range(start, end) if is_word(text[i])] or [start, end - 1]
        cuts = (start, inside[0], inside[-1] + 1, end)
        parts += [(first, text[first:last]) for first, last in zip(cuts, cuts[1:]) if first < last]
    return parts


def traced_links(trace: AttentionTrace, layer: int, head: int | None) -> tuple[list[WordLink], list[str]]:
    """The links of a traced translation's words in their order, and the source words that none looks at most, of a head
    of its cross-attention; layer, head: from 0, None for the mean of heads.  Punctuation is a word of the source by
    itself, and none of the target."""
    weights = trace.sites[Site("cross", layer, quantity="weight")]
    weights = weights.mean("head") if head is None else weights.isel(head=head)
    texts, places = [word_parts(trace.texts[name]) for name in ("source", "target")], []
    for parts, axis in zip(texts, ("key", "query")):
        weights = weights.isel({axis: np.flatnonzero(weights[f"{axis}_special"].values == 0)})
        starts = [start for start, _ in parts]
        places.append([max(0, bisect(starts, start) - 1) for start in weights[f"{axis}_start"].values.tolist()])
    source, target = ([part for _, part in parts] for parts in texts)
    if not all(places):
        return [], list(filter(is_word, source))
    found = word_weights(weights.transpose("query", "key").values, *places)
    links = [WordLink(target[word], _strongest(source, row)) for word, row in found.items() if is_word(target[word])]
    linked = {int(row.argmax()) for word, row in found.items() if is_word(target[word])}
    return links, [source[i] for i in sorted(set(places[0]) - linked) if is_word(source[i])]


def _strongest(words: Sequence[str], weights: np.ndarray) -> tuple[tuple[str, float], ...]:
    first, *others = np.argsort(-weights, kind="stable")[:2]
    seconds = [i for i in others if weights[i] >= HALF * weights[first] > 0]
    return tuple((words[i], float(weights[i])) for i in (first, *seconds))


def is_word(part: str) -> bool:
    """Whether there is more in it than punctuation and symbols."""
    return any(category(character)[0] not in "PS" for character in part)
