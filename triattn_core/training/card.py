"""The model card (README.md) of a checkpoint or an encoder, from its config and its metrics alone."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.axes import MECHANISM_LABELS
from triattn_core.models.encoders import encoder_folder
from triattn_core.shelf import encoders

LICENSE = "Apache 2.0, as its start weights."


def had_seen(metrics: dict) -> str:
    """A list of what the start weights had seen before our training."""
    return "\n".join(f"- {one['name']}: {one['what']}" for one in metrics.get("start_had_seen", []))


def encoder_dev(metrics: dict) -> float:
    """Accuracy of the encoder's own pair objective on dev, in per cent: what a TAN starts from."""
    return 100 * metrics["history"][-1]["values"]["dev accuracy"]


def trained_on(recipe: dict) -> list[str]:
    """The sets of an encoder's recipe, each once."""
    names = [name for stage in recipe["stages"] for name in (*stage["data"], stage.get("mine"))]
    return [f"`{name}`" for name in dict.fromkeys(filter(None, names))]


def _stage(stage: dict) -> str:
    mined = f", and `{stage['mine']}` with mined negatives" if stage.get("mine") else ""
    stop = f", stopped after {stage['stop_after']:,} batches" if stage.get("stop_after") else ""
    sets = ", ".join(f"`{name}`" for name in stage["data"])
    return (
        f"- {sets}{mined}: {stage['epochs']} epoch{'s' * (stage['epochs'] > 1)}{stop};\n  {stage['mask']:.0%} of the "
        f"tokens hidden, peak learning rate {stage['rate']}"
    )


def encoder_card(folder: Path) -> str:
    """The card of an encoder folder with recipe.json and metrics.json."""
    recipe = json.loads((folder / "recipe.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    stages = "\n".join(map(_stage, recipe["stages"]))
    return f"""# {folder.name}

A 6-layer BERT (hidden size 384, 12 heads), half precision. Start weights: {metrics["start"]}.

Post-trained with BERT's own two objectives on the training texts: masked-language modelling (weight
{recipe["word_weight"]}), and the label of a pair in the place of next-sentence prediction.

{stages}

Batch {recipe["batch"]}, seed {recipe["seed"]}, {recipe["precision"]} arithmetic, {metrics["machine"]}.
While it was trained, its pair objective alone reached {encoder_dev(metrics):.2f} % on `{recipe["dev"]}` (that head is
not shipped): what a TAN adds, it adds to this.

{recipe.get("note", "")}

What the start weights had seen before:

{had_seen(metrics)}

Tensor digest: `{metrics["digest"]}`. Made by `{metrics["command"]}`. Licence: {LICENSE}
"""


def checkpoint_card(folder: Path) -> str:
    """The card of a TAN folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    about = encoder_folder(config["encoder"]) / "metrics.json"
    encoder = json.loads(about.read_text("utf-8")) if about.is_file() else {}
    rows = "\n".join(
        f"| `{metrics[split]['set']}` | {metrics[split]['accuracy']:.2f} | {metrics[split]['f1']:.2f} "
        f"| {metrics[split]['majority']:.2f} | {metrics[split]['n']:,} |"
        for split in ("dev", "test")
        if split in metrics
    )
    model, how = config["model"], config["training"]
    label = MECHANISM_LABELS.get(model["mechanism"], model["mechanism"])
    return f"""# {folder.name}

{label}-Attention with the {model["similarity"].replace("_", " ")} relevance in a
Tri-Attention network: {model["layers"]} layers, {model["heads"]} heads, {metrics["parameters"]:,} parameters beside the
shared encoder `{config["encoder"]}`, which is frozen: checkpoints that share it differ in attention alone.

| set | accuracy, % | F1, % | largest class, % | pairs |
|---|---:|---:|---:|---:|
{rows}
{_start(config["encoder"], encoder)}
One seed ({metrics["seed"]}): how far seeds alone move these figures is not known, and one standard error of an accuracy
on 10,000 pairs is 0.35, so small differences between mechanisms mean nothing yet. The epoch was chosen on dev; test was
used for no choice. Trained on {", ".join(f"`{name}`" for name in config["data"]["train"])}: epochs {how["epochs"]},
batch {how["batch"]}, AdamW, peak learning rate {how["rate"]}, {metrics["seconds"]} s beside the encoding,
{metrics["machine"]}. In training {model.get("pooled_dropout", 0):.0%} of the pooled vectors are hidden: the attention
must tell these pairs apart by itself.

{_seen(encoder, metrics)}
Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: that of the encoder.
"""


def _seen(encoder: dict, metrics: dict) -> str:
    """What the start weights of the encoder had seen, and whether the test's source was among it."""
    if not encoder.get("start_had_seen"):
        return "What the start weights of the encoder had seen is not recorded.\n"
    source = metrics.get("test", metrics.get("dev", {})).get("set", "").partition("/")[0]
    read = [one["name"] for one in encoder["start_had_seen"] if source in one.get("set", "").split(", ")]
    flatter = f" ({', '.join(read)} among it: the test figures may flatter)" if read else ""
    return f"What the encoder's start weights had seen before{flatter}:\n\n{had_seen(encoder)}\n"


def _start(name: str, metrics: dict) -> str:
    """What the encoder had learnt before the TAN, where it is one of ours."""
    path = encoders() / name / "recipe.json"
    if not path.is_file():
        return ""
    recipe = json.loads(path.read_text("utf-8"))
    return f"""
The encoder had been trained before with labels on {", ".join(trained_on(recipe))}: its own pair head reached
{encoder_dev(metrics):.2f} % on `{recipe["dev"]}`. Chains of training positives may join sentences of dev
and test (the pairs themselves are not in training).
"""
