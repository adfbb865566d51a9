"""The laboratory's tables in docs/results.md, made from the records: `python -m docs.tables.laboratory`.

A test holds them against the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry, laboratory_checkpoints
from triattn_core.results.laboratory import ROWS, laboratory_records, seed_tests, training_steps
from triattn_core.results.run_records import Record
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up, per_cent

RATE = "training.rate"
SIMILARITY = "model.similarity"
STRASSEN = {SIMILARITY: "strassen"}  # the control without third-order scores
RATES = (("false-friends", None), ("false-friends", 640_000), ("planted-sum", None))  # tables
TWO_WAY = {"bi_joint": "two-way, {layers} layer", "cbi": "C-Bi, {layers} layer"}
TRIANGLE = {"triangle": "triangle, {layers} layer"}


def name(entry: Entry) -> str:
    """What a model is called in the tables."""
    layers, mechanism, similarity = (
        metadata.model_setting(entry, key) for key in ("layers", "mechanism", "similarity")
    )
    called = (TWO_WAY | TRIANGLE).get(mechanism, f"Tri, {metadata.similarity_label(similarity)}").format(layers=layers)
    return called + "s" * (layers != "1")


def seeds_text(values: Sequence[float]) -> str:
    """The values of all seeds, in their order."""
    return ", ".join(per_cent(value) for value in values)


def models() -> list[Entry]:
    """All models of the laboratory, by task."""
    order = list(LABORATORY)
    return sorted(laboratory_checkpoints(), key=lambda entry: (order.index(entry.config["task"]), entry.name))


def accuracy_table() -> Iterator[str]:
    """A row a model: its steps, and by seed its accuracy and, of Tri-Attention, the weight on the true cells."""
    numbers = "Parameters | Steps | Accuracy by seed, % | Weight on the true cells, % | of even weights"
    yield f"| Task (chance) | Model | {numbers} |"
    yield "|---|---|---:|---:|---|---|---:|"
    records = laboratory_records()
    shipped = {_form(entry) for entry in models()}
    for entry in models():
        yield _accuracy_row(entry, list(seed_tests(entry, records).values()))
        for record in records:
            only_score = set(record.changed) == {SIMILARITY} and record.entry.name == entry.name
            if only_score and _form(record.entry) not in shipped:
                each = record.entry.metrics["each_seed"]
                yield _accuracy_row(record.entry, [seed["test"] for seed in each])


def _form(entry: Entry) -> tuple:
    """Task, mechanism, similarity and layers."""
    model = entry.config["model"]
    return entry.config["task"], model["mechanism"], model["similarity"], model["layers"]


def _accuracy_row(entry: Entry, tests: Sequence[Mapping]) -> str:
    task, first = LABORATORY[entry.config["task"]], tests[0]
    facts = f"{entry.metrics['parameters']:,} | {training_steps(entry.config):,}"
    weight = ["", ""]
    if metadata.model_setting(entry, "mechanism") == "tri":
        weight = [seeds_text([test["mass"] for test in tests]), half_up(first["even_share"], 1)]
    accuracy = seeds_text([test["accuracy"] for test in tests])
    label = f"{task.LABEL} ({half_up(first['chance'], 1)} %)"
    return f"| {label} | {name(entry)} | {facts} | {accuracy} | {' | '.join(weight)} |"


def steps_table() -> Iterator[str]:
    """A row a model that was trained for longer: accuracy by seed at each number of steps, as many times its own."""
    records, entries = laboratory_records(), models()
    runs = {entry.name: _runs(entry, records) for entry in entries}
    times = sorted({time for of in runs.values() for time in of})
    yield "| Task | Model | Steps | " + " | ".join(f"× {time:g}" for time in times) + " |"
    yield "|---|---|---:|" + "---|" * len(times)
    for entry in entries:
        if of := runs[entry.name]:
            of |= {1.0: seed_tests(entry, records)}
            by_seed = [dict(sorted(of.get(time, {}).items())).values() for time in times]
            cells = [seeds_text([test["accuracy"] for test in tests]) for tests in by_seed]
            task = LABORATORY[entry.config["task"]].LABEL
            yield f"| {task} | {name(entry)} | {training_steps(entry.config):,} | {' | '.join(cells)} |"


def rates_table(task: str, rows: int | None = None) -> Iterator[str]:
    """A row a model of the task that was trained at several rates: the accuracy of the first seed at each.

    rows: of training, where they are not the model's own, and the accuracy is that of test; otherwise it is dev's.
    """
    records, entries = laboratory_records(), [entry for entry in models() if entry.config["task"] == task]
    by_card = {entry.name: _rates(entry, records, rows) for entry in entries}
    rates = sorted({rate for of in by_card.values() for rate in of})
    yield "| Model | " + " | ".join(f"{rate:g}" for rate in rates) + " |"
    yield "|---|" + "---:|" * len(rates)
    for entry in entries:
        if len(of := by_card[entry.name]) > 1:
            cells = [seeds_text([of[rate]]) if rate in of else "" for rate in rates]
            yield f"| {name(entry)} | {' | '.join(cells)} |"


def _rates(entry: Entry, records: Sequence[Record], rows: int | None) -> dict[float, float]:
    """The accuracy of a model's first seed by learning rate."""
    split, own, accuracy = "dev" if rows is None else "test", entry.config["data"]["train_rows"], {}
    for record in records:
        of, training = record.entry.config["data"].get("train_rows"), record.entry.config["training"]
        same = record.entry.name == entry.name and set(record.changed) <= {RATE, ROWS} and of == (rows or own)
        if same and (seed := record.entry.metrics["each_seed"][0]).get(split):
            accuracy.setdefault(training["rate"], seed[split]["accuracy"])
    return accuracy


def _runs(entry: Entry, records: Sequence[Record]) -> dict[float, Mapping]:
    """By how many times the steps of a model, the tests of its runs; 1.0 stands for its own where there are others."""
    runs: dict[float, dict] = {}
    for record in records:
        if record.entry.name == entry.name and set(record.changed) == {ROWS}:
            time = round(training_steps(record.entry.config) / training_steps(entry.config), 2)
            each = record.entry.metrics["each_seed"]
            runs.setdefault(time, {}).update({one["seed"]: one["test"] for one in each})
    return runs | ({1.0: {}} if runs else {})


if __name__ == "__main__":
    print(*accuracy_table(), "", *steps_table(), sep="\n")
    for task, rows in RATES:
        print("", f"{task}, {rows or 'its own'} rows:", *rates_table(task, rows), sep="\n")
