"""The model card (README.md) of a tagger, made only from its config and metrics."""

from __future__ import annotations

from pathlib import Path

from triattn_core.training.model_card import (
    PRECISIONS,
    card_records,
    data_text,
    measured_sets,
    metrics_table,
    seed_text,
    sources_text,
    terms_text,
)
from triattn_core.training.sentence.model_card import BLOCKS, vectors


def tagger_card(folder: Path) -> str:
    """The model card of a folder with config.json and metrics.json."""
    config, metrics, encoder = card_records(folder)
    model, train = config["model"], config["training"]
    layers = f"{model['layers']} layer{'s' * (model['layers'] > 1)}"
    positions = ", sinusoids added to its input" if model["positions"] else ""
    return f"""# {folder.name}

A tagger of semantic roles (Tan et al. 2018): {layers} of a feed-forward sublayer ({model["feed_forward"]} hidden features) and
{BLOCKS.get(model["mechanism"], model["mechanism"])}{positions}, {model["out"]} features a word,
{metrics["parameters"]:,} parameters beside the word vectors. A word's vector is the mean of its word pieces'.
{vectors(model, config["encoder"])} A learnt vector marks the predicate, which must be given. Tags are decoded with the
constraints of BIO.

{metrics_table(measured_sets(metrics))}

Scores are those of CoNLL-2005: arguments with exact label and ends, parts marked C- joined, the predicate itself left
out; F1 of verbs is that of verbal predicates alone; complete: propositions without an error. {seed_text(metrics)}
The epoch was chosen on dev.

Trained on {data_text(config["data"])}: epochs {train["epochs"]}, batch {train["batch"]}, {train["optimizer"]}, peak learning
rate {train["rate"]}, weight decay {train["weight_decay"]}, label smoothing {train["smoothing"]}, dropout keeps {model["keep"]} ({model["attention_keep"]} of
attention), matrix products in {PRECISIONS[train["precision"]]}, {metrics["seconds"]} s, {metrics["machine"]}.

{sources_text(encoder, metrics)}
Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: that of the encoder.{terms_text(config["data"])}
"""  # noqa: E501
