"""The model card of a COIN."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path

from triattn_core.attention.dropout import STEPS, steps
from triattn_core.configs.coin import CoinConfig
from triattn_core.training.model_card import PRECISIONS, data_text, measured_sets, metrics_table, seed_text

PARTS = ("context", "fusion", "aggregation", "pooling")  # settings of the ablations of Table 3
TRAINING = ("gate_bias", "block_rate", "block_loss")  # settings that the paper does not have


def coin_card(folder: Path) -> str:
    """The model card of a folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    model, training = config["model"], config["training"]
    defaults = {name: CoinConfig.model_fields[name].default for name in PARTS}
    changes = ", ".join(f"{name} {model[name]}".lower() for name in PARTS if model[name] != defaults[name])
    dropped, gate = steps(model["dropout"]), model["fusion"] == "gate"
    places = ["the encoder", "each block", *["the last layer of a gate fusion"] * gate]
    places += ["the aggregation"] * model["aggregation"]
    return f"""# {folder.name}

COIN, the context-aware interaction network: {model["layers"]} interaction block{"s" * (model["layers"] > 1)}, {model["embedding"]} features a
token and {model["hidden"]} in its networks, {metrics["parameters"]:,} parameters.{f" Other than in the paper's network: {changes}." if changes else ""}
{_words(config)}{_unlike_paper(model)}

{metrics_table(measured_sets(metrics))}

F1 is that of the label 1. {seed_text(metrics)} The epoch was chosen on dev.

Trained on {data_text(config["data"])}: epochs {training["epochs"]}, batch {training["batch"]}, {training["optimizer"]}, learning rate
{training["rate"]} ({_schedule(training)}), L2 {training["weight_decay"]:g} of all weights but biases{" and the vectors of its words" * (not config.get("encoder"))},
dropout {dropped / STEPS:.3f} ({dropped} in {STEPS}), gradients clipped at {training["clip"]:g}, matrix products in {PRECISIONS[training["precision"]]},
{metrics["seconds"]} s, {metrics["machine"]}.{" Both labels weigh the same." if training["balanced"] else ""}

What the paper leaves open is chosen so: one layer for F{" and for each G" * gate}, a bias and a relu in the convolutions, and
dropout before {", ".join(places)}, and both layers of the
prediction.

Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: Apache 2.0.
"""  # noqa: E501


def _unlike_paper(model: dict) -> str:
    """How training differs from the paper's, in a sentence; empty if it does not."""
    bias, rate, loss = (model.get(name, CoinConfig.model_fields[name].default) for name in TRAINING)
    kept = 1 / (1 + exp(-bias))
    parts = [
        f"gates begin with a bias of {bias:g}, which keeps {kept:.2f} of each feature" * (bias != 0),
        f"each block has {rate:g} times the learning rate of the one before" * (rate != 1),
        f"the loss after each block but the last is added, times {loss:g}" * (loss != 0),
    ]
    return f"\nUnlike in the paper: {'; '.join(filter(None, parts))}." if any(parts) else ""


def _schedule(training: dict) -> str:
    return (
        f"times {training['decay']:g} after each epoch"
        if training["schedule"] == "exponential"
        else training["schedule"]
    )


def _words(config: dict) -> str:
    if config.get("encoder"):
        return f"Its words are the word-embedding table of `{config['encoder']}`, frozen: they know no context."
    words, least = config["vocabulary"]["tokens"], config["vocabulary"]["least"]
    return f"It began from nothing: its vectors are those of the {words} that occur at least {least} times in training."
