"""An encoder that is post-trained on choices: the options of an example stand against each other."""

from __future__ import annotations

import json
import random

import pytest
import torch
from accelerate import Accelerator
from torch.nn.functional import cross_entropy

from tests.support.choice_rows import dialogue_row, reading_row
from tests.support.tiny import make_encoder
from triattn_core.models.encoders import encoder_tensors
from triattn_core.models.tensors import digest
from triattn_core.training.encoder import pair_batches as encoder_rows
from triattn_core.training.encoder import post_training

ROWS = {
    "reading": [reading_row(random.Random(seed)) for seed in range(12)],
    "dialogue": [dialogue_row(random.Random(seed), single=True) for seed in range(12)],
}


def job(tmp_path, monkeypatch, task: str):
    """The job of one epoch over ROWS, in batches of six examples, as post-training hands it to the loop."""
    folder = tmp_path / "tiny"
    make_encoder(folder)
    (folder / "metrics.json").write_text('{"start": "nothing", "start_had_seen": []}')
    (tmp_path / "set").mkdir()
    for split in ("train", "dev"):
        (tmp_path / "set" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[task]))
    recipe = {
        "kind": "encoder", "task": task, "start": {"encoder": str(folder), "digest": digest(encoder_tensors(folder))},
        "stages": [{"data": ["set/train"], "epochs": 1, "mask": 0.0, "rate": 1e-3}], "dev": "set/dev",
        "word_weight": 0.2, "batch": 6, "max_tokens": 48, "seed": 1,
    }  # fmt: skip
    jobs = []
    monkeypatch.setattr(post_training, "fit", lambda one, *_: jobs.append(one) or iter(()))
    list(post_training.post_train(recipe, tmp_path, tmp_path / "run", False, Accelerator(cpu=True)))
    return jobs[0]


@pytest.mark.parametrize("task", ROWS)
def test_the_loss_is_that_of_the_right_option_among_its_own(tmp_path, monkeypatch, task):
    """Over an epoch: every example counts once, whatever the number of its options; a single one has two labels."""
    asked = encoder_rows.collate
    seen: list[list[encoder_rows.Pair]] = []
    monkeypatch.setattr(post_training, "collate", lambda rows, *more: seen.append(rows) or asked(rows, *more))
    training_job = job(tmp_path, monkeypatch, task)
    module = training_job.module.eval()
    assert training_job.steps == 2
    outputs = []
    module.register_forward_hook(lambda *given: outputs.append(given[-1][1]))
    for step in range(training_job.steps):
        with torch.no_grad():
            loss, loss_parts = training_job.loss(module, step)
        rows, relation = seen[-1], outputs[-1].float()
        if task == "dialogue":
            expected = cross_entropy(relation, torch.tensor([row.label for row in rows]))
        else:
            sizes = _sizes(rows)
            each = [part.log_softmax(0) for part in (relation[:, 1] - relation[:, 0]).split(sizes)]
            right = [[row.label for row in part].index(1) for part in _split(rows, sizes)]
            expected = -sum(part[i] for part, i in zip(each, right)) / len(right)
            assert len(sizes) == 6
        assert loss.item() == pytest.approx(expected.item(), abs=1e-6)
        assert loss_parts == {"pair": round(loss.item(), 4)}


def _sizes(rows) -> list[int]:
    """Rows of one example have one passage and one question, and stand together."""
    starts = [i for i in range(len(rows)) if i == 0 or rows[i].a != rows[i - 1].a]
    return [end - start for start, end in zip(starts, [*starts[1:], len(rows)])]


def _split(rows, sizes):
    rest = iter(rows)
    return [[next(rest) for _ in range(size)] for size in sizes]


def test_no_example_is_cut_in_two(tmp_path, monkeypatch):
    """A batch holds whole examples: each has one right option."""
    asked, seen = encoder_rows.collate, []
    monkeypatch.setattr(post_training, "collate", lambda rows, *more: seen.append(rows) or asked(rows, *more))
    training_job = job(tmp_path, monkeypatch, "reading")
    with torch.no_grad():
        for step in range(training_job.steps):
            training_job.loss(training_job.module.eval(), step)
    assert [sum(row.label for row in rows) for rows in seen[-2:]] == [6, 6]
    assert sum(map(len, seen[-2:])) == sum(len(row["options"]) for row in ROWS["reading"])
