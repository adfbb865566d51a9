"""The model card (README.md) of a reader, made only from its config and metrics."""

from __future__ import annotations

from pathlib import Path

from triattn_core.attention.dropout import STEPS, steps
from triattn_core.training.model_card import (
    PRECISIONS,
    card_records,
    data_text,
    measured_sets,
    metrics_table,
    seed_text,
    sources_text,
)
from triattn_core.training.sentence.model_card import vectors

OUTPUTS = {"O_1": "[h; u~]", "O_2": "[h; u~; h * u~]"}


SYSTEMS = {
    "bidaf": "BiDAF (Seo et al. 2017)",
    "dcn": "DCN (Xiong et al. 2017)",
    "qanet": "QANet (Yu et al. 2018)",
}


def _describe_reader(model: dict) -> str:
    """A description of the reader: the start of a sentence."""
    similarity = f"with the similarity `{model['similarity']}`"
    if model["mechanism"] in SYSTEMS:
        return f"{SYSTEMS[model['mechanism']]} {similarity}, over word vectors alone, without character embeddings"
    output = model["output"]
    return f"The baseline reader of the T-trilinear paper {similarity} and the output\n{output} {OUTPUTS[output]}"


def _dropout(model: dict) -> str:
    """The dropout in words; the baseline draws it from random bytes."""
    if model["mechanism"] in SYSTEMS:
        return str(model["dropout"])
    dropped = steps(model["dropout"])
    return f"{dropped / STEPS:.3f} ({dropped} in {STEPS}) before each LSTM and the projection"


def reader_card(folder: Path) -> str:
    """The model card of a folder with config.json and metrics.json."""
    config, metrics, encoder = card_records(folder)
    model, train, data = config["model"], config["training"], config["data"]
    sets = data_text(data)
    dev = "" if data.get("dev") else f", the questions of {data['dev_share']:.0%} of the passages of its first set"
    return f"""# {folder.name}

{_describe_reader(model)}: word vectors of {model["width"]} features, states of {model["hidden"]},
{metrics["parameters"]:,} parameters beside the word vectors.
{vectors(model, config["encoder"])} A word of several tokens is their mean.

{metrics_table(measured_sets(metrics))}

{seed_text(metrics)} Chosen on dev{dev}.
An answer has at most {model["longest"]} words; a passage of more than {config["max_tokens"]} tokens is read in windows.

Trained on {sets}: epochs {train["epochs"]}, batch {train["batch"]}, {train["optimizer"]}, learning rate {train["rate"]}
({train["schedule"]}), dropout {_dropout(model)}, moving average of the weights {train["average"]},
matrix products in {PRECISIONS[train["precision"]]}, {metrics["seconds"]} s beside the encoding,
{metrics["machine"]}. No passage of dev or test is one of training.

{sources_text(encoder, metrics)}
Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: that of the encoder.
"""
