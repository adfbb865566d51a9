"""Chooses and computes what the page Start shows: `python -m triattn_core.training.laboratory.first_screen`.

A row of the laboratory's false friends, read in one language at a time: three languages, in each of which another card
means the word that is asked for.  The weights are those of the shipped checkpoints; those of earlier steps come from
training them again by their own configs, whose last weights must agree with the shipped ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.configs.laboratory import LaboratoryCheckpoint
from triattn_core.inference.batch import Batch, collate
from triattn_core.inference.laboratory import weights_of, weights_of_batch
from triattn_core.kinds import kind_of
from triattn_core.results.first_screen import FILE, SCALE
from triattn_core.tasks.laboratory import Example
from triattn_core.tasks.laboratory.false_friends import COLOURS, FALSE_FRIENDS, FOREIGN, LANGUAGES
from triattn_core.training.laboratory.row_arrays import laboratory_rows
from triattn_core.training.laboratory.trainer import SnapshotRecorder, laboratory_job
from triattn_core.training.loop import fit

CHECKPOINTS = {"tri": "false-friends-tri-scaled-dot", "two_way": "false-friends-bi-joint-1"}
ASKED, CARDS, SPOKEN = "fish", 6, 3
CANDIDATES, MEASURED, SEED = 1000, 4000, 1
EVERY = 20  # steps between two frames
AGREES = 0.002  # largest difference between the weights of the training repeated here and the shipped ones

Rows = list[Example]  # one row, read in each of its languages


def candidates(random: Random) -> Iterator[Rows]:
    """Rows of six cards and three languages, each language with one right card, another in each."""
    while True:
        words = random.sample(FOREIGN, CARDS)
        cards = tuple(f"{word} ({colour})" for word, colour in zip(words, random.sample(COLOURS, CARDS)))
        fits = [name for name in LANGUAGES if any(FALSE_FRIENDS.meaning[word, name] == ASKED for word in words)]
        spoken = sorted(random.sample(fits, SPOKEN))
        yield [FALSE_FRIENDS.solve(ASKED, cards, (language,)) for language in spoken]


def choose(tri: Bundle, two_way: Bundle) -> tuple[Rows, str]:
    """A row on which Tri is right in each language and two-way attention names a wrong card in each, and why this one:
    of such rows it is the one on which the two-way map moves as much as on the median row, not the least."""
    drawn = candidates(Random(SEED))
    all_rows = [next(drawn) for _ in range(CANDIDATES)]
    found = []
    for rows in all_rows:
        (tri_logits, _), (logits, weights) = weights_of(tri, rows), weights_of(two_way, rows)
        answers = logits.argmax(-1).tolist()
        on_table = {card.partition(" (")[2][:-1] for card in rows[0].keys}
        moved = float(np.mean([np.abs(a - b).sum() / 2 for a, b in combinations(weights, 2)]))
        tri_right = all(a == row.label for a, row in zip(tri_logits.argmax(-1).tolist(), rows))
        wrong = all(a != row.label and COLOURS[a] in on_table for a, row in zip(answers, rows))
        places = sorted(row.truth[0][0] for row in rows)
        apart = min(np.diff(places)) > 1  # so that a move of the cell is seen
        found.append((moved, tri_right and wrong and apart, rows))
    median = float(np.median([moved for moved, _, _ in found]))
    fits = [(abs(moved - median), i) for i, (moved, good, _) in enumerate(found) if good]
    moved, _, rows = found[min(fits)[1]]
    why = (
        f"{CANDIDATES} rows were drawn. On {len(fits)} of them Tri is right in each language and two-way attention "
        "names a wrong card in each, and no two right cards lie side by side. Of these it is the one on which the "
        f"two-way weights move as on the median row: {100 * moved:.1f} % of them, median {100 * median:.1f} %."
    )
    return rows, why


def share_right(bundle: Bundle) -> float:
    """Per cent of fresh rows, read in the one language that decides, that a model answers rightly."""
    rows = []
    for row in FALSE_FRIENDS.generate(f"first-screen-{SEED}", MEASURED):
        ((_, language),) = row.truth
        rows.append(FALSE_FRIENDS.solve(row.query, row.keys, (row.context[language],)))
    logits, _ = weights_of(bundle, rows)
    return round(100 * float(np.mean([a == row.label for a, row in zip(logits.argmax(-1).tolist(), rows)])), 1)


class Frames(SnapshotRecorder):
    """The weights and answers of the rows every EVERY steps, kept in memory."""

    def __init__(self, config: LaboratoryCheckpoint, rows: Sequence[Example]):
        self.task = kind_of(config).task(config)
        (roles, *_) = zip(*self.task.roles(rows, self.task.vocabulary, config.limits))
        self.batch = cast(Batch, collate(roles, self.task.vocabulary))
        self.kept: list[dict[str, Any]] = []

    @torch.inference_mode()
    def add(self, module: nn.Module, step: int) -> None:
        """One more frame, where it is time for one."""
        if step > 1 and step % EVERY:
            return
        logits, weights = weights_of_batch(lambda rows: module.eval()(rows).float(), self.batch)
        self.kept.append(frame(step, logits, weights))


def frame(step: int, logits: torch.Tensor, weights: np.ndarray) -> dict[str, Any]:
    """Weights in thousandths, and of each row the answer and its probability in thousandths."""
    answers = logits.argmax(-1)
    chances = logits.softmax(-1).gather(1, answers[:, None])[:, 0]
    return {
        "step": step,
        "weights": np.rint(SCALE * weights.reshape(len(weights), -1)).astype(int).tolist(),
        "answers": answers.tolist(),
        "probabilities": np.rint(SCALE * chances.numpy()).astype(int).tolist(),
    }


def train_again(config: LaboratoryCheckpoint, rows: Rows) -> list[dict[str, Any]]:
    """The frames of a training by a checkpoint's config."""
    task, recorder, accelerator = kind_of(config).task(config), Frames(config, rows), Accelerator(cpu=True)
    with TemporaryDirectory() as folder:
        train = laboratory_rows(task, config.data.train_seed, config.data.train_rows, Path(folder))
        torch.manual_seed(config.training.seed)
        job = laboratory_job(kind_of(config).model(config, 0), config, train, recorder, accelerator)
        job = replace(job, after=lambda module, step: recorder.add(module, step + 1))
        for _ in fit(job, Path(folder) / "run", accelerator, save_every=10**9, resume=False):
            pass
    return recorder.kept


