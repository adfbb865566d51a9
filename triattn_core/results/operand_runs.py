"""What models of *which two numbers make this one?* reached: the shipped ones, and runs kept as records."""

from __future__ import annotations

from collections.abc import Mapping

from triattn_core.checkpoint.registry import Entry, operands_checkpoints
from triattn_core.results.run_records import read_records, record_files

FORMS = {  # by mechanism, similarity and layers before
    ("tri", "scaled_dot", 0): "Tri",
    ("tri", "determinant", 0): "determinant",
    ("tri", "strassen", 0): "pairwise scores",
    ("tri", "tree", 0): "tree",
    ("bi", "scaled_dot", 0): "two-way, one layer",
    ("bi", "scaled_dot", 1): "two-way, two layers",
    ("cbi", "scaled_dot", 0): "C-Bi, one layer",
    ("tri", "strassen", 1): "pairwise scores after a two-way layer",
    ("tri", "scaled_dot", 1): "Tri after a two-way layer",
}
INPUTS = {"both": "", "values": ", values alone", "words": ", words alone"}
EPOCHS = 18
READ = {"mean": "mean of all pairs", "choice": "the strongest pair", "pairs": "each pair alone"}  # by model.operation


def runs() -> list[Entry]:
    """The shipped models and the runs of which records are kept, in the order of FORMS."""
    names = ("operands.jsonl", "operands-answers.jsonl")
    records = [record.entry for name in names for file in record_files(name) for record in read_records(file)[0]]
    order = list(FORMS)
    found = [*operands_checkpoints(), *records]
    return sorted(found, key=lambda entry: (order.index(_key(entry.config)), form(entry.config)))


def form(config: Mapping) -> str:
    """What a model is called in tables."""
    longer = config["training"]["epochs"] // EPOCHS
    name = FORMS[_key(config)] + INPUTS[config["model"]["inputs"]] + _reader(config)
    return name + (f", {longer} times the steps" if longer > 1 else "")


def _reader(config: Mapping) -> str:
    """What reads the words, where their vectors are not learnt."""
    return f", words read by {encoder}" if (encoder := config.get("encoder")) else ""


def _key(config: Mapping) -> tuple[str, str, int]:
    model = config["model"]
    return model["mechanism"], model["similarity"], model["before"]
