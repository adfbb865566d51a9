"""The tables of *Which two numbers make this one?* in docs/results.md, from the records.

`python -m docs.tables.operands` prints them; a test holds them against the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triattn_core.checkpoint.registry import OPERANDS, Entry, list_checkpoints, root
from triattn_core.results.run_records import read_records, record_files
from triattn_core.views.lib.number_format import half_up

FORMS = {  # by mechanism, similarity and layers before
    ("tri", "scaled_dot", 0): "Tri",
    ("tri", "pairwise", 0): "pairwise scores",
    ("bi", "scaled_dot", 0): "two-way, one layer",
    ("bi", "scaled_dot", 1): "two-way, two layers",
    ("cbi", "scaled_dot", 0): "C-Bi, one layer",
    ("tri", "pairwise", 1): "pairwise scores after a two-way layer",
    ("tri", "scaled_dot", 1): "Tri after a two-way layer",
}
INPUTS = {"both": "", "values": ", values alone", "words": ", words alone"}
EPOCHS = 18
MEASURES = {
    "right_pair": "Right pair by seed, %",
    "fits": "makes the number, %",
    "right_one_fits": "right, one pair fits, %",
    "right_words_decide": "right, words decide, %",
    "weight": "weight on the right pairs, %",
}


def runs() -> list[Entry]:
    """The shipped models and the runs of which records are kept."""
    records = [record.entry for file in record_files("operands.jsonl") for record in read_records(file)[0]]
    return [*list_checkpoints(root() / OPERANDS), *records]


def form(config: Mapping) -> str:
    """What a model is called in the table."""
    model = config["model"]
    name = FORMS[model["mechanism"], model["similarity"], model["before"]] + INPUTS[model["inputs"]]
    longer = config["training"]["epochs"] // EPOCHS
    return name + (f", {longer} times the steps" if longer > 1 else "")


def table(told: str) -> Iterator[str]:
    """A row a model that was trained with this loss, in the order of FORMS; means over seeds but for the first."""
    yield f"| Model | Parameters | {' | '.join(MEASURES.values())} |"
    yield "|---|---:|---|" + "---:|" * (len(MEASURES) - 1)
    order = list(FORMS.values())
    chosen = [entry for entry in runs() if entry.config["training"]["told"] == told]
    for entry in sorted(chosen, key=lambda entry: (_place(entry, order), form(entry.config))):
        tests = [seed["test"] for seed in entry.metrics["each_seed"]]
        yield f"| {form(entry.config)} | {entry.metrics['parameters']:,} | {' | '.join(_cells(tests))} |"


def _place(entry: Entry, order: Sequence[str]) -> int:
    model = entry.config["model"]
    return order.index(FORMS[model["mechanism"], model["similarity"], model["before"]])


def _cells(tests: Sequence[Mapping]) -> Iterator[str]:
    first, *others = MEASURES
    yield ", ".join(half_up(test[first], 1) for test in tests)
    for name in others:
        yield half_up(sum(test[name] for test in tests) / len(tests), 1)


if __name__ == "__main__":
    for told in ("pair", "arithmetic"):
        print("\n".join(table(told)), end="\n\n")
