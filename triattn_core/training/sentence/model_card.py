"""The model card (README.md) of a sentence model, made only from its config and metrics."""

from __future__ import annotations

from pathlib import Path

from triattn_core.training.model_card import PRECISIONS, card_records, data_text, metrics_table, seed_text, sources_text

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
    """The model card of a folder with config.json and metrics.json."""
    config, metrics, encoder = card_records(folder)
    model, train, data = config["model"], config["training"], config["data"]
    sets, seconds = data_text(data), f"{metrics['seconds']} s" + " for one fold" * ("folds" in metrics)
    layers = f"{model['layers']} layer{'s' * (model['layers'] > 1)} of "
    splits = (_split_metrics(metrics, split) for split in ("dev", "test") if split in metrics)
    measured = [*splits, *metrics.get("elsewhere", ())]
    return f"""# {folder.name}

{layers}{BLOCKS.get(model["mechanism"], model["mechanism"])}, {model["out"]} features a token, pooled by multi-dim
source2token attention: {metrics["parameters"]:,} parameters beside the word vectors.
{vectors(model, config["encoder"])}

{metrics_table(measured)}

{_describe_folds(metrics) if "folds" in metrics else seed_text(metrics)} The epoch was chosen on dev{_dev(data)}.

Trained on {sets}{_filter(data)}: epochs {train["epochs"]}, batch {train["batch"]}, {train["optimizer"]}, learning rate
{train["rate"]}, L2 {train["weight_decay"]}, dropout keeps {model["keep"]},
matrix products in {PRECISIONS[train["precision"]]}, {seconds}, {metrics["machine"]}.
{_duplicates_text(data)}

{sources_text(encoder, metrics)}
Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: that of the encoder.
"""


def _split_metrics(metrics: dict, split: str) -> dict:
    """The metrics of a split; for cross-validation, the name of the set includes the split."""
    split_metrics = metrics[split]
    return {**split_metrics, "set": f"{split_metrics['set']}, {split}"} if "folds" in metrics else split_metrics


def vectors(model: dict, encoder: str) -> str:
    """The source of the word vectors, as a sentence."""
    if model["vectors"] == "embedding":
        return f"These are the word-embedding table of `{encoder}`, frozen: they know no context."
    layer = model["vectors"].replace(":", " ")
    if tuned := model.get("fine_tuned"):
        layers = f"{tuned['layers']} layer{'s' * (tuned['layers'] > 1)}"
        return (
            f"These are the states of {layer} of `{encoder}`, frozen, then its last {layers}, which were trained with "
            f"the model at {tuned['rate']:g} of its rate and count among its parameters."
        )
    return f"These are the states of {layer} of `{encoder}`, frozen: they know their context."


def _describe_folds(metrics: dict) -> str:
    """The means over folds, and the fold of the shipped weights, as sentences."""
    folds = metrics["folds"]
    scores = ", ".join(f"{score:.2f}" for score in folds["each"])
    tested = "each tested by" if folds["of"] == "test" else "none tested: on the rows that chose the epoch, each of"
    return (
        f"Means over {folds['count']} folds, {tested} a model trained on the others: {folds['metric']} "
        f"{folds['mean']:.2f} with a standard deviation of {folds['spread']:.2f} ({scores}). "
        f"The weights here are those of fold {folds['shipped']}."
    )


def _duplicates_text(data: dict) -> str:
    if data.get("repeats"):
        return "A text that occurs more than once may be trained on and tested too, as in published figures."
    return "A text is trained on once, and not where dev or test has it too."


def _dev(data: dict) -> str:
    return "" if data.get("dev") else f", {data['dev_share']:.0%} of the training rows, drawn at random"


def _filter(data: dict) -> str:
    condition = ", ".join(f"{name} {value}" for name, value in data.get("where", {}).items())
    return f" ({condition} alone)" if condition else ""
