"""Translations by a model of ours: batches by beam search, candidates of one sentence, and the trace of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pad_sequence

from triattn_core.attention.tap import TappedTensor, recording
from triattn_core.attention.weight_override import is_overridden, is_silenced
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.beam_search import Hypothesis, beam_search
from triattn_core.inference.predict import batch_by_length
from triattn_core.inference.predictions import Candidate
from triattn_core.models.translation import CROSS, SOURCE, TARGET, Past, Sentences, padded
from triattn_core.text.roles import Role
from triattn_core.text.sub_words import SubWords
from triattn_core.text.texts import Texts
from triattn_core.text.token_names import END, SPACE, START
from triattn_core.trace.site import Site

LONGER, RATIO = 10, 2  # a translation has at most RATIO times the sub-words of its source, and LONGER more
SOURCES = 32  # searched together


class KeptStates:
    """Scores of the next sub-word of prefixes that each continue one of the call before: what the decoder has read of
    them is kept."""

    def __init__(self, model: Any, memory: Tensor, keep: Tensor):
        self.model, self.closed = model, ~keep[:, None, None]
        self.source = [layer.cross.keys_values(memory) for layer in model.decoder]
        self.past: list[Past] = [None] * len(self.source)
        self.places: dict[tuple[int, ...], int] = {}

    def scores(self, rows: Tensor, prefixes: Tensor) -> Tensor:
        """[prefixes, words] of prefixes [prefixes, t] of the sources `rows`."""
        device = self.closed.device
        names = [(row, *prefix) for row, prefix in zip(rows.tolist(), prefixes.tolist())]
        # a beam that is missing has a prefix nobody has read: any will do
        parents = torch.tensor([self.places.get(name[:-1], 0) for name in names], device=device)
        rows = rows.to(device)
        x = self.model.last_state(prefixes[:, -1].to(device), prefixes.shape[1] - 1)
        for i, layer in enumerate(self.model.decoder):
            past, source = self.past[i], self.source[i]
            before = None if past is None else (past[0][parents], past[1][parents])
            x, self.past[i] = layer.last(x, before, (source[0][rows], source[1][rows]), self.closed[rows])
        self.places = {name: place for place, name in enumerate(names)}
        return linear(x[:, 0], self.model.table.weight, self.model.bias)


@torch.inference_mode()
def translate(
    module: nn.Module, source: Sentences, sub_words: SubWords, beams: int = 4, alpha: float = 0.6
) -> list[list[Hypothesis]]:
    """The candidates of each source, best first; `module`: a TranslationModel in eval mode."""
    return continue_memory(module, cast(Any, module).encode(source), source.keep, sub_words, beams, alpha)


@torch.inference_mode()
def continue_memory(
    module: nn.Module, memory: Tensor, keep: Tensor, sub_words: SubWords, beams: int, alpha: float
) -> list[list[Hypothesis]]:
    """The candidates of each memory [B, n, h] of a source, best first."""
    model, never = cast(Any, module), [sub_words.special[name] for name in ("pad", "cls", "mask", "unk")]

    cached = None if is_overridden() or is_silenced() else KeptStates(model, memory, keep)

    def step(rows: Tensor, prefixes: Tensor) -> Tensor:
        if cached is not None:
            scores = cached.scores(rows, prefixes).float()
        else:
            rows, prefixes = rows.to(memory.device), prefixes.to(memory.device)
            target = Sentences(prefixes, torch.ones_like(prefixes, dtype=torch.bool))
            scores = model.decode(memory[rows], keep[rows], target)[:, -1].float()
        scores[:, never] = -torch.inf
        return scores.log_softmax(-1)

    longest = [RATIO * length + LONGER for length in keep.sum(1).tolist()]
    return beam_search(step, longest, sub_words.start, sub_words.end, beams, alpha)


def candidates(bundle: Bundle, memories: Sequence[Tensor]) -> list[tuple[Candidate, ...]]:
    """The candidates of each source, best first, from its memory [n, h]; sources of similar length are searched
    together."""
    config, sub_words = cast(Any, bundle.config), cast(SubWords, bundle.tokenizer)
    answers: list[tuple[Candidate, ...]] = [()] * len(memories)
    lengths = [len(memory) for memory in memories]
    for rows in batch_by_length(lengths, SOURCES):
        memory = pad_sequence([memories[row] for row in rows], batch_first=True).to(bundle.device)
        keep = torch.arange(memory.shape[1]) < torch.tensor([lengths[row] for row in rows])[:, None]
        found = continue_memory(
            bundle.model, memory, keep.to(bundle.device), sub_words, config.beams, config.length_penalty
        )
        for row, hypotheses in zip(rows, found):
            answers[row] = tuple(
                Candidate(sub_words.decode(one.tokens), one.log_probability, one.score, one.tokens, one.ended)
                for one in hypotheses
            )
    return answers


@dataclass(frozen=True)
class TranslatedTexts(Texts):
    """Source and target; the rows of a decoder's maps are the sub-words that it scores, an end mark last; the keys of
    its self-attention those that it has read, `prefix`, from the start mark on."""

    prefix: Role | None = None

    def axes(self, site: Site) -> dict[str, Role]:
        """The role of each axis of a site: of the source, of the target, or of the target over the source."""
        part = site.module
        query = self.roles[SOURCE if part == SOURCE else TARGET]
        return {"query": query, "key": cast(Role, self.prefix) if part == TARGET else self.roles[SOURCE]}


def trace_candidate(
    bundle: Bundle, texts: Texts, candidate: Candidate, keep_site: Callable[[Site], bool]
) -> tuple[TranslatedTexts, Mapping[Site, TappedTensor], Mapping[str, str]]:
    """Roles, recorded sites and texts of a source and one of its candidates, read from its start mark."""
    sub_words = cast(SubWords, bundle.tokenizer)
    source, target = texts.roles[SOURCE], target_role(candidate.sub_words, sub_words)
    prefix = _shifted(target, sub_words.start)
    given = padded([source.ids], sub_words.special["pad"]), padded([prefix.ids], sub_words.special["pad"])
    with recording(keep_site) as record, torch.inference_mode():
        bundle.model(given[0].to(bundle.device), given[1].to(bundle.device))
    sites = {site: tapped for site, tapped in record.sites.items() if site.module in (TARGET, CROSS)}
    roles = {SOURCE: source, TARGET: target}
    return TranslatedTexts(roles, texts.notes, prefix), sites, {TARGET: sub_words.decode(candidate.sub_words)}


def target_role(ids: tuple[int, ...], sub_words: SubWords) -> Role:
    """The sub-words of a translation, and its end mark."""
    spans, strings, end = [], [], 0
    text = sub_words.decode(ids)
    for count in range(1, len(ids) + 1):
        start, end = end, max(end, len(sub_words.decode(ids[:count])))
        part = text[start:end]
        begin = start + len(part) - len(part.lstrip())
        continues = bool(part) and begin == start and start > 0 and text[start].isalnum()
        strings.append(("##" if continues else "") + text[begin:end] or SPACE)
        spans.append((begin, end))
    size = len(ids)
    return Role(
        ids=(*ids, sub_words.end),
        strings=(*strings, END),
        texts=(*[TARGET] * size, ""),
        spans=(*spans, (0, 0)),
        special=(*[False] * size, True),
        positions=tuple(range(size + 1)),
        types=(0,) * (size + 1),
        segments=(*["Translation"] * size, ""),
    )


def _shifted(target: Role, start: int) -> Role:
    """What the decoder reads for each of a target's sub-words: the mark `start`, then the sub-word before."""
    return Role(
        ids=(start, *target.ids[:-1]),
        strings=(START, *target.strings[:-1]),
        texts=("", *target.texts[:-1]),
        spans=((0, 0), *target.spans[:-1]),
        special=(True, *target.special[:-1]),
        positions=target.positions,
        types=target.types,
        segments=("", *target.segments[:-1]),
    )
