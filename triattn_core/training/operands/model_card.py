"""The model card (README.md) of a model of operands, from its config and its metrics alone."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.checkpoint.metadata import similarity_label
from triattn_core.training.model_card import seed_text

MECHANISMS = {
    "tri": "One softmax over all pairs of numbers",
    "bi": "One softmax for each operand; a pair has the product of the two",
    "cbi": "One softmax for each operand; every number carries the mean of all, and a pair has the product of the two",
}
INPUTS = {
    "values": "the values alone",
    "words": "the words around each number alone",
    "both": "the values, and the words around each number",
}
COLUMNS = {
    "right_pair": "right pair, %",
    "weight": "weight on the right pairs, %",
    "fits": "makes the number, %",
    "right_one_fits": "right, all that fit are right, %",
    "right_words_decide": "right, words decide, %",
    "even_fit": "evenly among those that fit, %",
    "chance": "chance, %",
}


def operands_card(folder: Path) -> str:
    """The card of a folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    model, training, data = config["model"], config["training"], config["data"]
    before = f", after {model['before']} layer of two-way self-attention" if model["before"] else ""
    relevance = f"{similarity_label(model['similarity'])} relevance"
    (name,) = data["train"]
    return f"""# {folder.name}

*Which two numbers make this one?*  {MECHANISMS[model["mechanism"]]}{before}: {relevance}, {model["heads"]} head{"s" * (model["heads"] > 1)}, {model["hidden"]} features,
{metrics["parameters"]:,} parameters in all.  It reads {INPUTS[model["inputs"]]}.

{measures_table(metrics)}

{seed_text(metrics)}

Trained on the annotated steps of `{name}` without {data["dev_problems"]} problems, which are dev; {training["redrawn"]:.0%} of the rows get new
numbers at each pass. Epochs {training["epochs"]}, batch {training["batch"]}, AdamW, learning rate {training["rate"]}, {metrics["seconds"]} s, {metrics["machine"]}.
The last weights are kept. The task is derived from GSM8K (Cobbe et al. 2021, MIT); it is not that set's own metric.

Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: Apache 2.0.
"""  # noqa: E501


def measures_table(metrics: dict) -> str:
    """A row for dev and test."""
    lines = [f"| {' | '.join(['set', *COLUMNS.values(), 'rows'])} |", "|---|" + "---:|" * (len(COLUMNS) + 1)]
    for split in ("dev", "test"):
        numbers = metrics[split]
        cells = [f"{numbers[name]:.2f}" if name in numbers else "none" for name in COLUMNS]
        lines.append(f"| {split}: `{numbers['set']}` | {' | '.join(cells)} | {numbers['n']:,} |")
    return "\n".join(lines)
