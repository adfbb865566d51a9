"""The model card (README.md) of a translation model, made only from its config and metrics."""

from __future__ import annotations

import json
from pathlib import Path

from triattn_core.training.model_card import PRECISIONS, data_text, measured_sets, metrics_table, seed_text, terms_text
from triattn_core.training.sentence.model_card import BLOCKS


def translation_card(folder: Path) -> str:
    """The model card of a folder with config.json and metrics.json."""
    config, metrics = (json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("config", "metrics"))
    model, train, data = config["model"], config["training"], config["data"]
    turned = ", targets as sources" if data["turned"] else ""
    return f"""# {folder.name}

A Transformer that translates from {config["language"]} to {config["target_language"]}, {model["layers"]} layers of {model["out"]} features and {model["heads"]} heads in encoder and
decoder ({model["feed_forward"]} hidden features in feed-forward sublayers), {metrics["parameters"]:,} parameters. Its encoder's self-attention is
{BLOCKS[model["mechanism"]]}; sinusoids are added to the input in any case. It began from nothing; its {data["sub_words"]:,}
sub-words (byte-pair encoding) were learnt from the training rows.

{metrics_table(measured_sets(metrics))}

BLEU is that of sacrebleu with its defaults, of beam search with {config["beams"]} beams and length penalty {config["length_penalty"]}; chance is the
source itself. {seed_text(metrics)} The epoch was chosen on dev, by BLEU of greedy translations.

Trained on {data_text(data)}{turned}: epochs {train["epochs"]}, batch {train["batch"]}, {train["optimizer"]}, peak learning rate {train["rate"]}, label
smoothing {train["smoothing"]}, dropout keeps {model["keep"]} ({model["attention_keep"]} of attention), matrix products in {PRECISIONS[train["precision"]]},
{metrics["seconds"]} s, {metrics["machine"]}.

Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`.{terms_text(data)}
"""  # noqa: E501
