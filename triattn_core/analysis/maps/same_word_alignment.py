"""Same-word alignment: does a word attend to itself in the other sentence?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triattn_core.text.roles import Role

STOPS = frozenset(".。．")


@dataclass(frozen=True)
class Alignment:
    """Same-word alignment over `count` words that occur in both sentences.

    aligned: [heads], how many attend most to themselves.  chance: how many would by chance.
    """

    aligned: np.ndarray
    count: int
    chance: float


def words(role: Role) -> list[tuple[str, list[int]]]:
    """The words of a role, case-folded, each with the positions of its pieces."""
    pieces: list[tuple[str, list[int]]] = []
    for place, string in enumerate(role.strings):
        if string.startswith("##") and pieces:
            pieces[-1] = (pieces[-1][0] + string[2:].casefold(), [*pieces[-1][1], place])
        else:
            pieces.append((string.casefold(), [place]))
    return pieces


def align_words(weights: np.ndarray, query: Role, key: Role) -> Alignment:
    """How many words of `query` that also occur in `key` attend most to an occurrence of themselves.

    weights: [heads, N, I], of real tokens; pieces are averaged over queries and summed over keys.
    """
    queries, keys = words(query), words(key)
    places: dict[str, list[int]] = {}
    for index, (word, _) in enumerate(keys):
        places.setdefault(word, []).append(index)
    shared = [(positions, places[word]) for word, positions in queries if word in places and word not in STOPS]
    if not shared:
        return Alignment(np.zeros(len(weights)), 0, 0.0)
    by_word = np.stack([weights[:, :, positions].sum(2) for _, positions in keys], 2)
    strongest = np.stack([by_word[:, positions].mean(1).argmax(1) for positions, _ in shared], 1)
    hits = np.stack([np.isin(strongest[:, i], occurrences) for i, (_, occurrences) in enumerate(shared)], 1)
    return Alignment(
        hits.sum(1).astype(float), len(shared), sum(len(occurrences) for _, occurrences in shared) / len(keys)
    )


def total(alignments: Sequence[Alignment]) -> dict[str, float] | None:
    """Shares in per cent over many maps: mean over heads, chance, and best head; None if too few maps share words.

    The best head is selected on every second map and reported on the others.
    """
    shared = [alignment for alignment in alignments if alignment.count]
    if len(shared) < 2:
        return None
    halves = [shared[::2], shared[1::2]]
    rates = [
        np.asarray(sum(alignment.aligned for alignment in half)) / sum(alignment.count for alignment in half)
        for half in halves
    ]
    count = sum(alignment.count for alignment in shared)
    return {
        "mean": 100 * float(np.mean(sum(alignment.aligned for alignment in shared) / count)),
        "best_head": 100 * float(rates[1][int(rates[0].argmax())]),
        "chance": 100 * sum(alignment.chance for alignment in shared) / count,
    }
