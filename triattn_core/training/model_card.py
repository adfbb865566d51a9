"""The model card (README.md) of a checkpoint or an encoder, made only from its config and metrics."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev

from triattn_core.analysis.significance import NO_SHARES, standard_error
from triattn_core.checkpoint import metadata, provenance
from triattn_core.checkpoint.encoder_folders import encoder_folder
from triattn_core.checkpoint.registry import encoder_root
from triattn_core.tasks import InputForm, form
from triattn_core.trace.axes import MECHANISM_LABELS
from triattn_core.training.encoder.encoder_init import RELATION

PRECISIONS = {"no": "float32", "bf16": "bfloat16", "fp16": "float16"}
LICENSE = "Apache 2.0."
COSINE = "cosine of two mean vectors"  # the score of an encoder that reads texts separately


def sources_list(metrics: dict) -> str:
    """A Markdown list of the pre-training data of the start weights."""
    return "\n".join(f"- {source['name']}: {source['what']}" for source in metrics.get("start_had_seen", []))


def encoder_dev(metrics: dict) -> float:
    """Accuracy of the encoder's pair objective on dev, in per cent: the starting point of a TAN."""
    return 100 * metrics["history"][-1]["values"]["dev accuracy"]


def _stage(stage: dict) -> str:
    mined_text = f", and `{stage['mine']}` with mined negatives" if stage.get("mine") else ""
    stop = f", stopped after {stage['stop_after']:,} batches" if stage.get("stop_after") else ""
    sets = ", ".join(f"`{name}`" for name in stage["data"])
    weight = f" (weight {stage['word_weight']})" if "word_weight" in stage else ""
    even = f", in each tenth of token overlap at most {stage['even']:g} to one" if stage.get("even") else ""
    where = "".join(f", {name} {value}" for name, value in stage.get("where", {}).items())
    share_text = f", one example in {stage['every']}" if stage.get("every", 1) > 1 else ""
    hidden = f"{stage['mask']:.0%} of the tokens hidden{weight}, " if stage["mask"] else ""
    epochs = f"{stage['epochs']} epoch{'s' * (stage['epochs'] > 1)}"
    return (
        f"- {sets}{mined_text}{where}{share_text}{even}: {epochs}{stop};\n  {hidden}peak learning rate {stage['rate']}"
    )


def _of_pairs(recipe: dict) -> bool:
    """Whether a recipe trains on sentence pairs, the default task."""
    return form(recipe.get("task", "pairs")) is InputForm.PAIR


def _objectives(recipe: dict) -> str:
    """The training objectives of the encoder."""
    if recipe.get("objective") == "apart":
        return """Post-trained on texts read alone: the mean vectors of two texts that belong together become alike,
by the label of a pair and, for positives, against the other second texts of the batch."""
    label = "the label of a pair"
    if not _of_pairs(recipe):
        label = "which text goes on with another (the options of an example, where it has several, in one softmax),"
    verb = "Trained" if recipe["start"].get("vocabulary") else "Post-trained"
    if not any(stage["mask"] for stage in recipe["stages"]):
        return f"{verb} with one of BERT's own objectives:\n{label} in the place of next-sentence prediction."
    words = f"masked-language modelling\n(weight {recipe['word_weight']} unless said)"
    return f"""{verb} with BERT's own two objectives on the training texts: {words},
and {label} in the place of next-sentence prediction."""


def _objective_alone(recipe: dict) -> str:
    return f"The {COSINE}" if recipe.get("objective") == "apart" else "Its pair objective alone"


def _limits(recipe: dict) -> str:
    """Limits of the training: maximum tokens, trained layers, dropout."""
    layers, dropout = recipe.get("train_layers"), recipe.get("attention_dropout")
    trained = f", the last {layers} layers trained, what is below them as in the start" if layers else ""
    dropped = f", attention dropout {dropout:g}" if dropout is not None else ""
    unit = "sentence" if _of_pairs(recipe) else "joint sequence"
    return f"at most {recipe['max_tokens']} tokens a {unit}{trained}{dropped}"


