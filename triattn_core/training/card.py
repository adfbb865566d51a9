"""The model card (README.md) of a checkpoint or an encoder, from its config and its metrics alone."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.axes import MECHANISM_LABELS
from triattn_core.shelf import encoders

LICENSE = "Apache 2.0, as its start weights."


def had_seen(metrics: dict) -> str:
    """A list of what the start weights had seen before our training."""
    return "\n".join(f"- {one['name']}: {one['what']}" for one in metrics.get("start_had_seen", []))


def encoder_card(folder: Path) -> str:
    """The card of an encoder folder with recipe.json and metrics.json."""
    recipe = json.loads((folder / "recipe.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    dev = metrics["history"][-1]["values"]["dev accuracy"]
    stages = "\n".join(
        f"- {', '.join(stage['data'])}"
        + (f", {stage['mine']} with one mined negative for each positive" if stage.get("mine") else "")
        + f": {stage['epochs']} epoch(s), {stage['mask']:.0%} of the tokens hidden, peak learning rate {stage['rate']}"
        for stage in recipe["stages"]
    )
    return f"""# {folder.name}

A 6-layer BERT (hidden size 384, 12 heads), half precision. Start weights: {metrics["start"]}.
Post-trained with BERT's own two objectives on the training texts: masked-language modelling, and the label of a pair in
the place of next-sentence prediction.

{stages}

Batch {recipe["batch"]}, seed {recipe["seed"]}, {recipe["precision"]} arithmetic, {metrics["machine"]}.
Its pair objective alone reaches {100 * dev:.2f} % on `{recipe["dev"]}`: what a TAN adds, it adds to this.

What the start weights had seen before:

{had_seen(metrics)}

Tensor digest: `{metrics["digest"]}`. Made by `{metrics["command"]}`. Licence: {LICENSE}
"""


def checkpoint_card(folder: Path) -> str:
    """The card of a TAN folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    encoder = json.loads((encoders() / config["encoder"] / "metrics.json").read_text("utf-8"))
    model, how = config["model"], config["training"]
    rows = "\n".join(
        f"| `{metrics[split]['set']}` | {metrics[split]['accuracy']:.2f} | {metrics[split]['f1']:.2f} "
        f"| {metrics[split]['majority']:.2f} | {metrics[split]['n']:,} |"
        for split in ("dev", "test")
        if split in metrics
    )
    trained_on = ", ".join(f"`{name}`" for name in config["data"]["train"])
    return f"""# {folder.name}

{MECHANISM_LABELS[model["mechanism"]]}-Attention with the {model["similarity"].replace("_", " ")} relevance in a
Tri-Attention network: {model["layers"]} layers, {model["heads"]} heads, {metrics["parameters"]:,} parameters beside the
shared encoder `{config["encoder"]}`, which is frozen: checkpoints that share it differ in attention alone.

| set | accuracy, % | F1, % | largest class, % | pairs |
|---|---:|---:|---:|---:|
{rows}

One seed ({metrics["seed"]}): how far seeds alone move these figures is not known, so small differences between
mechanisms mean nothing yet. The epoch was chosen on dev; test was measured once. Trained on {trained_on},
{how["epochs"]} epochs, batch {how["batch"]}, AdamW, peak learning rate {how["rate"]}, {metrics["seconds"]} s,
{metrics["machine"]}.

What the encoder's start weights had seen before (Quora among it: the test figures may flatter):

{had_seen(encoder)}

Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: {LICENSE}
"""
