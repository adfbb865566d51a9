"""The records of the checkpoints read across: what they reached, how they differ, what their start weights had read.

Reads JSON alone, so that the first page need not wait for torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triattn_core import shelf
from triattn_core.shelf import Card
from triattn_core.tasks import TASKS

# What a model is judged by: the first of these that its metrics.json has, with the words for it.
METRICS = {"f1": "F1", "em": "exact match", "accuracy_middle": "middle school", "accuracy_high": "high school"}
BASELINES = {"majority": "largest class", "chance": "chance"}  # what a model without eyes would reach
LANGUAGES = {"en": "English", "zh": "Chinese"}
SIMILARITIES = ("additive", "dot", "scaled_dot", "bilinear")  # as the paper's tables list them
SETS = {"quora": "Quora", "mrpc": "MRPC", "lcqmc": "LCQMC", "ubuntu_irc": "Ubuntu IRC", "race": "RACE"} | {
    "squad1.1": "SQuAD", "snli": "SNLI", "mnli_subset": "MultiNLI, a sample", "trec": "TREC", "sst5": "SST-5",
    "cr": "CR", "mpqa": "MPQA", "subj": "SUBJ",
}  # fmt: skip
NO_SETTINGS = {"digest", "encoder_digest"}  # of a config: they differ always and explain nothing


@dataclass(frozen=True)
class Source:
    """Something the start weights had read; `of_test` where the test set was cut from it."""

    name: str
    what: str
    of_test: bool


def model(card: Card, setting: str) -> str:
    """A setting of the model (`mechanism`, `similarity`, …), empty where the config has none."""
    told = card.config.get("model")
    return str(told.get(setting) or "") if isinstance(told, Mapping) else ""


def task(card: Card) -> str:
    """The task in words."""
    name = str(card.config.get("task", ""))
    return TASKS[name].LABEL if name in TASKS else name


def language(card: Card) -> str:
    """Code of the language that it reads: `zh`; empty where the config has none."""
    return str(card.config.get("language") or "")


def spoken(code: str) -> str:
    """A language in words."""
    return LANGUAGES.get(code, code)


def place(card: Card) -> tuple[int, int, str, bool, str]:
    """Sorts cards as they are offered: by language, then as the paper lists the similarities, then those of the first
    folder of checkpoints before those of others (pages open on ours), then by name."""
    known, similarity = list(LANGUAGES), model(card, "similarity")
    at = SIMILARITIES.index(similarity) if similarity in SIMILARITIES else len(SIMILARITIES)
    code = language(card)
    first = known.index(code) if code in known else len(known)
    return first, at, similarity, card.path.parent != shelf.root(), card.name


def data_folder(card: Card) -> str:
    """Folder of the data set that it is measured on: `quora`."""
    told = card.config.get("data")
    trained = told.get("train") or ("",) if isinstance(told, Mapping) else ("",)
    name = str(told.get("test") or told.get("dev") or trained[0]) if isinstance(told, Mapping) else str(told or "")
    return name.partition("/")[0]


def data(card: Card) -> str:
    """Name of the data set that it is measured on."""
    return SETS.get(data_folder(card), data_folder(card))


def metric(card: Card) -> str:
    """Name of the metric that stands for this model, empty where nothing was measured."""
    told = (card.metrics.get(split) for split in ("test", "dev"))
    return next((next(iter(metrics(one)), "") for one in told if isinstance(one, Mapping)), "")


def metric_name(card: Card) -> str:
    """The same in words."""
    return METRICS.get(metric(card), metric(card))


def metrics(told: Mapping) -> dict[str, float]:
    """The metrics in what metrics.json holds of a split, in per cent; the first stands for the model."""
    return {name: one for name, one in told.items() if name not in (*BASELINES, "n") and isinstance(one, float | int)}


def value(card: Card, split: str, name: str) -> float | None:
    """A number of metrics.json, None where it was not measured."""
    told = card.metrics.get(split)
    found = told.get(name) if isinstance(told, Mapping) else None
    return float(found) if isinstance(found, (int, float)) else None


def score(card: Card, split: str = "test") -> float | None:
    """The metric that stands for this model, in per cent."""
    return value(card, split, metric(card))


def seeds(card: Card) -> list[float]:
    """Accuracy on test of each seed that was trained, in per cent: the shipped one first; empty where one alone was."""
    told = card.metrics.get("seeds")
    found = [one.get("test") for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    return [float(one) for one in found if isinstance(one, (int, float))] if len(found) > 1 else []


def seed_scores(cards: Sequence[Card]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Checkpoints of several seeds by (data set, similarity): {name: accuracies}."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for card in cards:
        if seeds(card):
            found.setdefault((data(card), model(card, "similarity")), {})[card.name] = seeds(card)
    return found


def alike(card: Card, cards: Sequence[Card]) -> list[Card]:
    """The card and those of `cards` that differ from it in their seed alone, one for each seed."""
    found = {_seed(card): card}
    for one in cards:
        if one.problem is None and _settings(one) == _settings(card):
            found.setdefault(_seed(one), one)
    return list(found.values())


def _seed(card: Card) -> Any:
    return flat(card.config).get("training.seed")


def _settings(card: Card) -> dict[str, Any]:
    said = flat(card.config).items()
    return {name: one for name, one in said if name not in ("digest", "training.seed", "training.more_seeds")}


def groups(cards: Sequence[Card]) -> dict[tuple[str, str, str], list[Card]]:
    """Cards that may be compared stand together: (task, data, language) → cards, the best on dev first."""
    found: dict[tuple[str, str, str], list[Card]] = {}
    for card in sorted(cards, key=lambda card: (-(score(card, "dev") or 0.0), card.name)):
        found.setdefault((task(card), data(card), spoken(language(card))), []).append(card)
    return dict(sorted(found.items(), key=lambda one: (one[0][0], place(one[1][0])[0], one[0])))


def flat(config: Mapping, prefix: str = "") -> dict[str, Any]:
    """Nested settings by dotted name: `model.layers` → 2."""
    found: dict[str, Any] = {}
    for name, one in config.items():
        inner = isinstance(one, Mapping) and one
        found |= flat(one, f"{prefix}{name}.") if inner else {f"{prefix}{name}": one}
    return found


def differences(*configs: Mapping) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
    """Settings in which configs differ, with all values (None where one has none), and those that are equal."""
    every = [{name: value for name, value in flat(one).items() if name not in NO_SETTINGS} for one in configs]
    names = dict.fromkeys(name for one in every for name in one)
    values = {name: tuple(one.get(name) for one in every) for name in names}
    differ = {name: some for name, some in values.items() if any(one != some[0] for one in some)}
    return differ, {name: some[0] for name, some in values.items() if name not in differ}


def encoder(card: Card) -> Path | None:
    """The folder of the encoder it shares with others, None where it has none of ours."""
    name = card.config.get("encoder")
    return shelf.encoder(str(name)) if name else None


def seen(card: Card) -> tuple[Source, ...] | None:
    """What the start weights had read before training, as the records of the encoder say, None where they do not.

    Empty is a record too: the encoder began from nothing. `set` of a record names the folders of the data sets that
    were cut from the same source.
    """
    folder, own = encoder(card), data_folder(card)
    if "vocabulary" in card.config:  # it has learnt its words itself
        return ()
    try:
        told = json.loads((folder / "metrics.json").read_text("utf-8"))["start_had_seen"] if folder else None
        sets = [one.get("set", "").replace(",", " ").split() for one in told]
        return tuple(Source(one["name"], one.get("what", ""), own in of) for one, of in zip(told, sets))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def taught(card: Card) -> list[str]:
    """The sets that its encoder was trained on by the encoder's recipe, each once; empty where there is none."""
    folder = encoder(card)
    try:
        return sets(json.loads((folder / "recipe.json").read_text("utf-8"))) if folder else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def sets(recipe: Mapping) -> list[str]:
    """The sets that an encoder's recipe names in its stages, each once."""
    names = (name for stage in recipe["stages"] for name in (*stage["data"], stage.get("mine")))
    return list(dict.fromkeys(filter(None, names)))


def readme(card: Card) -> str:
    """The model card, Markdown without its front matter; empty where there is none."""
    try:
        text = (card.path / "README.md").read_text("utf-8")
    except (OSError, ValueError):
        return ""
    return text.partition("\n---\n")[2] if text.startswith("---\n") else text


def summary(card: Card) -> str:
    """The first paragraph of the model card."""
    parts = (part.strip() for part in readme(card).split("\n\n"))
    return next((" ".join(part.split()) for part in parts if part and not part.startswith(("#", "!", "|", "["))), "")


def files(folder: Path) -> dict[str, int]:
    """Files of a folder and their bytes, without hidden ones."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return {path.name: path.stat().st_size for path in found}
