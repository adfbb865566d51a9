"""Post-training of a BERT encoder: BERT's own two objectives on the training texts of a task.

Masked-language modelling, and the relation of two sentences with the pair's label in the place of "next sentence"
(Devlin et al. 2019, section 3.1; post-training on the task's texts as in Tri-Attention, section VI-C, after its
reference [59]).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize
from transformers import BertForPreTraining

from triattn_core.models.encoders import BASE, encoder_tensors
from triattn_core.models.tensors import digest, read_tensors, write_tensors
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import mining, plan
from triattn_core.training.encoder_rows import Ids, Pair, collate, mask, read_options, read_pairs, swapped
from triattn_core.training.even import even, overlap
from triattn_core.training.loop import Event, Job, events, fit, last_state, seconds
from triattn_core.training.start import start_folder, start_model, told


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
def sentence_vectors(bert: nn.Module, sentences: Sequence[Ids], tokenizer: Tokenizer) -> np.ndarray:
    """Mean-pooled unit vectors [sentences, features] of the start encoder, as all-MiniLM-L6-v2 was trained to give."""
    order = np.argsort([len(one) for one in sentences])
    found = np.zeros((len(sentences), bert.config.hidden_size), np.float32)
    for start in range(0, len(order), 256):
        rows = order[start : start + 256]
        width = len(sentences[rows[-1]]) + 2
        ids = torch.full((len(rows), width), tokenizer.special["pad"])
        for i, row in enumerate(rows):
            ids[i, : len(sentences[row]) + 2] = torch.tensor(
                [tokenizer.special["cls"], *sentences[row], tokenizer.special["sep"]]
            )
        keep = (ids != tokenizer.special["pad"]).to(bert.device)
        with torch.autocast(bert.device.type, torch.bfloat16):
            states = bert(input_ids=ids.to(bert.device), attention_mask=keep.long()).last_hidden_state.float()
        mean = (states * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
        found[rows] = normalize(mean, dim=-1).cpu().numpy()
    return found


def mined(
    rows: Sequence[Pair], known: Sequence[Pair], bert: nn.Module, tokenizer: Tokenizer, seed: int
) -> list[Pair]:
    """Negatives for the positives in `rows`, never joined to them by positives there or in `known`."""
    number: dict[Ids, int] = {}
    for row in (*rows, *known):
        for ids in (row.a, row.b):
            number.setdefault(ids, len(number))
    sentences = list(number)
    asked, links = (
        [(number[row.a], number[row.b]) for row in some if row.label == 1] for some in (rows, (*rows, *known))
    )
    vectors = sentence_vectors(bert.eval(), sentences, tokenizer)
    return [Pair(sentences[i], sentences[j], 0) for i, j in mining.negatives(vectors, asked, links, seed)]


@torch.inference_mode()
def accuracy(module: PostTraining, groups: Sequence[Sequence[Pair]], tokenizer: Tokenizer) -> float:
    """Share of examples that the pair objective finds: the label of a single row, the right one of several."""
    rows = [row for group in groups for row in group]
    order = np.argsort([len(row) for row in rows])
    device, fits = module.bert.device, np.zeros(len(rows))
    for start in range(0, len(order), 128):
        chosen = order[start : start + 128]
        ids, types, keep, _ = collate([rows[i] for i in chosen], tokenizer)
        nothing = torch.zeros_like(keep)
        _, logits = module(ids.to(device), types.to(device), keep.to(device), nothing.to(device))
        fits[chosen] = (logits[:, 1] - logits[:, 0]).float().cpu().numpy()
    ends = np.cumsum([len(group) for group in groups])[:-1]
    found = [_found(one, [row.label for row in group]) for one, group in zip(np.split(fits, ends), groups)]
    return sum(found) / len(found)


def _found(fits: np.ndarray, labels: list[int]) -> bool:
    return bool(fits[0] > 0) == labels[0] if len(labels) == 1 else labels[int(fits.argmax())] == 1


@dataclass(frozen=True)
class Schedule:
    """What a run does: the rows of each stage, and for each step its stage, its rows and its learning rate.

    `ends`: the steps after which an epoch, or a stage, is over.  `said`: a line a stage for metrics.json.
    """

    stages: list[list[Pair]]
    steps: list[tuple[int, np.ndarray, float]]
    ends: frozenset[int]
    said: list[dict]


def schedule(recipe: dict, data: Path, bert: nn.Module, tokenizer: Tokenizer) -> Schedule:
    """The rows and steps of a recipe; `stop_after` ends a stage early, its learning rate as planned for the whole."""
    limit, seed = recipe["max_tokens"], recipe["seed"]
    stages, steps, ends, said = [], [], set(), []
    for number, stage in enumerate(recipe["stages"]):
        files, task = [rows_file(data, name) for name in stage["data"]], recipe.get("task", "pairs")
        if task == "pairs":
            rows = read_pairs(files, tokenizer, limit)
        else:
            options = read_options(files, task, tokenizer, limit, stage.get("where", {}))
            rows = [row for example in islice(options, None, None, stage.get("every", 1)) for row in example]
        counts = {"labelled": len(rows)}
        draws = [np.arange(len(rows))] * stage["epochs"]
        if stage.get("even"):
            overlaps, labels = [overlap(row.a, row.b) for row in rows], [row.label for row in rows]
            draws = [even(overlaps, labels, stage["even"], seed + epoch) for epoch in range(stage["epochs"])]
            counts["kept"] = len(draws[0])
        if stage.get("mine"):
            extra = read_pairs([rows_file(data, stage["mine"])], tokenizer, limit)
            negatives = mined(extra, rows, bert, tokenizer, seed)
            counts |= {"positives": len(extra), "mined negatives": len(negatives)}
            added = np.arange(len(rows), len(rows) + len(extra) + len(negatives))
            draws = [np.concatenate([draw, added]) for draw in draws]
            rows += extra + negatives
        lengths = np.array([len(row) for row in rows])
        epochs = [
            [draw[batch] for batch in plan.batches(lengths[draw], recipe["batch"], seed + number, epoch)]
            for epoch, draw in enumerate(draws)
        ]
        chosen = [batch for epoch in epochs for batch in epoch]
        last = min(stage.get("stop_after", len(chosen)), len(chosen))
        over = np.cumsum([len(epoch) for epoch in epochs])
        ends |= {len(steps) + int(min(end, last)) for end in over}
        rates = [plan.learning_rate(i, len(chosen), stage["rate"]) for i in range(last)]
        steps += [(number, batch, rate) for batch, rate in zip(chosen, rates)]
        said.append({**counts, "steps": last, "steps planned": len(chosen)})
        stages.append(rows)
    return Schedule(stages, steps, frozenset(ends), said)


def post_train(
    recipe: dict, data: Path, run: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Run a recipe of kind "encoder"; yields events; the result is in the run's last state."""
    with accelerator.main_process_first():  # one process writes what a start from nothing begins with
        folder = start_folder(recipe["start"], beginning(run), data)
    torch.manual_seed(recipe["seed"])  # heads that the start weights lack are drawn
    bert = start_model(recipe["start"], folder)
    freeze(bert, recipe.get("train_layers"))
    tokenizer = Tokenizer(folder / "tokenizer.json", match=bert.config.type_vocab_size > 2)
    todo = schedule(recipe, data, bert.bert, tokenizer)
    dev = _dev(recipe, rows_file(data, recipe["dev"]), tokenizer)

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        number, chosen, _ = todo.steps[step]
        mine = plan.share(chosen, accelerator.process_index, accelerator.num_processes)
        stage = recipe["stages"][number]
        rows = swapped([todo.stages[number][i] for i in mine], recipe.get("swap", 0.0))
        ids, types, keep, labels = collate(rows, tokenizer, stage.get("match"))
        shown, hidden = mask(ids, tokenizer, stage["mask"])
        words, relation = module(*(one.to(accelerator.device) for one in (shown, types, keep, hidden)))
        pair = cross_entropy(relation.float(), labels.to(accelerator.device))
        if not hidden.any():
            return pair, {"pair": round(pair.item(), 4)}
        word = cross_entropy(words.float(), ids[hidden].to(accelerator.device))
        weight = stage.get("word_weight", recipe["word_weight"])
        return pair + weight * word, {"pair": round(pair.item(), 4), "word": round(word.item(), 4)}

    job = Job(
        module=PostTraining(bert),
        steps=len(todo.steps),
        seed=recipe["seed"],
        rate=lambda step: todo.steps[step][2],
        loss=loss,
        measure=lambda module, step: {"dev accuracy": accuracy(module, dev, tokenizer), "stages": todo.said},
        milestones=todo.ends,
        recipe=recipe,
    )
    yield from fit(job, run, accelerator, recipe.get("save_every", 200), resume)


def beginning(run: Path) -> Path:
    """Where a start from nothing is written: not over an encoder that stands beside its recipe."""
    return run.with_name(run.name + ".start")


def _dev(recipe: dict, file: Path, tokenizer: Tokenizer) -> list[list[Pair]]:
    if recipe.get("task", "pairs") == "pairs":
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
    name, had_seen = told(recipe["start"])
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
