"""Post-training of a BERT encoder: BERT's own two objectives on the training texts of a task, or each text alone.

Masked-language modelling, and the relation of two sentences with the pair's label in the place of "next sentence"
(Devlin et al. 2019, section 3.1; post-training on the task's texts as in Tri-Attention, section VI-C, after its
reference [59]).  For texts that are read alone see `apart`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import BertForPreTraining

from triattn_core.models import answers
from triattn_core.models.encoders import BASE, encoder_tensors
from triattn_core.models.tensors import digest, read_tensors, write_tensors
from triattn_core.tasks import InputForm, form
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import batching
from triattn_core.training.encoder import apart
from triattn_core.training.encoder.encoder_init import RELATION, describe_start, start_folder, start_model
from triattn_core.training.encoder.rows import Group, collate, count_and_labels, mask, read_options, read_pairs, swapped
from triattn_core.training.encoder.schedule import schedule
from triattn_core.training.loop import Event, Job, events, fit, last_state, seconds

HEAD = "bert.cls.seq_relationship."  # the pair head of `PostTraining`


class PostTraining(nn.Module):
    """`BertForPreTraining` that scores only the masked positions."""

    def __init__(self, bert: BertForPreTraining):
        super().__init__()
        self.bert = bert

    def forward(self, ids: Tensor, types: Tensor, keep: Tensor, masked: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the masked positions [M, vocabulary] and of the pair's labels [B, 2]."""
        out = self.bert.bert(input_ids=ids, token_type_ids=types, attention_mask=keep.long())
        heads = self.bert.cls
        return heads.predictions(out.last_hidden_state[masked]), heads.seq_relationship(out.pooler_output)


@torch.inference_mode()
def accuracy(module: PostTraining, groups: Sequence[Group], tokenizer: Tokenizer) -> float:
    """Share of examples that the pair objective finds: the label of a single row, the right one of several."""
    rows = [row for group in groups for row in group]
    order = np.argsort([len(row) for row in rows])
    device, found = module.bert.device, torch.zeros(len(rows), 1)
    for start in range(0, len(order), 128):
        chosen = order[start : start + 128]
        ids, types, keep = collate([rows[i] for i in chosen], tokenizer)
        nothing = torch.zeros_like(keep)
        _, logits = module(ids.to(device), types.to(device), keep.to(device), nothing.to(device))
        found[chosen] = fits(logits).cpu()
    counts, labels = count_and_labels(groups)
    return (answers.scores(found, counts).argmax(-1) == labels).double().mean().item()


def fits(relation: Tensor) -> Tensor:
    """How much the second text belongs to the first, [rows, 1], from the pair's logits [rows, 2]."""
    return (relation[:, 1:] - relation[:, :1]).float()


def post_train(recipe: dict, data: Path, run: Path, resume: bool, accelerator: Accelerator) -> Iterator[Event]:
    """Run a recipe of kind "encoder"; yields events; the result is in the run's last state."""
    with accelerator.main_process_first():  # one process writes what a start from nothing begins with
        folder = start_folder(recipe["start"], beginning(run), data)
    torch.manual_seed(recipe["seed"])  # heads that the start weights lack are drawn
    bert = start_model(recipe["start"], folder, recipe.get("attention_dropout"))
    freeze(bert, recipe.get("train_layers"))
    tokenizer = Tokenizer(folder / "tokenizer.json", match=bert.config.type_vocab_size > 2)
    todo = schedule(recipe, data, bert.bert, tokenizer)
    dev = _dev(recipe, rows_file(data, recipe["dev"]), tokenizer)

    alone = recipe.get("objective") == "apart"
    measure = apart.accuracy if alone else accuracy

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        number, chosen, _ = todo.steps[step]
        mine = batching.share(chosen, accelerator.process_index, accelerator.num_processes)
        stage = recipe["stages"][number]
        groups = [todo.stages[number][i] for i in mine]
        if alone:
            pair = apart.loss(module, groups, tokenizer, accelerator.device)
            return pair, {"pair": round(pair.item(), 4)}
        rows = swapped([row for group in groups for row in group], recipe.get("swap", 0.0))
        ids, types, keep = collate(rows, tokenizer, stage.get("match"))
        shown, hidden = mask(ids, tokenizer, stage["mask"])
        words, relation = module(*(tensor.to(accelerator.device) for tensor in (shown, types, keep, hidden)))
        counts, labels = count_and_labels(groups)
        pair = answers.loss(fits(relation), counts, labels.to(accelerator.device))
        if not hidden.any():
            return pair, {"pair": round(pair.item(), 4)}
        word = cross_entropy(words.float(), ids[hidden].to(accelerator.device))
        weight = stage.get("word_weight", recipe["word_weight"])
        return pair + weight * word, {"pair": round(pair.item(), 4), "word": round(word.item(), 4)}

    job = Job(
        module=(apart.ApartTraining if alone else PostTraining)(bert),
        steps=len(todo.steps),
        seed=recipe["seed"],
        rate=lambda step: todo.steps[step][2],
        loss=loss,
        measure=lambda module, step: {"dev accuracy": measure(module, dev, tokenizer), "stages": todo.said},
        milestones=todo.ends,
        recipe=recipe,
    )
    yield from fit(job, run, accelerator, recipe.get("save_every", 200), resume)


def beginning(run: Path) -> Path:
    """Where a start from nothing is written: not over an encoder that stands beside its recipe."""
    return run.with_name(run.name + ".start")


def _dev(recipe: dict, file: Path, tokenizer: Tokenizer) -> list[Group]:
    if form(recipe.get("task", "pairs")) is InputForm.PAIR:
        return [[row] for row in read_pairs([file], tokenizer, recipe["max_tokens"], training=False)]
    where = recipe["stages"][-1].get("where", {})
    return list(read_options([file], recipe["task"], tokenizer, recipe["max_tokens"], where, training=False))


def differing(tensors: dict[str, Tensor], base: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that are not those of the base, in half precision: what an encoder of a base has of its own."""
    return {name: one for name, one in tensors.items() if not torch.equal(one.half(), base[name].half())}


def freeze(bert: BertForPreTraining, layers: int | None) -> None:
    """Leaves only the last `layers` layers and the heads to be trained; all, where None is given."""
    if layers is None:
        return
    bert.bert.requires_grad_(False)
    for part in (*bert.bert.encoder.layer[-layers:], bert.bert.pooler):
        part.requires_grad_(True)


def finish_encoder(recipe: dict, folder: Path, data: Path, run: Path, machine: str, command: str) -> None:
    """Writes the encoder of the run's last state in half precision, with its config, tokenizer and metrics.json."""
    start = start_folder(recipe["start"], beginning(run), data)
    tensors = read_tensors(last_state(run) / "model.safetensors")
    kept = {
        name.removeprefix("bert.bert."): tensor for name, tensor in tensors.items() if name.startswith("bert.bert.")
    }
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(start / name, folder / name)
    if "encoder" in recipe["start"]:
        kept = differing(kept, encoder_tensors(start))
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**config, BASE: recipe["start"]["encoder"]}, indent=2) + "\n")
    write_tensors(folder / "model.safetensors", kept)
    head = {name.removeprefix(HEAD): one.half() for name, one in tensors.items() if name.startswith(HEAD)}
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
