"""The schedule of a post-training run: examples of its stages, mined negatives, batches and learning rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize

from triattn_core.models.encoder import Pretrained
from triattn_core.tasks import InputForm, form
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import batching
from triattn_core.training.encoder import hard_negatives
from triattn_core.training.encoder.pair_batches import (
    Group,
    Ids,
    Pair,
    collate_texts,
    mean_vectors,
    read_options,
    read_pairs,
)
from triattn_core.training.overlap_balance import balance_labels, token_overlap


@dataclass(frozen=True)
class Schedule:
    """The examples of each stage, and for each step its stage, examples and learning rate.

    ends: the steps at which an epoch or a stage ends.  stage_counts: counts for metrics.json, one entry per stage.
    """

    stages: list[list[Group]]
    steps: list[tuple[int, np.ndarray, float]]
    ends: frozenset[int]
    stage_counts: list[dict]


def schedule(recipe: dict, data: Path, bert: Pretrained, tokenizer: Tokenizer) -> Schedule:
    """The examples and steps of a recipe; `stop_after` ends a stage early without changing its learning rates."""
    stages, counts_by_stage = [], []
    steps: list[tuple[int, np.ndarray, float]] = []
    ends: set[int] = set()
    for number, stage in enumerate(recipe["stages"]):
        groups, draws, counts = _draw_examples(recipe, stage, data, bert, tokenizer)
        lengths = np.array([max(map(len, group)) for group in groups])
        epochs = [
            [draw[batch] for batch in batching.batches(lengths[draw], recipe["batch"], recipe["seed"] + number, epoch)]
            for epoch, draw in enumerate(draws)
        ]
        batches = [batch for epoch in epochs for batch in epoch]
        last = min(stage.get("stop_after", len(batches)), len(batches))
        ends_of_epochs = np.cumsum([len(epoch) for epoch in epochs])
        ends |= {len(steps) + int(min(end, last)) for end in ends_of_epochs}
        rates = [batching.learning_rate(i, len(batches), stage["rate"]) for i in range(last)]
        steps += [(number, batch, rate) for batch, rate in zip(batches, rates)]
        counts_by_stage.append({**counts, "steps": last, "steps planned": len(batches)})
        stages.append(groups)
    return Schedule(stages, steps, frozenset(ends), counts_by_stage)


def _draw_examples(
    recipe: dict, stage: dict, data: Path, bert: Pretrained, tokenizer: Tokenizer
) -> tuple[list[Group], list[np.ndarray], dict[str, int]]:
    """The examples of a stage, the indices of those in each epoch, and counts to report."""
    files = [rows_file(data, name) for name in stage["data"]]
    task, limit = recipe.get("task", "pairs"), recipe["max_tokens"]
    if form(task) is not InputForm.PAIR:
        options = read_options(files, task, tokenizer, limit, stage.get("where", {}))
        groups = list(islice(options, None, None, stage.get("every", 1)))
        return groups, [np.arange(len(groups))] * stage["epochs"], {"labelled": sum(map(len, groups))}
    rows, seed = read_pairs(files, tokenizer, limit), recipe["seed"]
    counts = {"labelled": len(rows)}
    draws = [np.arange(len(rows))] * stage["epochs"]
    if stage.get("even"):
        overlaps, labels = [token_overlap(row.a, row.b) for row in rows], [row.label for row in rows]
        draws = [balance_labels(overlaps, labels, stage["even"], seed + epoch) for epoch in range(stage["epochs"])]
        counts["kept"] = len(draws[0])
    if stage.get("mine"):
        extra = read_pairs([rows_file(data, stage["mine"])], tokenizer, limit)
        negatives = mine_negatives(extra, rows, bert, tokenizer, seed)
        counts |= {"positives": len(extra), "mined negatives": len(negatives)}
        added = np.arange(len(rows), len(rows) + len(extra) + len(negatives))
        draws = [np.concatenate([draw, added]) for draw in draws]
        rows += extra + negatives
    return [[row] for row in rows], draws, counts


@torch.inference_mode()
def sentence_vectors(bert: Pretrained, sentences: Sequence[Ids], tokenizer: Tokenizer) -> np.ndarray:
    """Mean-pooled unit vectors [sentences, features] of the start encoder, as all-MiniLM-L6-v2 was trained for."""
    order = np.argsort([len(sentence) for sentence in sentences])
    vectors = np.zeros((len(sentences), bert.config.hidden_size), np.float32)
    for start in range(0, len(order), 256):
        rows = order[start : start + 256]
        ids, keep = collate_texts([sentences[row] for row in rows], tokenizer)
        with torch.autocast(bert.device.type, torch.bfloat16):
            mean = mean_vectors(bert, ids.to(bert.device), keep.to(bert.device))
        vectors[rows] = normalize(mean, dim=-1).cpu().numpy()
    return vectors


def mine_negatives(
    rows: Sequence[Pair], other_rows: Sequence[Pair], bert: Pretrained, tokenizer: Tokenizer, seed: int
) -> list[Pair]:
    """Negatives for the positives in `rows`, never connected with them by positives there or in `other_rows`."""
    number: dict[Ids, int] = {}
    for row in (*rows, *other_rows):
        for ids in (row.a, row.b):
            number.setdefault(ids, len(number))
    sentences = list(number)
    positives, links = (
        [(number[row.a], number[row.b]) for row in group if row.label == 1] for group in (rows, (*rows, *other_rows))
    )
    vectors = sentence_vectors(bert.eval(), sentences, tokenizer)
    return [Pair(sentences[i], sentences[j], 0) for i, j in hard_negatives.negatives(vectors, positives, links, seed)]
