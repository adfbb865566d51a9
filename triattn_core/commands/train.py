"""`triattn train` and `triattn sweep`: print events as they occur."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triattn_core.training.loop import Event


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both commands."""
    parser.add_argument(
        "config", type=Path, nargs="+", help="one or more configs; several share the encoding of their data"
    )
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets (default: data)")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where states and logs go (default: runs)")
    parser.add_argument("--resume", action="store_true", help="go on from the last complete state")


def train_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn train`, and say where its results are stored."""
    arguments(parser)
    parser.epilog = (
        "Weights, metrics.json and README.md are saved next to each config. A config in a folder of checkpoints/ that "
        "the app does not list, such as checkpoints/full-size/, also adds a line to trained.jsonl among the records; "
        "one that lies elsewhere adds none: `triattn app --checkpoints FOLDER` shows it."
    )


def sweep_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn sweep`."""
    arguments(parser)
    parser.epilog = (
        "The records are all that is left of a sweep: they go to triattn_core/results/records/ wherever its configs "
        "lie, or to results/ in the first folder that TRIATTN_CHECKPOINTS names; an installed package writes to "
        "results/ in the working folder."
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,…", help="such as model.layers=1,2,3")
    parser.add_argument("--seeds", type=_seeds, default=(), metavar="1,2,3", help="by default the config's own")
    parser.add_argument("--name", help="of the file of records, NAME.jsonl; by default of config and settings")
    parser.add_argument("--test", action="store_true", help="measure test too, once nothing is to be chosen any more")


def _seeds(text: str) -> tuple[int, ...]:
    seeds = tuple(dict.fromkeys(int(number) for number in text.split(",")))
    if min(seeds) < 0:
        raise ValueError(text)  # argparse adds the name of the option
    return seeds


def train(options: argparse.Namespace) -> None:
    """Print the events as they occur."""
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    from triattn_core.training.command import train as train_all

    _print(train_all(options.config, options.data, options.runs, options.resume, options.command), options.json)


def sweep(options: argparse.Namespace) -> None:
    """Print the events as they occur; each variant is recorded."""
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    from triattn_core.results.run_records import describe_new_records
    from triattn_core.training.sweep import sweep as sweep_all

    if line := describe_new_records():
        print(line, file=sys.stderr)

    where = (options.data, options.runs, options.resume, options.command)
    _print(sweep_all(options.config, options.set, options.seeds, options.name, options.test, *where), options.json)


def _print(events: Iterable[Event], as_json: bool) -> None:
    for event in events:
        if as_json:
            print(event.line(), flush=True)
        elif event.kind != "saved":
            print(f"{event.step}/{event.steps}  {'  '.join(_flatten(event.values))}", flush=True)


def _flatten(values: Mapping, prefix: str = "") -> Iterator[str]:
    """Yield names with numbers; names of dev and test metrics are prefixed with the split."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{name} ")
        else:
            yield f"{prefix}{name} {value}"