def encoder_card(folder: Path) -> str:
    """The model card of an encoder folder with recipe.json, config.json and metrics.json."""
    recipe, metrics, config = (
        json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("recipe", "metrics", "config")
    )
    stages = "\n".join(map(_stage, recipe["stages"]))
    words = recipe["start"].get("vocabulary")
    vocabulary = ""
    if words:
        sets = ", ".join(f"`{name}`" for name in words["data"])
        vocabulary = f"""
A token is a character: the {config["vocab_size"] - 5:,} that occur at least {words["least"]} times in {sets},
full-width and half-width forms as one. Any other character is unknown to the model.
"""
    sources = sources_list(metrics) or "Nothing: the weights were drawn at random."
    return f"""# {folder.name}

A {config["num_hidden_layers"]}-layer BERT (hidden size {config["hidden_size"]}, {config["num_attention_heads"]} heads),
half precision. Start weights: {metrics["start"]}.
{vocabulary}
{_objectives(recipe)}

{stages}

Batch {recipe["batch"]}, seed {recipe["seed"]}, {_limits(recipe)}.
Made with {PRECISIONS[recipe["precision"]]} arithmetic on {metrics["machine"]}.
{_objective_alone(recipe)} reached {encoder_dev(metrics):.2f} % on `{recipe["dev"]}` ({_head(recipe, folder)}):
what a TAN adds, it adds to this.

{recipe.get("note", "")}

What the start weights had seen before:

{sources}

Tensor digest: `{metrics["digest"]}`. Made by `{metrics["command"]}`. Licence: {LICENSE}
"""


def _head(recipe: dict, folder: Path) -> str:
    """The metric of its score on dev, and where the head is stored."""
    counts = "accuracy" if _of_pairs(recipe) else "the right option ranked first"
    counts += "".join(f", {name} {value} alone" for name, value in recipe["stages"][-1].get("where", {}).items())
    where = f"in `{RELATION}`, for a further training" if (folder / RELATION).is_file() else "not shipped"
    return f"{counts}; the head is {where}"


def card_records(folder: Path) -> tuple[dict, dict, dict]:
    """The config and the metrics of a checkpoint, and the metrics of its encoder: empty where it has none."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    metrics_file = encoder_folder(config["encoder"]) / "metrics.json"
    encoder = json.loads(metrics_file.read_text("utf-8")) if metrics_file.is_file() else {}
    return config, json.loads((folder / "metrics.json").read_text("utf-8")), encoder


def checkpoint_card(folder: Path) -> str:
    """The model card of a TAN folder with config.json and metrics.json."""
    config, metrics, encoder = card_records(folder)
    model, train = config["model"], config["training"]
    label = MECHANISM_LABELS.get(model["mechanism"], model["mechanism"])
    layers = f"{model['layers']} layer{'s' * (model['layers'] > 1)}"
    living = "\nIts sequences are encoded apart, and its answer goes through the attention alone." * (
        model.get("context") == "apart"
    )
    return f"""# {folder.name}

{label}-Attention with the {metadata.similarity_label(model["similarity"])} relevance in a
Tri-Attention network: {layers}, {model["heads"]} heads, {metrics["parameters"]:,} parameters beside the shared
encoder `{config["encoder"]}`, which is frozen. Checkpoints that share it differ
only in their attention: in its kind and form, its number of layers and its size.{living}

{metrics_table(measured_sets(metrics))}
{_start(config["encoder"], encoder)}
{seed_text(metrics)} {"The epoch was chosen on dev; test" if train["epochs"] > 1 else "Test"} was used for no choice.

Trained on {data_text(config["data"])}: epochs {train["epochs"]}, batch {train["batch"]}, AdamW, peak learning rate
{train["rate"]}, {metrics["seconds"]} s beside the encoding, {metrics["machine"]}.{_dropout_text(model)}

