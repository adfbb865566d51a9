"""What was measured here: the records of the shelf's checkpoints, and of runs that were not shipped.

A run that is not shipped is a line of `checkpoints/results/<file>.jsonl`, a JSON object: `name`, `date`, `machine`,
`command`, `config` (with the digest of its encoder), `digest` (of the config, without seeds), `set` (what a sweep
changed), `parameters`, of a majority vote `voters`,
and `each_seed`: [{"seed", "seconds", "best_step", "dev": {"set", metrics …, "n"}, "test": …}].  What `triattn train`
made outside of `checkpoints/` leaves no line: its metrics.json is its record, wherever its folder is put on the shelf.
Lines of one file and digest are one record: a later one adds its seeds, or measures them anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Card, list_checkpoints, root
from triattn_core.errors import DataError
from triattn_core.text.rows import each_line

RUN = ("date", "machine", "command", "parameters", "folds", "voters")  # of a line: what is of all its seeds
TRAINED = "trained"  # the file of runs by `triattn train` in folders of the project's that are not on the shelf
# What tells no variant from another: seeds, digests, and on what it is measured at the end.
UNSEEDED = {"digest": True, "encoder_digest": True, "data": {"test"}, "training": {"seed", "more_seeds"}}


@dataclass(frozen=True)
class Record:
    """A run, or some that differ in the seed alone: its card (for an unshipped run its `path` is the file).

    `file` is "" for a checkpoint of the shelf; `changed`: the settings that a sweep changed.
    """

    card: Card
    file: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the config by dotted name, by the last part of it; `data`, the folder of its data set; and how
        many `voters` a majority vote had."""
        flat = metadata.flatten(self.card.config)
        short = {name.rpartition(".")[2]: setting for name, setting in flat.items()}
        voters = {"voters": self.card.metrics["voters"]} if self.card.metrics.get("voters") else {}
        return short | flat | voters | {"data": metadata.data_folder(self.card)}

    @property
    def folds(self) -> tuple[float, ...]:
        """What each fold reached, where a set without a split was measured by its folds."""
        each = _part(self.card.metrics.get("folds"), "each")
        values = [value for value in each if isinstance(value, int | float)] if isinstance(each, list) else []
        return tuple(map(float, values)) if len(values) > 1 else ()

    @property
    def each(self) -> str:
        """What its numbers are of, in the singular; where one fold of several was measured alone, which."""
        config = metadata.flatten(self.card.config)
        if config.get("data.folds") and not self.folds:
            return f"fold {config.get('data.fold')} of {config['data.folds']}, alone"
        return "fold" if self.folds else "seed"

    @property
    def runs(self) -> int:
        """How many seeds it has, at least one."""
        lists = (self.card.metrics.get(name) for name in ("each_seed", "seeds"))
        return max(1, len(self.folds), *(len(values) for values in lists if isinstance(values, list)))

    def values(self, split: str, metric: str) -> tuple[float, ...]:
        """The metric of each seed, or fold, that was measured, in per cent; what the records lack is left out.

        split "run": a number of the run itself, such as its `parameters`.
        """
        metrics = self.card.metrics
        if split == "run":
            return tuple(number for number in (_number(metrics, metric),) if number is not None)
        if self.folds and metrics["folds"].get("of") == split and metrics["folds"].get("metric") == metric:
            return self.folds
        each = metrics.get("each_seed")
        numbers = [_number(_part(seed, split), metric) for seed in each] if isinstance(each, list) else []
        if not any(number is not None for number in numbers) and metric == metadata.main_metric(self.card):
            seeds = metrics.get("seeds")
            numbers = [_number(seed, split) for seed in seeds] if isinstance(seeds, list) else []
        numbers = [number for number in numbers if number is not None] or [_number(_part(metrics, split), metric)]
        return tuple(number for number in numbers if number is not None)

    def measured_on(self, split: str) -> str:
        """The data set that the split's rows are of, as its metrics call it."""
        return str(_part(_part(self.card.metrics, split), "set") or "")

    def rows(self, split: str) -> int | None:
        """How many rows of the split were measured."""
        count = _number(_part(self.card.metrics, split), "n")
        return None if count is None else int(count)


