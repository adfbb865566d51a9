"""Which word of a source each word of a target is linked to: links of words from weights over their sub-words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

Links = set[tuple[int, int]]  # (source word, target word), from 0


def strongest_links(weights: np.ndarray, source_words: Sequence[int], target_words: Sequence[int]) -> Links:
    """The link of each target word, from weights [target, source] over sub-words; *_words: the word of each."""
    by_source = np.zeros((len(weights), max(source_words) + 1))
    for piece, word in enumerate(source_words):
        by_source[:, word] += weights[:, piece]
    links = set()
    for word in sorted(set(target_words)):
        mean = by_source[[piece for piece, owner in enumerate(target_words) if owner == word]].mean(0)
        links.add((int(mean.argmax()), word))
    return links


def diagonal_links(source_words: int, target_words: int) -> Links:
    """Each target word to the source word at the same share of its sentence."""
    return {(int((word + 0.5) * source_words / target_words), word) for word in range(target_words)}


def word_of_each(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The index of the word, split at white space, that holds each span."""
    return [max(0, len(text[: start + 1].split()) - 1) for start, _ in spans]


def traced_links(trace: AttentionTrace, layer: int, head: int | None) -> tuple[list[tuple[str, str]], list[str]]:
    """((source word, target word) in the target's order, source words without a link), of a head of a traced
    translation's cross-attention; layer, head: from 0, None for the mean of heads."""
    weights = trace.sites[Site("cross", layer, quantity="weight")]
    weights = weights.mean("head") if head is None else weights.isel(head=head)
    texts, words = [trace.texts[name] for name in ("source", "target")], []
    for text, axis in zip(texts, ("key", "query")):
        weights = weights.isel({axis: np.flatnonzero(weights[f"{axis}_special"].values == 0)})
        starts = weights[f"{axis}_start"].values.tolist()
        words.append(word_of_each(text, [(start, start) for start in starts]))
    if not all(words):
        return [], texts[0].split()
    links = sorted(strongest_links(weights.transpose("query", "key").values, *words), key=lambda link: link[1])
    source, target = (text.split() for text in texts)
    linked = {word for word, _ in links}
    return [(source[a], target[b]) for a, b in links], [source[i] for i in sorted(set(words[0]) - linked)]
