"""Same-word alignment: does a word look for itself in the other sentence?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triattn_core.text.roles import Role

STOPS = frozenset(".。．")


@dataclass(frozen=True)
class Alignment:
    """Of `count` words that stand in both sentences, how many find themselves, [heads], and how many by chance."""

    found: np.ndarray
    count: int
    chance: float


def words(role: Role) -> list[tuple[str, list[int]]]:
    """The words of a role, case-folded, each with the places of its pieces."""
    found: list[tuple[str, list[int]]] = []
    for place, string in enumerate(role.strings):
        if string.startswith("##") and found:
            found[-1] = (found[-1][0] + string[2:].casefold(), [*found[-1][1], place])
        else:
            found.append((string.casefold(), [place]))
    return found


def align_words(weights: np.ndarray, query: Role, key: Role) -> Alignment:
    """Of the words of `query` that stand in `key` too, how many attend most to an occurrence of themselves.

    weights: [heads, N, I], of real tokens; pieces are averaged over queries and summed over keys.
    """
    asking, keys = words(query), words(key)
    places = {}
    for number, (word, _) in enumerate(keys):
        places.setdefault(word, []).append(number)
    shared = [(at, places[word]) for word, at in asking if word in places and word not in STOPS]
    if not shared:
        return Alignment(np.zeros(len(weights)), 0, 0.0)
    by_word = np.stack([weights[:, :, at].sum(2) for _, at in keys], 2)
    strongest = np.stack([by_word[:, at].mean(1).argmax(1) for at, _ in shared], 1)
    hits = np.stack([np.isin(strongest[:, i], same) for i, (_, same) in enumerate(shared)], 1)
    return Alignment(hits.sum(1).astype(float), len(shared), sum(len(same) for _, same in shared) / len(keys))


def total(alignments: Sequence[Alignment]) -> dict[str, float] | None:
    """Shares in per cent over many maps: the mean of heads, chance, and the best head.

    The best head is chosen on every second map and reported on the others.  None where no word is shared.
    """
    shared = [one for one in alignments if one.count]
    if len(shared) < 2:
        return None
    halves = [shared[::2], shared[1::2]]
    rates = [sum(one.found for one in half) / sum(one.count for one in half) for half in halves]
    count = sum(one.count for one in shared)
    return {
        "mean": 100 * float((sum(one.found for one in shared) / count).mean()),
        "best_head": 100 * float(rates[1][int(rates[0].argmax())]),
        "chance": 100 * sum(one.chance for one in shared) / count,
    }