def _part(metrics: object, name: str) -> object:
    return metrics.get(name) if isinstance(metrics, Mapping) else None


def _number(metrics: object, name: str) -> float | None:
    number = _part(metrics, name)
    return float(number) if isinstance(number, int | float) and not isinstance(number, bool) else None


def records_folder() -> Path:
    """Where the records of runs that are not shipped stand."""
    return root() / "results"


def config_variant(config: Any) -> str:
    """What tells a config from others, whatever its seeds: 16 hexadecimal digits.  config: a `config.Config`."""
    settings = config.model_dump(mode="json", exclude=UNSEEDED)
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()


def append_record(file: Path, record: Mapping) -> None:
    """One more line.  A line that an interrupted run left half is taken away first."""
    file.parent.mkdir(parents=True, exist_ok=True)
    before, _, last = (file.read_bytes() if file.is_file() else b"").rpartition(b"\n")
    start = ""
    if last:
        try:
            json.loads(last)
            start = "\n"  # whole, but for its end: somebody has edited the file
        except ValueError:
            os.truncate(file, len(before) + 1 if before else 0)
    with open(file, "a", encoding="utf-8") as out:
        out.write(start + json.dumps(record, ensure_ascii=False) + "\n")


def read_records(file: Path) -> tuple[list[Record], list[str]]:
    """The records of a file, and what is wrong with lines that are none, with file and line.

    A last line that was never finished is left out without a word: it is measured again.
    """
    if not file.is_file():
        return [], []
    records: dict[str, dict] = {}
    problems = []
    with open(file, "rb") as opened:
        for number, row in each_line(opened, str(file)):
            each = row.get("each_seed") if isinstance(row, dict) else None
            if not isinstance(each, list) or not isinstance(row.get("config"), dict):
                said = row if isinstance(row, DataError) else "a record has the object config and the list each_seed"
                problems.append(str(said) if isinstance(said, DataError) else f"{file}:{number}: {said}")
                continue
            record = records.setdefault(str(row.get("digest") or number), {"seeds": {}})
            record["seeds"] |= {seed.get("seed"): seed for seed in each if isinstance(seed, dict)}
            record["row"] = row
    torn = problems and not file.read_bytes().endswith(b"\n") and f":{_count(file)}:" in problems[-1]
    records_ = [_record(file, record["row"], list(record["seeds"].values())) for record in records.values()]
    return records_, problems[:-1] if torn else problems


def _count(file: Path) -> int:
    return file.read_bytes().count(b"\n") + 1


def _record(file: Path, row: dict, seeds: Sequence[Mapping]) -> Record:
    first = seeds[0] if seeds else {}
    metrics = {**{name: row.get(name) for name in RUN}, **first}
    changed = row.get("set")
    all_metrics = {**metrics, "each_seed": seeds}
    card = Card(str(row.get("name") or file.stem), file, row["config"], all_metrics, str(row.get("digest") or ""), 0)
    return Record(card, file.stem, changed if isinstance(changed, dict) else {})


def all_records() -> tuple[list[Record], list[str]]:
    """All records, the shelf's first, and one line for each file that cannot be read."""
    records, problems = [], []
    for card in list_checkpoints():
        problems += [card.problem] if card.problem and not card.metrics else []
        records += [Record(card)] if card.metrics else []
    for file in sorted(records_folder().glob("*.jsonl")):
        read, wrong = read_records(file)
        records, problems = records + read, problems + wrong
    return records, problems


def matching_records(all_: Sequence[Record], wanted: Mapping[str, Any]) -> list[Record]:
    """The records whose settings are as `ours` of a table says; see `published`.

    The living form of TAN is no system of a paper: it belongs to tables that ask for its `states` alone.
    """
    wanted = {"states": None, **wanted}
    file = wanted.pop("records", None)
    candidates = [
        record for record in all_ if (record.file in ("", TRAINED) if file is None else fnmatchcase(record.file, file))
    ]
    return [record for record in candidates if has_settings(record, wanted)]


def has_settings(record: Record, wanted: Mapping[str, Any]) -> bool:
    """Whether the record's settings are these."""
    settings = record.settings
    return all(
        settings.get(name) in (expected if isinstance(expected, list) else [expected])
        for name, expected in wanted.items()
    )
