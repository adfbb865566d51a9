"""Results measured here: the records of listed checkpoints, and of runs that were not shipped.

A run that is not shipped is a line of `<file>.jsonl` in the folder of records: `records/` beside this file for the
project's checkpoints, `results/` in any other root.  An installed package writes to `results/` of the working folder.

A line is a JSON object: `name`, `date`, `machine`, `command`, `config` (with the digest of its encoder), `digest` (of
the config, without seeds), `set` (what a sweep changed), `parameters`, `voters` for a majority vote, and `each_seed`:
[{"seed", "seconds", "best_step", "dev": {"set", metrics …, "n"}, "test": …}], with "curve" of kinds that keep
it.  `triattn train` of a listed checkpoint, or outside of the first root, writes no line: its metrics.json is its
record, in whichever root its folder is listed.
Lines of one file and digest are one record: a later one adds its seeds, or replaces them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from triattn_core.cached import cached_property
from triattn_core.checkpoint import metadata, registry
from triattn_core.checkpoint.old_names import current_changes, current_config
from triattn_core.checkpoint.registry import Entry, list_checkpoints, root
from triattn_core.errors import DataError
from triattn_core.text.rows import each_line

SHIPPED = Path(__file__).parent / "records"  # like `results/` of a root: runs, papers/ and cases/
RUN = ("date", "machine", "command", "parameters", "folds", "voters")  # keys of a line that hold for all its seeds
TRAINED = "trained"  # the file of runs by `triattn train` in folders of the project that are not listed
# Keys that do not distinguish variants: seeds, digests, and the test set.
UNSEEDED = {"digest": True, "encoder_digest": True, "data": {"test"}, "training": {"seed", "more_seeds"}}
# Settings that no paper has, as published forms have them: the living form of TAN, and how COIN begins and learns.
PUBLISHED_FORM = {"states": None, "initial_std": [None, 0.1], "gate_bias": [None, 0.0], "block_rate": [None, 1.0],
                  "block_loss": [None, 0.0]}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """A run, or several that differ only in the seed; `entry`: for an unshipped run, its `path` is the records file.

    file: "" for a listed checkpoint.  changed: the settings that a sweep changed.
    """

    entry: Entry
    file: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the config by dotted name and by its last part; `data`, the folder of its data set; and `voters`,
        the number in a majority vote."""
        flat = metadata.flatten(self.entry.config)
        short = {name.rpartition(".")[2]: setting for name, setting in flat.items()}
        voters = {"voters": self.entry.metrics["voters"]} if self.entry.metrics.get("voters") else {}
        return short | flat | voters | {"data": metadata.data_folder(self.entry)}

    @property
    def folds(self) -> tuple[float, ...]:
        """The score of each fold, for a set without a split; empty otherwise."""
        scores = _part(self.entry.metrics.get("folds"), "each")
        values = [value for value in scores if isinstance(value, int | float)] if isinstance(scores, list) else []
        return tuple(map(float, values)) if len(values) > 1 else ()

    @property
    def unit(self) -> str:
        """The unit of its numbers: "seed" or "fold"; or which fold, if only one was measured."""
        config = metadata.flatten(self.entry.config)
        if config.get("data.folds") and not self.folds:
            return f"fold {config.get('data.fold')} of {config['data.folds']}, alone"
        return "fold" if self.folds else "seed"

    @property
    def runs(self) -> int:
        """The number of seeds or folds, at least one."""
        lists = (self.entry.metrics.get(name) for name in ("each_seed", "seeds"))
        return max(1, len(self.folds), *(len(values) for values in lists if isinstance(values, list)))

    def values(self, split: str, metric: str) -> tuple[float, ...]:
        """The metric of each measured seed or fold, in per cent.

        split "run": a number of the run itself, such as its `parameters`.
        """
        metrics = self.entry.metrics
        if split == "run":
            return tuple(number for number in (_number(metrics, metric),) if number is not None)
        if self.folds and metrics["folds"].get("of") == split and metrics["folds"].get("metric") == metric:
            return self.folds
        seed_metrics = metrics.get("each_seed")
        numbers = (
            [_number(_part(seed, split), metric) for seed in seed_metrics] if isinstance(seed_metrics, list) else []
        )
        if not any(number is not None for number in numbers) and metric == metadata.main_metric(self.entry):
            seeds = metrics.get("seeds")
            numbers = [_number(seed, split) for seed in seeds] if isinstance(seeds, list) else []
        numbers = [number for number in numbers if number is not None] or [_number(_part(metrics, split), metric)]
        return tuple(number for number in numbers if number is not None)

    def measured_on(self, split: str) -> str:
        """The data set of the split, as named in its metrics."""
        return str(_part(_part(self.entry.metrics, split), "set") or "")

    def rows(self, split: str) -> int | None:
        """The number of measured rows of the split, or None."""
        count = _number(_part(self.entry.metrics, split), "n")
        return None if count is None else int(count)


def _part(metrics: object, name: str) -> object:
    return metrics.get(name) if isinstance(metrics, Mapping) else None


def _number(metrics: object, name: str) -> float | None:
    number = _part(metrics, name)
    return float(number) if isinstance(number, int | float) and not isinstance(number, bool) else None


