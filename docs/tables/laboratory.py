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

RATE = "training.rate"
RATES = (("false-friends", None), ("false-friends", 640_000), ("planted-sum", None))  # tables
TWO_WAY = {"bi_joint": "two-way, {layers} layer", "cbi": "C-Bi, {layers} layer"}


def name(card: Entry) -> str:
    """What a model is called in the tables."""
    layers, mechanism, similarity = (metadata.model_setting(card, key) for key in ("layers", "mechanism", "similarity"))
    called = TWO_WAY.get(mechanism, f"Tri, {similarity.replace('_', ' ')}").format(layers=layers)
    return called + "s" * (layers != "1")


def seeds_text(values: Sequence[float]) -> str:
    """The values of all seeds, in their order."""
    return ", ".join(f"{value:.1f}".replace("100.0", "100") for value in values)


def models() -> list[Entry]:
    """All models of the laboratory, by task."""
    order = list(LABORATORY)
    return sorted(laboratory_checkpoints(), key=lambda card: (order.index(card.config["task"]), card.name))


def accuracy_table() -> Iterator[str]:
    """A row a model: its steps, and by seed its accuracy and, of Tri-Attention, the weight on the true cells."""
    numbers = "Parameters | Steps | Accuracy by seed, % | Weight on the true cells, % | of even weights"
    yield f"| Task (chance) | Model | {numbers} |"
    yield "|---|---|---:|---:|---|---|---:|"
    records = laboratory_records()
    for card in models():
        tests = list(seed_tests(card, records).values())
        task, first = LABORATORY[card.config["task"]], tests[0]
        facts = f"{card.metrics['parameters']:,} | {training_steps(card.config):,}"
        weight = ["", ""]
        if metadata.model_setting(card, "mechanism") == "tri":
            weight = [seeds_text([test["mass"] for test in tests]), f"{first['even_share']:.1f}"]
        accuracy = seeds_text([test["accuracy"] for test in tests])
        label = f"{task.LABEL} ({first['chance']:.1f} %)"
        yield f"| {label} | {name(card)} | {facts} | {accuracy} | {' | '.join(weight)} |"


def steps_table() -> Iterator[str]:
    """A row a model that was trained for longer: accuracy by seed at each number of steps, as many times its own."""
    records, cards = laboratory_records(), models()
    runs = {card.name: _runs(card, records) for card in cards}
    times = sorted({time for of in runs.values() for time in of})
    yield "| Task | Model | Steps | " + " | ".join(f"× {time:g}" for time in times) + " |"
    yield "|---|---|---:|" + "---|" * len(times)
    for card in cards:
        if of := runs[card.name]:
            of |= {1.0: seed_tests(card, records)}
            by_seed = [dict(sorted(of.get(time, {}).items())).values() for time in times]
            cells = [seeds_text([test["accuracy"] for test in tests]) for tests in by_seed]
            task = LABORATORY[card.config["task"]].LABEL
            yield f"| {task} | {name(card)} | {training_steps(card.config):,} | {' | '.join(cells)} |"


def rates_table(task: str, rows: int | None = None) -> Iterator[str]:
    """A row a model of the task that was trained at several rates: the accuracy of the first seed at each.

    rows: of training, where they are not the model's own, and the accuracy is that of test; otherwise it is dev's.
    """
    records, cards = laboratory_records(), [card for card in models() if card.config["task"] == task]
    by_card = {card.name: _rates(card, records, rows) for card in cards}
    rates = sorted({rate for of in by_card.values() for rate in of})
    yield "| Model | " + " | ".join(f"{rate:g}" for rate in rates) + " |"
    yield "|---|" + "---:|" * len(rates)
    for card in cards:
        if len(of := by_card[card.name]) > 1:
            cells = [seeds_text([of[rate]]) if rate in of else "" for rate in rates]
            yield f"| {name(card)} | {' | '.join(cells)} |"


def _rates(card: Entry, records: Sequence[Record], rows: int | None) -> dict[float, float]:
    """The accuracy of a model's first seed by learning rate."""
    split, own, accuracy = "dev" if rows is None else "test", card.config["data"]["train_rows"], {}
    for record in records:
        of, training = record.card.config["data"].get("train_rows"), record.card.config["training"]
        same = record.card.name == card.name and set(record.changed) <= {RATE, ROWS} and of == (rows or own)
        if same and (seed := record.card.metrics["each_seed"][0]).get(split):
            accuracy.setdefault(training["rate"], seed[split]["accuracy"])
    return accuracy


def _runs(card: Entry, records: Sequence[Record]) -> dict[float, Mapping]:
    """By how many times the steps of a model, the tests of its runs; 1.0 stands for its own where there are others."""
    runs: dict[float, dict] = {}
    for record in records:
        if record.card.name == card.name and set(record.changed) == {ROWS}:
            time = round(training_steps(record.card.config) / training_steps(card.config), 2)
            each = record.card.metrics["each_seed"]
            runs.setdefault(time, {}).update({one["seed"]: one["test"] for one in each})
    return runs | ({1.0: {}} if runs else {})


if __name__ == "__main__":
    print(*accuracy_table(), "", *steps_table(), sep="\n")
    for task, rows in RATES:
        print("", f"{task}, {rows or 'its own'} rows:", *rates_table(task, rows), sep="\n")
