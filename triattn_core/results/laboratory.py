"""What laboratory models reached: all seeds of each, and the sizes that its task was swept over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from triattn_core.checkpoint.registry import Card
from triattn_core.results.run_records import Record, read_records, records_folder

FILES = "laboratory*.jsonl"
SIZE = "data.size"
COLUMNS = ["model", "mechanism", "size", "seed", "measure", "value", "floor"]
FLOORS = {"accuracy": "chance", "mass": "even_share"}


def laboratory_records() -> tuple[Record, ...]:
    """The runs of sweeps over laboratory models."""
    return tuple(record for file in sorted(records_folder().glob(FILES)) for record in read_records(file)[0])


def seed_tests(card: Card, records: Sequence[Record]) -> dict[int, Mapping]:
    """By seed what the model reached on test: the checkpoint's own seeds, and those of sweeps that changed nothing."""
    swept = [record.card for record in records if not record.changed and _same_model(record.card, card)]
    return dict(sorted(item for one in (*swept, card) for item in _tests(one).items()))


def size_rows(cards: Mapping[str, tuple[str, Card]], own: int, records: Sequence[Record]) -> pd.DataFrame:
    """Rows `COLUMNS` of the models that were trained at several sizes; none where there is no such.

    cards: name → (mechanism, checkpoint); own: the size of their task.
    """
    rows = []
    for name, (mechanism, card) in cards.items():
        sizes = {
            record.changed[SIZE]: _tests(record.card)
            for record in records
            if set(record.changed) == {SIZE} and _same_model(record.card, card)
        }
        if sizes:
            sizes[own] = seed_tests(card, records)
        for size, tests in sorted(sizes.items()):
            rows += [
                [name, mechanism, size, seed, measure, test[measure], test[floor]]
                for seed, test in tests.items()
                for measure, floor in FLOORS.items()
            ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _same_model(one: Card, other: Card) -> bool:
    """Whether a sweep's run is of a checkpoint as it is now: other settings are another model's."""
    same = (one.config.get(part) == other.config.get(part) for part in ("task", "model"))
    return one.name == other.name and all(same)


def _tests(card: Card) -> dict[int, Mapping]:
    each = card.metrics.get("each_seed") or ()
    return {seed["seed"]: seed["test"] for seed in each if isinstance(seed.get("test"), Mapping)}
