"""Whether cross-attention aligns words: its alignment error rate against alignments made by people or a word aligner.

    AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)            Och and Ney 2000

A: hard links of a head, from each target word to the source word with the most weight.  S: sure links; P: possible
ones, S among them.  Weights are summed over the sub-words of a source word and averaged over those of a target word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
import torch

from triattn_core.analysis.maps.saliency import source_saliency
from triattn_core.analysis.maps.word_links import Links, diagonal_links, strongest_links, word_of_each
from triattn_core.analysis.score_test import paired_test
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import InputError
from triattn_core.models.translation import CROSS, padded
from triattn_core.text.sub_words import SubWords
from triattn_core.trace.site import Site


def alignment_error_rate(rows: Iterable[tuple[Links, Links, Links]]) -> float:
    """AER, a share, over sentences: hard links, sure links and possible links of each."""
    counts = list(map(_counts, rows))
    return _share(float(sum(hits for hits, _ in counts)), float(sum(total for _, total in counts)))


def _counts(row: tuple[Links, Links, Links]) -> tuple[int, int]:
    """The hits of a sentence, and the most that there could be."""
    links, sure, possible = row
    return len(links & sure) + len(links & (possible | sure)), len(links) + len(sure)


def _share(hits: float, total: float) -> float:
    return 1 - hits / total if total else 0.0


def less_than(rows: Sequence[tuple[Links, Links, Links]], others: Sequence[tuple[Links, Links, Links]]) -> list[float]:
    """[difference, low, high]: AER of rows less that of others on the same sentences, in points, and the ends of its
    95 % interval, a paired bootstrap over sentences."""
    first, second = (np.array([_counts(row) for row in side], float)[None] for side in (others, rows))
    return [round(value, 2) for value in paired_test(first, second, lambda sums: 100 * _share(*sums))[:3]]


def measure_alignment_error(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda count: None
) -> dict[str, Any]:
    """{"n", "words", "lower_case", "heads", "baselines"}, errors in per cent; of each head {"layer", "head", "aer",
    "less_diagonal"}.  words: of a source on average, split at white space; lower_case: whether all sources are.
    And "unread", where there are such: links that are left out, as they name a word that is not read.

    Each target is read as given, not translated; row t of a head is that which scores sub-word t.  head None: the mean
    of a layer's heads.  baselines: a diagonal, even weights, and gradients (`saliency`).
    less_diagonal: `less_than` the diagonal.
    Raises InputError if no example has alignments.
    """
    sub_words = cast(SubWords, bundle.tokenizer)
    aligned = [example for example in examples if example.sure and example.label]
    if not aligned:
        raise InputError("no row has alignments (`sure`): nothing to measure")
    found: dict[tuple[int, int | None], list] = {}
    baselines: dict[str, list] = {"diagonal": [], "even": [], "gradients": []}
    unread = 0
    for example in aligned:
        source_text, target_text = example.source, example.label[0]
        source, target = sub_words.encode([source_text, target_text], bundle.config.max_tokens)
        words = word_of_each(source_text, source.spans), word_of_each(target_text, target.spans)
        inside = {(i, j) for i in range(max(words[0]) + 1) for j in range(max(words[1]) + 1)}
        gold = set(example.sure) & inside, set(example.possible) & inside
        unread += len({*example.sure, *example.possible} - inside)
        pad = sub_words.special["pad"]
        read = source.ids, (sub_words.start, *target.ids[:-1])
        source_ids, target_ids = (padded([ids], pad).to(bundle.device) for ids in read)
        with recording(_is_cross) as record, torch.inference_mode():
            bundle.model(source_ids, target_ids)
        for site, tapped in record.sites.items():
            layer, weights = site.layer or 0, tapped.tensor[0].float().cpu().numpy()
            for head, map_ in [*enumerate(weights), (None, weights.mean(0))]:
                found.setdefault((layer, head), []).append((strongest_links(map_, *words), *gold))
        even = np.full((len(target.ids), len(source.ids)), 1.0)
        baselines["even"].append((strongest_links(even, *words), *gold))
        saliency = source_saliency(bundle.model, source_ids, target_ids, target.ids)
        baselines["gradients"].append((strongest_links(saliency, *words), *gold))
        baselines["diagonal"].append((diagonal_links(max(words[0]) + 1, max(words[1]) + 1), *gold))
        progress(1)
    rows = [_head_row(*place, pairs, baselines["diagonal"]) for place, pairs in found.items()]
    measured = {name: _per_cent(pairs) for name, pairs in baselines.items()}
    sources = [example.source for example in aligned]
    mean = sum(len(source.split()) for source in sources) / len(sources)
    about = {"n": len(aligned), "words": round(mean, 1), "lower_case": all(map(str.islower, sources))}
    about |= {"unread": unread} if unread else {}
    return {**about, "heads": rows, "baselines": measured}


def _head_row(layer: int, head: int | None, pairs: Sequence, diagonal: Sequence) -> dict[str, Any]:
    return {"layer": layer, "head": head, "aer": _per_cent(pairs), "less_diagonal": less_than(pairs, diagonal)}


def _per_cent(rows: Sequence[tuple[Links, Links, Links]]) -> float:
    return round(100 * alignment_error_rate(rows), 2)


def _is_cross(site: Site) -> bool:
    return site.module == CROSS and site.quantity == "weight"