def records_folder() -> Path:
    """The folder of records: the package's for the project's checkpoints, else `results/` in the first root."""
    return SHIPPED if root() == registry.SHIPPED else root() / "results"


def new_records_folder() -> Path:
    """The folder that new records go to: that of records, but `results/` of the working folder if the package is
    installed without the project's checkpoints, since its own folder is not the user's."""
    if records_folder() != SHIPPED or registry.SHIPPED.is_dir():
        return records_folder()
    return Path("results").resolve()


def describe_new_records() -> str:
    """A line that says where new records go, if that is not among the records that were read; else empty."""
    folder = new_records_folder()
    return "" if folder == records_folder() else f"Records are written to {folder}, not into the installed package."


def record_files(pattern: str = "*.jsonl") -> list[Path]:
    """The files of records, those of an installed package before those that it wrote."""
    folders = dict.fromkeys((records_folder(), new_records_folder()))
    return [file for folder in folders for file in sorted(folder.glob(pattern))]


def config_variant(config: Any) -> str:
    """16 hexadecimal digits of a config (`config.Config`) without its seeds; nor its defaults, so that a setting that
    is added later leaves older records recognised."""
    settings = config.model_dump(mode="json", exclude=UNSEEDED, exclude_defaults=True)
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()


def append_record(file: Path, record: Mapping) -> None:
    """Append a line.  An incomplete last line of an interrupted run is removed first."""
    file.parent.mkdir(parents=True, exist_ok=True)
    complete, _, incomplete = (file.read_bytes() if file.is_file() else b"").rpartition(b"\n")
    start = ""
    if incomplete:
        try:
            json.loads(incomplete)
            start = "\n"  # complete except for the newline: the file was edited
        except ValueError:
            os.truncate(file, len(complete) + 1 if complete else 0)
    with open(file, "a", encoding="utf-8") as stream:
        stream.write(start + json.dumps(record, ensure_ascii=False) + "\n")


def read_records(file: Path) -> tuple[list[Record], list[str]]:
    """The records of a file, and the errors of invalid lines, with file and line.

    An incomplete last line is ignored: it will be measured again.
    """
    if not file.is_file():
        return [], []
    stat = file.stat()
    records, problems = _read_records(file, stat.st_mtime_ns, stat.st_size)
    return list(records), list(problems)


@lru_cache(maxsize=256)
def _read_records(file: Path, changed: int, size: int) -> tuple[list[Record], list[str]]:
    by_digest: dict[str, dict] = {}
    problems = []
    with open(file, "rb") as stream:
        for number, row in each_line(stream, str(file)):
            if isinstance(row, DataError):
                problems.append(str(row))
                continue
            seeds = row.get("each_seed")
            if not isinstance(seeds, list) or not isinstance(row.get("config"), dict):
                problems.append(f"{file}:{number}: a record has the object config and the list each_seed")
                continue
            record = by_digest.setdefault(str(row.get("digest") or number), {"seeds": {}})
            command = {"command": row.get("command")}
            record["seeds"] |= {seed.get("seed"): command | seed for seed in seeds if isinstance(seed, dict)}
            record["row"] = row
    incomplete = problems and not file.read_bytes().endswith(b"\n") and f":{_count(file)}:" in problems[-1]
    records = [_record(file, record["row"], list(record["seeds"].values())) for record in by_digest.values()]
    return records, problems[:-1] if incomplete else problems


def _count(file: Path) -> int:
    return file.read_bytes().count(b"\n") + 1


def _record(file: Path, row: dict, seeds: Sequence[Mapping]) -> Record:
    first_seed = seeds[0] if seeds else {}
    metrics = {**{name: row.get(name) for name in RUN}, **first_seed}
    changed = current_changes(row.get("set"))
    all_metrics = {**metrics, "each_seed": seeds}
    entry = Entry(
        str(row.get("name") or file.stem),
        file,
        current_config(row["config"]),
        all_metrics,
        str(row.get("digest") or ""),
        0,
    )
    return Record(entry, file.stem, changed if isinstance(changed, dict) else {})


def all_records() -> tuple[list[Record], list[str]]:
    """All records, those of listed checkpoints first, and one line for each file that cannot be read."""
    records, problems = [], []
    for entry in list_checkpoints():
        problems += [entry.problem] if entry.problem and not entry.metrics else []
        records += [Record(entry)] if entry.metrics else []
    for file in record_files():
        file_records, file_problems = read_records(file)
        records, problems = records + file_records, problems + file_problems
    return records, problems


def matching_records(records: Sequence[Record], settings: Mapping[str, Any]) -> list[Record]:
    """The records with the settings that `ours` of a table names; see `paper_schema`.  A form that no paper has
    matches only tables that name its settings."""
    settings = {**PUBLISHED_FORM, **settings}
    pattern = settings.pop("records", None)

    def in_files(record: Record) -> bool:
        return record.file in ("", TRAINED) if pattern is None else fnmatchcase(record.file, pattern)

    return [record for record in records if in_files(record) and has_settings(record, settings)]


def has_settings(record: Record, expected_settings: Mapping[str, Any]) -> bool:
    """Whether a record has these settings."""
    return all(
        record.settings.get(name) in (expected if isinstance(expected, list) else [expected])
        for name, expected in expected_settings.items()
    )
