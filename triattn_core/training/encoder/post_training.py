"""Post-training of a BERT encoder: BERT's two objectives on the training texts of a task, or texts read separately.

Masked-language modelling, and the relation of two sentences with the pair's label in place of "next sentence" (Devlin
et al. 2019, section 3.1; post-training on the task's texts as in Tri-Attention, section VI-C, after its reference
[59]).  For texts that are read separately see `separate_training`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import transformers
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.models import answers
from triattn_core.models.encoders import BASE, encoder_tensors
from triattn_core.models.tensors import digest, write_tensors
from triattn_core.tasks import InputForm, form
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import batching
from triattn_core.training.encoder import separate_training
from triattn_core.training.encoder.encoder_init import RELATION, describe_start, start_folder, start_model
from triattn_core.training.encoder.pair_batches import (
    Group,
    collate,
    count_and_labels,
    mask,
    read_options,
    read_pairs,
    swap_pairs,
)
from triattn_core.training.encoder.schedule import Schedule, schedule
from triattn_core.training.loop import Event, Job, events, fit, last_weights, seconds

HEAD = "bert.cls.seq_relationship."  # the pair head of `PostTraining`


class PostTraining(nn.Module):
    """`BertForPreTraining` that scores only the masked positions."""

    def __init__(self, bert: transformers.BertForPreTraining):
        super().__init__()
        self.bert = bert

    def forward(self, ids: Tensor, types: Tensor, keep: Tensor, masked: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the masked positions [M, vocabulary] and of the pair's labels [B, 2]."""
        out = self.bert.bert(input_ids=ids, token_type_ids=types, attention_mask=keep.long())
        heads = self.bert.cls
        return heads.predictions(out.last_hidden_state[masked]), heads.seq_relationship(out.pooler_output)


@torch.inference_mode()
def accuracy(module: PostTraining, groups: Sequence[Group], tokenizer: Tokenizer) -> float:
    """Share of examples that the pair objective gets right: the label of a single row, or the right one of several."""
    rows = [row for group in groups for row in group]
    order = np.argsort([len(row) for row in rows])
    device, scores = module.bert.device, torch.zeros(len(rows), 1)
    for start in range(0, len(order), 128):
        batch = order[start : start + 128]
        ids, types, keep = collate([rows[i] for i in batch], tokenizer)
        no_mask = torch.zeros_like(keep)
        _, logits = module(ids.to(device), types.to(device), keep.to(device), no_mask.to(device))
        scores[batch] = fits(logits).cpu()
    counts, labels = count_and_labels(groups)
    return (answers.scores(scores, counts).argmax(-1) == labels).double().mean().item()


def fits(relation: Tensor) -> Tensor:
    """Score of how well the second text matches the first, [rows, 1], from the pair's logits [rows, 2]."""
    return (relation[:, 1:] - relation[:, :1]).float()


def post_train(recipe: dict, data: Path, run: Path, resume: bool, accelerator: Accelerator) -> Iterator[Event]:
    """Run a recipe of kind "encoder"; yields events; the result is in the run's last state."""
    with accelerator.main_process_first():  # one process writes the folder of a random start
        folder = start_folder(recipe["start"], start_run_folder(run), data)
    torch.manual_seed(recipe["seed"])  # missing heads are drawn at random
    bert = start_model(recipe["start"], folder, recipe.get("attention_dropout"))
    freeze(bert, recipe.get("train_layers"))
    tokenizer = Tokenizer(folder / "tokenizer.json", match=bert.config.type_vocab_size > 2)
    plan = schedule(recipe, data, cast(Any, bert.bert), tokenizer)
    dev = _dev(recipe, rows_file(data, recipe["dev"]), tokenizer)

    apart_objective = recipe.get("objective") == "apart"
    measure = separate_training.accuracy if apart_objective else accuracy
    job = Job(
        module=(separate_training.ApartTraining if apart_objective else PostTraining)(bert),
        steps=len(plan.steps),
        seed=recipe["seed"],
        rate=lambda step: plan.steps[step][2],
        loss=_step_loss(recipe, plan, tokenizer, accelerator),
        measure=lambda module, step: {
            "dev accuracy": measure(cast(Any, module), dev, tokenizer),
            "stages": plan.stage_counts,
        },
        milestones=plan.ends,
        recipe=recipe,
    )
    yield from fit(job, run, accelerator, recipe.get("save_every", 200), resume)


