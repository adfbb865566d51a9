"""Facts about checkpoints read from their JSON files: scores, settings, differences.

Reads JSON alone, so that the first page need not wait for torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from triattn_core.checkpoint import registry
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import TASKS
from triattn_core.trace.axes import MECHANISM_LABELS, TAN_MECHANISMS

# Main metric of a model: the first of these in its metrics.json, with its display name.
METRICS = {"f1": "F1", "em": "exact match", "accuracy_middle": "middle school", "accuracy_high": "high school",
           "right_pair": "right pairs", "bleu": "BLEU", "complete": "complete",
           "f1_verbs": "F1 of verbs", "exact": "exact"}  # fmt: skip
BASELINES = {"majority": "largest class", "chance": "chance"}  # scores without looking at the input
LANGUAGES = {"en": "English", "zh": "Chinese"}
SIMILARITY_ORDER = ("additive", "dot", "scaled_dot", "bilinear")  # as the paper's tables list them
SIMILARITY_NAMES = {"strassen": "Strassen"}  # of people
SETS = {"quora": "Quora", "mrpc": "MRPC", "lcqmc": "LCQMC", "ubuntu_irc": "Ubuntu IRC", "race": "RACE"} | {
    "squad1.1": "SQuAD", "snli": "SNLI", "mnli_subset": "MultiNLI, a sample", "trec": "TREC", "sst5": "SST-5",
    "propbank_ewt": "PropBank EWT", "cr": "CR", "mpqa": "MPQA", "subj": "SUBJ", "tatoeba_en_de": "Tatoeba",
    "multi30k_tok": "Multi30k",
}  # fmt: skip
NO_SETTINGS = {"digest", "encoder_digest"}  # of a config: they always differ and explain nothing


def model_setting(entry: Entry, setting: str) -> str:
    """A setting of the model (`mechanism`, `similarity`, …); empty if the config has none."""
    settings = entry.config.get("model")
    return str(settings.get(setting) or "") if isinstance(settings, Mapping) else ""


def similarity_label(name: str) -> str:
    """A similarity as texts write it: `scaled_dot` → "scaled dot"."""
    return SIMILARITY_NAMES.get(name, name.replace("_", " "))


def task_label(entry: Entry) -> str:
    """The task's label for display."""
    name = str(entry.config.get("task", ""))
    return TASKS[name].LABEL if name in TASKS else name


def language(entry: Entry) -> str:
    """The code of the language a checkpoint reads, such as `zh`; empty if the config has none."""
    return str(entry.config.get("language") or "")


def language_name(code: str) -> str:
    """The name of a language by its code."""
    return LANGUAGES.get(code, code)


def is_living(entry: Entry) -> bool:
    """Whether a TAN encodes its sequences separately, so that its answer depends on the attention alone."""
    return model_setting(entry, "context") == "apart"


def form(entry: Entry) -> str:
    """Of a TAN "through attention" (its answer depends on it alone) or "as published"; empty of other models."""
    if model_setting(entry, "mechanism") not in TAN_MECHANISMS:
        return ""
    return "through attention" if is_living(entry) else "as published"


def plain_title(entry: Entry) -> str:
    """A checkpoint in the field's words, mechanism, similarity and data set: "Tri (dot) on Quora"; its name where these
    are not known."""
    mechanism = MECHANISM_LABELS.get(model_setting(entry, "mechanism"), "")
    if not mechanism or "source" in entry.config:
        return entry.name
    similarity = similarity_label(model_setting(entry, "similarity"))
    return f"{mechanism}{f' ({similarity})' if similarity else ''} on {dataset_name(entry)}"


def sort_key(entry: Entry) -> tuple[int, bool, int, str, bool, str]:
    """Sorts checkpoints for display: by language, then living TANs before published ones, then similarity in the
    paper's order, then the first folder of checkpoints before others, then name."""
    codes, similarity = list(LANGUAGES), model_setting(entry, "similarity")
    rank = SIMILARITY_ORDER.index(similarity) if similarity in SIMILARITY_ORDER else len(SIMILARITY_ORDER)
    code = language(entry)
    first = codes.index(code) if code in codes else len(codes)
    return first, not is_living(entry), rank, similarity, registry.root() not in entry.path.parents, entry.name


def in_display_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries by `sort_key`."""
    return tuple(sorted(entries, key=sort_key))


def of_mechanisms(entries: Iterable[Entry], mechanisms: Collection[str]) -> tuple[Entry, ...]:
    """Those of some mechanisms, in the same order."""
    return tuple(entry for entry in entries if model_setting(entry, "mechanism") in mechanisms)


def controls(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The controls of what attention is worth: see `is_control`."""
    return tuple(entry for entry in entries if is_control(entry))


def is_control(entry: Entry) -> bool:
    """Whether its weights are fixed, its scores pairwise, or, of MTSA, without scores."""
    if model_setting(entry, "mechanism") == "mtsa":
        return not any(entry.config["model"].get(score, True) for score in ("token2token", "source2token"))
    return bool(model_setting(entry, "weights")) or model_setting(entry, "similarity") == "strassen"


