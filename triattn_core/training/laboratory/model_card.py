"""The model card (README.md) of a laboratory model, from its config and its metrics alone."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.checkpoint.metadata import similarity_label
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.results.laboratory import laboratory_records, seed_tests
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.training.model_card import seed_text

MECHANISMS = {
    "bi_joint": "Two-way attention over the joint sequence of query, keys and context",
    "cbi": "C-Bi-Attention, every token with the mean of the context",
    "tri": "Tri-Attention",
    "triangle": "Triangle attention around the ending node, on the grid of all pairs",
}
TRUTH = {
    "mass": "weight on true cells, %",
    "even_share": "of even weights, %",
    "hit_at_1": "strongest cell true, %",
    "average_precision": "average precision, %",
    "first_rank": "rank of the first true cell",
}


def laboratory_card(folder: Path) -> str:
    """The card of a folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    task, model, training, data = LABORATORY[config["task"]], config["model"], config["training"], config["data"]
    layers, heads = (f"{model[name]} {name[:-1]}{'s' * (model[name] > 1)}" for name in ("layers", "heads"))
    inputs = "frozen Fourier features of residues" if model["inputs"] == "fourier" else "learnt vectors of words"
    relevance = "" if model["mechanism"] == "triangle" else f", {similarity_label(model['similarity'])} relevance"
    two_way = (
        ""
        if model["mechanism"] == "tri"
        else """
Its weights have no cells of key and context: they are measured against the truth's marginals, and not comparable with
those of Tri-Attention."""
    )
    return f"""# {folder.name}

{MECHANISMS[model["mechanism"]]}{relevance}, on the task *{task.LABEL}*: {layers}, {heads},
{model["hidden"]} features, {inputs}, {metrics["parameters"]:,} parameters in all.

{truth_table(metrics)}
{two_way}
{seed_text(metrics | _swept_seeds(folder))}

Trained on {data["train_rows"]:,} rows of seed {data["train_seed"]}: epochs {training["epochs"]}, batch {training["batch"]}, AdamW, learning rate
{training["rate"]}, {metrics["seconds"]} s, {metrics["machine"]}. The last weights are kept. All rows are generated: it has seen no text.
Its test is `triattn evaluate {folder.name} laboratory:{config["task"]} --seed {data["test_seed"]} --rows {data["test_rows"]}`.

Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: Apache 2.0.
"""  # noqa: E501


def _swept_seeds(folder: Path) -> dict:
    """The test of further seeds, whose records are kept and whose weights are not."""
    (entry,) = list_checkpoints(folder)
    tests = seed_tests(entry, laboratory_records())
    return {"seeds": [{"seed": seed, "test": test["accuracy"]} for seed, test in tests.items()]}


def truth_table(metrics: dict) -> str:
    """A row for dev and test: accuracy and the measures against truth."""
    heads = ["set", "accuracy, %", "chance, %", *TRUTH.values(), "rows"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for split in ("dev", "test"):
        numbers = metrics[split]
        cells = [f"{numbers[name]:.2f}" for name in ("accuracy", "chance", *TRUTH)]
        lines.append(f"| `{numbers['set']}` | {' | '.join(cells)} | {numbers['n']:,} |")
    return "\n".join(lines)
