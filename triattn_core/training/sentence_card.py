"""The model card (README.md) of a sentence model, from its config and its metrics alone."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.models.encoders import encoder_folder
from triattn_core.training.card import rows, seeds, seen, table

BLOCKS = {
    "bi_lstm": "Bi-LSTM",
    "bi_gru": "Bi-GRU",
    "multi_cnn": "Multi-CNN",
    "hierarchical_cnn": "Hierarchical CNN",
    "multi_head": "Multi-head self-attention with positions",
    "disa": "Directional self-attention (DiSA)",
    "bi_blosa": "Bi-directional block self-attention (Bi-BloSA)",
    "mtsa": "Multi-mask tensorized self-attention (MTSA)",
}


def sentence_card(folder: Path) -> str:
    """The card of a folder with config.json and metrics.json."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    about = encoder_folder(config["encoder"]) / "metrics.json"
    encoder = json.loads(about.read_text("utf-8")) if about.is_file() else {}
    model, how, data = config["model"], config["training"], config["data"]
    layers = f"{model['layers']} layer{'s' * (model['layers'] > 1)} of "
    return f"""# {folder.name}

{layers}{BLOCKS.get(model["mechanism"], model["mechanism"])}, {model["out"]} features a token, pooled by multi-dim
source2token attention: {metrics["parameters"]:,} parameters beside the word vectors.
{vectors(model, config["encoder"])}

{table([_named(metrics, split) for split in ("dev", "test") if split in metrics])}

{_folds(metrics) if "folds" in metrics else seeds(metrics)} The epoch was chosen on dev{_dev(data)}.

Trained on {rows(data)}{_where(data)}: epochs {how["epochs"]}, batch {how["batch"]}, {how["optimizer"]}, learning rate
{how["rate"]}, L2 {how["weight_decay"]}, dropout keeps {model["keep"]}, {metrics["seconds"]} s, {metrics["machine"]}.
{_once(data)}

{seen(encoder, metrics)}
Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: that of the encoder.
"""


def _named(metrics: dict, split: str) -> dict:
    """What was measured on a split; of a set that has none its name tells of which part."""
    told = metrics[split]
    return {**told, "set": f"{told['set']}, {split}"} if "folds" in metrics else told


def vectors(model: dict, encoder: str) -> str:
    """Where the word vectors are from."""
    if model["vectors"] == "embedding":
        return f"These are the word-embedding table of `{encoder}`, frozen: they know no context."
    layer = model["vectors"].replace(":", " ")
    return f"These are the states of {layer} of `{encoder}`, frozen: they know their context."


def _folds(metrics: dict) -> str:
    """What the figures are means of, and which fold the weights are of."""
    told = metrics["folds"]
    each = ", ".join(f"{one:.2f}" for one in told["each"])
    how = "each tested by" if told["of"] == "test" else "none tested: on the rows that chose the epoch, each of"
    return (
        f"Means over {told['count']} folds, {how} a model trained on the others: {told['metric']} "
        f"{told['mean']:.2f} with a standard deviation of {told['spread']:.2f} ({each}). "
        f"The weights here are those of fold {told['shipped']}."
    )


def _once(data: dict) -> str:
    if data.get("repeats"):
        return "A text that stands more than once may be trained on and tested too, as in published figures."
    return "A text is trained on once, and not where dev or test has it too."


def _dev(data: dict) -> str:
    return "" if data.get("dev") else f", {data['dev_share']:.0%} of the training rows, drawn at random"


def _where(data: dict) -> str:
    told = ", ".join(f"{name} {value}" for name, value in data.get("where", {}).items())
    return f" ({told} alone)" if told else ""
