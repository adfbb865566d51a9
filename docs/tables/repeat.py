"""Trains and measures a row of the tables of docs/results.md again, and prints it beside what the page says.

`python -m docs.tables.repeat` lists the rows, with the command of each; `python -m docs.tables.repeat ROW --data DATA`
runs it: the committed config with the row's settings, all its seeds, measured on test. DATA holds the data sets, for
rows of GSM8K its owners' own files as `gsm8k_operands/train.jsonl` and `gsm8k_operands/test.jsonl`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triattn_core.__main__ import main as triattn
from triattn_core.checkpoint import metadata, registry
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import DataError, TriattnError
from triattn_core.results.operand_runs import READ, form, runs
from triattn_core.results.run_records import read_records, record_files
from triattn_core.results.where_it_pays import NATURAL, STORY_FORMS, stories, story_form
from triattn_core.views.lib.number_format import half_up

STORIES = "CLUTRR: "


@dataclass(frozen=True)
class Row:
    """A row of a table: its name, and what was reached; metric: that of its table."""

    name: str
    entry: Entry
    metric: str

    @property
    def seeds(self) -> dict[int, float]:
        """What the page says of each seed, in per cent."""
        each = self.entry.metrics["each_seed"]
        return {seed["seed"]: seed["test"][self.metric] for seed in sorted(each, key=lambda seed: seed["seed"])}

    def arguments(self, data: str, further: Sequence[str] = ()) -> list[str]:
        """Of `triattn`: a sweep of the committed config with the row's settings and seeds."""
        again = re.sub(r"[^a-z0-9]+", "-", " ".join((self.name, *further)).lower()).strip("-")
        return [*arguments_of(self.entry, further, again), "--data", data]


def arguments_of(entry: Entry, further: Sequence[str] = (), again: str = "again") -> list[str]:
    """Of `triattn`: a sweep with the settings and seeds of a run, whose records go to another file."""
    parts = shlex.split(entry.metrics["command"])
    configs = [part for part in parts if part.endswith("config.json")]
    config = next((path for path in configs if Path(path).parent.name == entry.name), configs[0])
    names = [value.partition("=")[0] for option, value in zip(parts, parts[1:]) if option == "--set"]
    flat = metadata.flatten(entry.config)
    settings = [f"{name}={flat[name]}" for name in names]
    chosen = [part for setting in (*settings, *further) for part in ("--set", setting)]
    seeds = ",".join(str(seed) for seed in sorted(seed["seed"] for seed in entry.metrics["each_seed"]))
    return ["sweep", config, *chosen, "--seeds", seeds, "--test", "--name", again]


def rows() -> Iterator[Row]:
    """The rows that are trained: pairs of numbers, family stories, and pairwise scores on natural text."""
    for entry in runs():
        yield Row(form(entry.config) + _training_loss(entry), entry, "right_pair")
    for entry in stories():
        yield Row(STORIES + STORY_FORMS[story_form(entry)], entry, "accuracy")
    for name in NATURAL:
        for file in record_files(f"{name}-strassen.jsonl"):
            for record in read_records(file)[0]:
                yield Row(f"{name}, pairwise scores", record.entry, metadata.main_metric(record.entry))


def _training_loss(entry: Entry) -> str:
    training = entry.config["training"]
    if training["told"] == "pair":
        return ""
    if training["told"] == "arithmetic":
        return ", told what fits"
    pointed = training.get("pointed", 0.0)
    first = f", told the pair for {100 * pointed:.0f} %" if pointed else ""
    return f", told the operation, {READ[entry.config['model']['operation']]}{first}"


def find(name: str) -> Row:
    """Raises DataError that lists the rows."""
    found = {row.name: row for row in rows()}
    if name not in found:
        raise DataError(f"no row {name!r}; one of: {'; '.join(found)}")
    return found[name]


def repeat(row: Row, data: Path, folder: Path, further: Sequence[str] = ()) -> Iterator[str]:
    """Trains and measures a row into `folder`; yields a line a seed, what the page says beside what is reached now."""
    arguments = [*row.arguments(str(data), further), "--runs", str(folder / "runs"), "--resume"]
    records = folder / "results" / f"{arguments[arguments.index('--name') + 1]}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    roots = os.pathsep.join([str(folder.resolve()), *map(str, registry.roots())])
    before = os.environ.get(registry.VARIABLE)
    os.environ[registry.VARIABLE] = roots
    try:
        if status := triattn(arguments):
            raise DataError(f"triattn {shlex.join(arguments)} failed with {status}")
    finally:
        os.environ.pop(registry.VARIABLE) if before is None else os.environ.update({registry.VARIABLE: before})
    (record,) = read_records(records)[0]
    reached = {seed["seed"]: seed["test"][row.metric] for seed in record.entry.metrics["each_seed"]}
    for seed, printed in row.seeds.items():
        yield f"seed {seed}: {half_up(printed, 1)} % in the table, {half_up(reached[seed], 1)} % here"


def run(arguments: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m docs.tables.repeat", description=str(__doc__))
    parser.add_argument("row", nargs="?", metavar="ROW", help="name of a row (default: list them)")
    parser.add_argument("--data", type=Path, metavar="DATA", help="folder of data sets")
    parser.add_argument("--out", type=Path, default=Path("repeated"), metavar="FOLDER", help="for runs and records")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting to change besides")
    options = parser.parse_args(arguments)
    try:
        if options.row is None or options.data is None:
            for row in [find(options.row)] if options.row else rows():
                print(row.name, f"    triattn {shlex.join(row.arguments('DATA'))}", sep="\n")
            return 0
        for line in repeat(find(options.row), options.data, options.out, options.set):
            print(line)
    except TriattnError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