def data_folder(entry: Entry) -> str:
    """The folder of the data set a checkpoint is evaluated on, such as `quora`."""
    data_config = entry.config.get("data")
    trained = data_config.get("train") or ("",) if isinstance(data_config, Mapping) else ("",)
    name = (
        str(data_config.get("test") or data_config.get("dev") or trained[0])
        if isinstance(data_config, Mapping)
        else str(data_config or "")
    )
    return name.partition("/")[0]


def dataset_name(entry: Entry) -> str:
    """The name of the data set a checkpoint is evaluated on."""
    return SETS.get(data_folder(entry), data_folder(entry))


def main_metric(entry: Entry) -> str:
    """The name of the metric a checkpoint is judged by; empty if nothing was measured."""
    splits = (entry.metrics.get(split) for split in ("test", "dev"))
    return next(
        (next(iter(metrics(split_metrics)), "") for split_metrics in splits if isinstance(split_metrics, Mapping)), ""
    )


def metric_name(entry: Entry) -> str:
    """The display name of the main metric."""
    return METRICS.get(main_metric(entry), main_metric(entry))


def metrics(split_metrics: Mapping) -> dict[str, float]:
    """The metrics among a split's entries in metrics.json, in per cent; the first is the main metric."""
    return {
        name: number
        for name, number in split_metrics.items()
        if name not in (*BASELINES, "n") and isinstance(number, float | int)
    }


def metric_value(entry: Entry, split: str, name: str) -> float | None:
    """A number of metrics.json, or None if it was not measured."""
    split_metrics = entry.metrics.get(split)
    number = split_metrics.get(name) if isinstance(split_metrics, Mapping) else None
    return float(number) if isinstance(number, (int, float)) else None


def main_score(entry: Entry, split: str = "test") -> float | None:
    """The main metric on a split, in per cent, or None."""
    return metric_value(entry, split, main_metric(entry))


def seed_scores_of(entry: Entry) -> list[float]:
    """Test accuracy of each trained seed, in per cent, the shipped one first; empty if there is only one."""
    records = entry.metrics.get("seeds")
    scores = (
        [record.get("test") for record in records if isinstance(record, Mapping)] if isinstance(records, list) else []
    )
    return [float(score) for score in scores if isinstance(score, (int, float))] if len(scores) > 1 else []


def seed_scores(
    entries: Sequence[Entry], scores_of: Callable[[Entry], list[float]] = seed_scores_of
) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Checkpoints with several seeds, by (data set, similarity): {name: accuracies}."""
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    for entry in entries:
        scores = scores_of(entry)
        if len(scores) > 1:
            groups.setdefault((dataset_name(entry), model_setting(entry, "similarity")), {})[entry.name] = scores
    return groups


def seed_variants(entry: Entry, entries: Sequence[Entry]) -> list[Entry]:
    """The entry and those of `entries` that differ from it in the seed only, one per seed."""
    by_seed = {_seed(entry): entry}
    for other in entries:
        if other.problem is None and _settings(other) == _settings(entry):
            by_seed.setdefault(_seed(other), other)
    return list(by_seed.values())


def _seed(entry: Entry) -> Any:
    return flatten(entry.config).get("training.seed")


def _settings(entry: Entry) -> dict[str, Any]:
    settings = flatten(entry.config).items()
    return {
        name: setting for name, setting in settings if name not in ("digest", "training.seed", "training.more_seeds")
    }


def comparable_groups(entries: Sequence[Entry]) -> dict[tuple[str, str, str], list[Entry]]:
    """Comparable checkpoints grouped: (task, data, language) → entries, the best on dev first; the groups in the order
    of the tasks."""
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: (-(main_score(entry, "dev") or 0.0), entry.name)):
        groups.setdefault((task_label(entry), dataset_name(entry), language_name(language(entry))), []).append(entry)
    rank = {task.LABEL: place for place, task in enumerate(TASKS.values())}

    def place(group: tuple[tuple[str, str, str], list[Entry]]) -> tuple:
        key, members = group
        return rank.get(key[0], len(rank)), sort_key(members[0])[0], key

    return dict(sorted(groups.items(), key=place))


def flatten(config: Mapping, prefix: str = "") -> dict[str, Any]:
    """Nested settings by dotted name: `model.layers` → 2."""
    flat: dict[str, Any] = {}
    for name, setting in config.items():
        inner = isinstance(setting, Mapping) and setting
        flat |= flatten(setting, f"{prefix}{name}.") if inner else {f"{prefix}{name}": setting}
    return flat


def differences(*configs: Mapping) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
    """Settings in which configs differ, with all values (None if a config lacks one), and those that are equal."""
    flat_configs = [
        {name: value for name, value in flatten(config).items() if name not in NO_SETTINGS} for config in configs
    ]
    names = dict.fromkeys(name for settings in flat_configs for name in settings)
    values = {name: tuple(settings.get(name) for settings in flat_configs) for name in names}
    differ = {
        name: alternatives
        for name, alternatives in values.items()
        if any(setting != alternatives[0] for setting in alternatives)
    }
    return differ, {name: alternatives[0] for name, alternatives in values.items() if name not in differ}