def _step_loss(recipe: dict, plan: Schedule, tokenizer: Tokenizer, accelerator: Accelerator) -> Callable:
    """The loss of a step: of the pairs and of the masked words, or of the pairs alone (objective "apart")."""

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        number, examples, _ = plan.steps[step]
        own_examples = batching.share(examples, accelerator.process_index, accelerator.num_processes)
        stage = recipe["stages"][number]
        groups = [plan.stages[number][i] for i in own_examples]
        if recipe.get("objective") == "apart":
            pair = separate_training.loss(module, groups, tokenizer, accelerator.device)
            return pair, {"pair": round(pair.item(), 4)}
        rows = swap_pairs([row for group in groups for row in group], recipe.get("swap", 0.0))
        ids, types, keep = collate(rows, tokenizer, stage.get("match"))
        visible, is_hidden = mask(ids, tokenizer, stage["mask"])
        words, relation = module(*(tensor.to(accelerator.device) for tensor in (visible, types, keep, is_hidden)))
        counts, labels = count_and_labels(groups)
        pair = answers.loss(fits(relation), counts, labels.to(accelerator.device))
        if not is_hidden.any():
            return pair, {"pair": round(pair.item(), 4)}
        word = cross_entropy(words.float(), ids[is_hidden].to(accelerator.device))
        weight = stage.get("word_weight", recipe["word_weight"])
        return pair + weight * word, {"pair": round(pair.item(), 4), "word": round(word.item(), 4)}

    return loss


def start_run_folder(run: Path) -> Path:
    """The folder of a random start, separate from the encoder next to its recipe."""
    return run.with_name(run.name + ".start")


def _dev(recipe: dict, file: Path, tokenizer: Tokenizer) -> list[Group]:
    if form(recipe.get("task", "pairs")) is InputForm.PAIR:
        return [[row] for row in read_pairs([file], tokenizer, recipe["max_tokens"], training=False)]
    where = recipe["stages"][-1].get("where", {})
    return list(read_options([file], recipe["task"], tokenizer, recipe["max_tokens"], where, training=False))


def differing_tensors(tensors: dict[str, Tensor], base: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that differ from the base in half precision: those that an encoder with a base stores."""
    return {name: tensor for name, tensor in tensors.items() if not torch.equal(tensor.half(), base[name].half())}


def freeze(bert: transformers.BertForPreTraining, layers: int | None) -> None:
    """Freeze all but the last `layers` layers and the heads; nothing if None."""
    if layers is None:
        return
    bert.bert.requires_grad_(False)
    for part in (*bert.bert.encoder.layer[-layers:], bert.bert.pooler):
        part.requires_grad_(True)


def finish_encoder(recipe: dict, folder: Path, data: Path, run: Path, machine: str, command: str) -> None:
    """Write the encoder of the run's last state in half precision, with its config, tokenizer and metrics.json."""
    start = start_folder(recipe["start"], start_run_folder(run), data)
    tensors = last_weights(run)
    encoder = {
        name.removeprefix("bert.bert."): tensor for name, tensor in tensors.items() if name.startswith("bert.bert.")
    }
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(start / name, folder / name)
    if "encoder" in recipe["start"]:
        encoder = differing_tensors(encoder, encoder_tensors(start))
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**config, BASE: recipe["start"]["encoder"]}, indent=2) + "\n")
    write_tensors(folder / "model.safetensors", encoder)
    head = {name.removeprefix(HEAD): tensor.half() for name, tensor in tensors.items() if name.startswith(HEAD)}
    if recipe.get("objective") != "apart":
        write_tensors(folder / RELATION, head)
    name, had_seen = describe_start(recipe["start"])
    metrics = {
        "digest": digest(encoder_tensors(folder)),
        "start": name,
        "start_had_seen": had_seen,
        "seed": recipe["seed"],
        "seconds": round(seconds(run)) or None,
        "machine": machine,
        "command": command,
        "history": [event for event in events(run) if event["kind"] == "metric"],
    }
    (folder / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", "utf-8")