def main() -> int:
    """Writes the file of the page; prints why its row was chosen and how far the repeated training is from the
    shipped weights."""
    entries = {entry.name: entry for entry in laboratory_checkpoints()}
    bundles = {name: load(entries[checkpoint].path, "cpu") for name, checkpoint in CHECKPOINTS.items()}
    rows, why = choose(bundles["tri"], bundles["two_way"])
    written: dict[str, Any] = {
        "why": why,
        "asked": ASKED,
        "cards": [card.rstrip(")").split(" (") for card in rows[0].keys],
        "languages": [row.context[0] for row in rows],
        "right": [row.truth[0][0] for row in rows],
        "colours": list(COLOURS),
        "rows": MEASURED,
        "scale": SCALE,
    }
    for name, bundle in bundles.items():
        shipped = frame(0, *weights_of(bundle, rows))
        frames = train_again(cast(LaboratoryCheckpoint, bundle.config), rows)
        far = np.abs(np.array(frames[-1]["weights"]) - np.array(shipped["weights"])).max() / SCALE
        print(f"{bundle.name}: {len(frames)} frames, the last within {far:.3f} of the shipped weights")
        if far > AGREES or frames[-1]["answers"] != shipped["answers"]:
            print("The repeated training is not that of the checkpoint: nothing is written.", file=sys.stderr)
            return 1
        written[name] = {
            "checkpoint": bundle.name,
            "digest": bundle.config.digest,
            "percent_right": share_right(bundle),
            "frames": [*frames[:-1], shipped | {"step": frames[-1]["step"]}],
        }
    FILE.write_text(json.dumps(written, separators=(",", ":")) + "\n", "utf-8")
    print(why)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
