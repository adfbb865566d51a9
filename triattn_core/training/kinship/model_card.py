"""The model card (README.md) of a model of family stories, from its config and its metrics alone."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.checkpoint.metadata import similarity_label
from triattn_core.training.model_card import seed_text

MECHANISMS = {
    "bi_joint": "Two-way attention over the two people and all links",
    "cbi": "Two-way attention from the two people to the links, each with the mean of all",
    "tri": "One softmax over all pairs of links",
    "triangle": "Triangle attention over all pairs of people, around both ends",
}


def kinship_card(folder: Path) -> str:
    """The card of a folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    model, training, data = config["model"], config["training"], config["data"]
    rows = "\n".join(
        f"| {split}: `{numbers['set']}` | {numbers['accuracy']:.2f} | {numbers['majority']:.2f} | {numbers['n']:,} |"
        for split in ("dev", "test")
        if (numbers := metrics.get(split))
    )
    return f"""# {folder.name}

*How are two people of a story related?*  {MECHANISMS[model["mechanism"]]}: {similarity_label(model["similarity"])} relevance, {model["layers"]} layer{"s" * (model["layers"] > 1)},
{model["heads"]} heads, {model["hidden"]} features, {metrics["parameters"]:,} parameters in all.

| set | accuracy, % | the most frequent relation, % | rows |
|---|---:|---:|---:|
{rows}

{seed_text(metrics)}

Trained on `{data["train"][0]}` without {data["dev_share"]:.0%} of its stories, which are dev. Epochs {training["epochs"]}, batch {training["batch"]}, AdamW,
learning rate {training["rate"]}, {metrics["seconds"]} s, {metrics["machine"]}. The last weights are kept.

Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: Apache 2.0.
"""  # noqa: E501
