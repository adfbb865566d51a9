"""Beam search, with the length penalty of Wu et al. 2016 (section 7, Eq. 14)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Next = Callable[[Tensor, Tensor], Tensor]  # (source of each prefix [R], prefixes [R, t]) → log-probabilities [R, V]


@dataclass(frozen=True)
class Hypothesis:
    """A candidate: its tokens, without start and end; the log-probability of these and the end; whether it ended.

    score: the log-probability over the length penalty, by which candidates are ranked.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float
    ended: bool


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6) ^ alpha; the end mark counts."""
    return ((5 + length) / 6) ** alpha


@torch.inference_mode()
def beam_search(
    step: Next, longest: Sequence[int], start: int, end: int, beams: int = 4, alpha: float = 0.6
) -> list[list[Hypothesis]]:
    """At most `beams` hypotheses of each source, best first.

    step: log-probabilities of the next token.  longest: of each source, the most tokens of a hypothesis; one that has
    not ended by then is a candidate as it is.
    """
    ended: list[list[Hypothesis]] = [[] for _ in longest]
    sources = torch.arange(len(longest))
    prefixes = torch.full((len(longest), 1, 1), start)  # [sources, beams, t]
    totals = torch.zeros(len(longest), 1)
    length = 0
    while len(sources):
        length += 1
        width = prefixes.shape[1]
        log_probabilities = step(sources.repeat_interleave(width), prefixes.flatten(0, 1)).cpu()
        vocabulary = log_probabilities.shape[-1]
        joint = (totals[..., None] + log_probabilities.view(len(sources), width, vocabulary)).flatten(1)
        best, places = joint.topk(min(2 * beams, joint.shape[1]))
        rows, alive_rows = [], []
        for i, source in enumerate(sources.tolist()):
            alive: list[tuple[float, int, int]] = []
            for total, place in zip(best[i].tolist(), places[i].tolist()):
                parent, token = divmod(place, vocabulary)
                if total == -torch.inf:
                    continue
                if token == end:
                    tokens = tuple(prefixes[i, parent, 1:].tolist())
                    ended[source].append(Hypothesis(tokens, total, total / length_penalty(length, alpha), True))
                elif len(alive) < beams:
                    alive.append((total, parent, token))
            _keep_best(ended[source], beams)
            if alive and not _is_settled(ended[source], alive[0][0], longest[source], beams, alpha):
                if length < longest[source]:
                    rows.append(i)
                    alive_rows.append(alive)
                    continue
                for total, parent, token in alive:
                    tokens = (*prefixes[i, parent, 1:].tolist(), token)
                    ended[source].append(Hypothesis(tokens, total, total / length_penalty(length, alpha), False))
                _keep_best(ended[source], beams)
        sources, prefixes, totals = _advance(sources, prefixes, rows, alive_rows)
    return ended


def _keep_best(hypotheses: list[Hypothesis], beams: int) -> None:
    hypotheses.sort(key=lambda hypothesis: -hypothesis.score)
    del hypotheses[beams:]


def _is_settled(ended: Sequence[Hypothesis], best_alive: float, longest: int, beams: int, alpha: float) -> bool:
    """Whether no continuation of a prefix can become one of the best: log-probabilities only fall."""
    return len(ended) == beams and best_alive / length_penalty(longest + 1, alpha) <= ended[-1].score


def _advance(
    sources: Tensor, prefixes: Tensor, rows: list[int], alive_rows: list[list[tuple[float, int, int]]]
) -> tuple[Tensor, Tensor, Tensor]:
    """The prefixes of the sources that go on, each with as many beams as the widest: a missing one has -inf."""
    width = max(map(len, alive_rows), default=0)
    totals = torch.full((len(rows), width), -torch.inf)
    new = torch.zeros(len(rows), width, prefixes.shape[2] + 1, dtype=torch.long)
    for i, (row, alive) in enumerate(zip(rows, alive_rows)):
        for beam, (total, parent, token) in enumerate(alive):
            totals[i, beam] = total
            new[i, beam, :-1], new[i, beam, -1] = prefixes[row, parent], token
    return sources[rows], new, totals