{sources_text(encoder, metrics)}
Tensor digest: `{config["digest"]}`. Made by `{metrics["command"]}`. Licence: that of the encoder.
"""


def measured_sets(metrics: dict) -> list[dict]:
    """The metrics on dev, on test, and on sets that `triattn evaluate … --record` has measured."""
    return [*(metrics[split] for split in ("dev", "test") if split in metrics), *metrics.get("elsewhere", ())]


def metrics_table(splits: list[dict]) -> str:
    """One row per set: its metrics, the baseline, and the number of examples."""
    names = max((list(metadata.metrics(one)) for one in splits), key=len)
    (blind,) = {name for one in splits for name in metadata.BASELINES if name in one}
    heads = [*(metadata.METRICS.get(name, name) for name in names), metadata.BASELINES[blind]]
    lines = [f"| set | {' | '.join(f'{head}, %' for head in heads)} | examples |", "|---|" + "---:|" * (len(heads) + 1)]
    for split_metrics in splits:
        numbers = " | ".join(f"{split_metrics[name]:.2f}" if name in split_metrics else "" for name in (*names, blind))
        held_out = ", held out" * split_metrics["set"].endswith("/train")
        lines.append(f"| `{split_metrics['set']}`{held_out} | {numbers} | {split_metrics['n']:,} |")
    return "\n".join(lines)


def seed_text(metrics: dict) -> str:
    """Seed variance, if several seeds were trained, and the standard error of what is a share of rows."""
    seeds, split = metrics.get("seeds", []), "test" if "test" in metrics else "dev"
    name, score = next(iter(metadata.metrics(metrics[split]).items()))
    noise = ""
    if name not in NO_SHARES:
        error = standard_error(score, metrics[split]["n"])
        noise = f" The standard error of {split} {metadata.METRICS.get(name, name)} is {error:.2f} points."
    values = [seed[split] for seed in seeds if split in seed]
    if len(values) < 2:
        return f"One seed ({metrics['seed']}): how far seeds alone move these figures was not measured.{noise}"
    listed = ", ".join(f"{seed[split]:.2f} (seed {seed['seed']})" for seed in seeds)
    spread = f"{mean(values):.2f} with a standard deviation of {stdev(values):.2f}"
    return f"Over {len(values)} seeds, {split}: {spread}: {listed}.{noise}"


def _dropout_text(model: dict) -> str:
    share = model.get("pooled_dropout", 0)
    sentence = f"{share:.0%} of the pooled vectors are hidden: the attention must tell these pairs apart by itself"
    return f" In training\n{sentence}." if share else ""


def data_text(data: dict) -> str:
    """The training sets in words."""
    every = data.get("every", 1)
    names = ", ".join(f"`{name}`" for name in data["train"])
    even = f", in each tenth of token overlap at most {data['even']:g} of one label to one" if data.get("even") else ""
    where = "".join(f", {name} {value}" for name, value in data.get("where", {}).items())
    return (f"one row in {every} of {names}" if every > 1 else names) + where + even


TERMS = {  # by data set: its terms and whom to name, where weights made of it are shipped under them
    "propbank_ewt": (
        "The rows are PropBank's release for the English Web Treebank (Palmer et al. 2005; roles by "
        "github.com/propbank/propbank-release, words by Universal Dependencies English-EWT, Silveira et al. 2014), "
        "CC BY-SA 4.0."
    ),
    "tatoeba_en_de": "The rows are of tatoeba.org, as paired by manythings.org/anki, CC BY 2.0.",
}


def terms_text(data: dict) -> str:
    """The terms of the training sets that name some, with a space before; empty without any."""
    names = dict.fromkeys(name.partition("/")[0] for name in data["train"])
    return "".join(f" {TERMS[name]}" for name in names if name in TERMS)


def sources_text(encoder: dict, metrics: dict) -> str:
    """The pre-training data of the encoder, and whether they include the source of the test set."""
    if encoder.get("start_had_seen") == []:
        return "The encoder began from nothing: it had seen no text but the training texts.\n"
    if not encoder.get("start_had_seen"):
        return "What the start weights of the encoder had seen is not recorded.\n"
    source = metrics.get("test", metrics.get("dev", {})).get("set", "").partition("/")[0]
    overlapping = [
        start_source["name"]
        for start_source in encoder["start_had_seen"]
        if source in start_source.get("set", "").split(", ")
    ]
    caveat = (
        f" ({', '.join(overlapping)} among it: the test figures may be inflated by contamination)"
        if overlapping
        else ""
    )
    return f"What the encoder's start weights had seen before{caveat}:\n\n{sources_list(encoder)}\n"


def _start(name: str, metrics: dict) -> str:
    """The training of the encoder before the TAN, if it is an encoder of ours."""
    path = encoder_root() / name / "recipe.json"
    if not path.is_file():
        return ""
    recipe = json.loads(path.read_text("utf-8"))
    sets = ", ".join(f"`{name}`" for name in provenance.recipe_datasets(recipe))
    duplicates = (
        ""
        if not _of_pairs(recipe)
        else """ Pairs of dev and test that
occur verbatim in training were removed from it; some remain in another order or punctuation:
`triattn evaluate … --exclude-overlap` leaves those out."""
    )
    head = f"the {COSINE}" if recipe.get("objective") == "apart" else "its own pair head"
    return f"""
The encoder had been trained before with labels on {sets}: {head} reached
{encoder_dev(metrics):.2f} % on `{recipe["dev"]}`.{duplicates}
"""
