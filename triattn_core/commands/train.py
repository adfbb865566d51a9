"""`triattn train` and `triattn sweep`: print events as they occur."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.commands import engine

if TYPE_CHECKING:
    from triattn_core.training.loop import Event


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both commands."""
    text = "one or more configs; several encode their data only once if they share it"
    parser.add_argument("config", type=Path, nargs="+", metavar="CONFIG", help=text)
    text = (
        "folder of data sets (default: data, or the working folder where there is no data; without the sets there, the "
        "folder that holds the checkpoint's folder)"
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=text)
    text = "folder for training states and logs (default: runs)"
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="FOLDER", help=text)
    parser.add_argument("--resume", action="store_true", help="continue from the last complete state")


def train_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn train`, and say where its results are stored."""
    arguments(parser)
    engine.arguments(parser, work=False)
    parser.epilog = (
        "Weights, metrics.json and README.md are saved next to each config. If the config is in a folder of "
        "checkpoints/ that the app does not list, such as checkpoints/full-size/, its metrics are also added to "
        "trained.jsonl among the records. To see a checkpoint trained elsewhere, run "
        "`triattn app --checkpoints FOLDER`."
    )


def sweep_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn sweep`."""
    arguments(parser)
    engine.arguments(parser, work=False)
    parser.epilog = (
        "A sweep saves only metrics, as records in triattn_core/results/records/; if TRIATTN_CHECKPOINTS is set, in "
        "results/ of the first folder it names; in an installed package, in results/ of the working folder."
    )
    text = "values of a setting to try, such as model.layers=1,2,3; may be repeated"
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,…", help=text)
    parser.add_argument(
        "--seeds", type=_seeds, default=(), metavar="N,…", help="seeds, such as 1,2,3 (default: that of the config)"
    )
    text = "name of the file of records, NAME.jsonl (default: made of config and settings)"
    parser.add_argument("--name", help=text)
    parser.add_argument("--test", action="store_true", help="also evaluate on the test set (after model selection)")


def _seeds(text: str) -> tuple[int, ...]:
    seeds = tuple(dict.fromkeys(int(number) for number in text.split(",")))
    if min(seeds) < 0:
        raise ValueError(text)  # argparse adds the name of the option
    return seeds


def repeated_by(command: str) -> str:
    """The command that a record keeps: it trains from the start, wherever its states are kept."""
    words = iter(shlex.split(command))
    kept = [word for word in words if word != "--resume" and not (word == "--runs" and next(words, ""))]
    return shlex.join(word for word in kept if not word.startswith("--runs="))


def train(options: argparse.Namespace) -> None:
    """Print the events as they occur."""
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    from triattn_core.training import command

    data = options.data or command.data_folder(options.config)
    arguments = (options.config, data, options.runs, options.resume, repeated_by(options.command))
    if engine.is_ray(options):
        from triattn_core.scale import train as on_ray

        events = on_ray.train(*arguments, engine.cluster(options))
    else:
        events = command.train(*arguments)
    _print(events, options.json)


def sweep(options: argparse.Namespace) -> None:
    """Print the events as they occur; each variant is recorded."""
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    from triattn_core.results.run_records import describe_new_records
    from triattn_core.training import command
    from triattn_core.training import sweep as sweeps

    if line := describe_new_records():
        print(line, file=sys.stderr)

    data = options.data or command.data_folder(options.config)
    request = sweeps.Request(
        tuple(options.config), tuple(options.set), options.seeds, options.name, options.test, data,
        options.runs, options.resume, repeated_by(options.command),
    )  # fmt: skip
    if engine.is_ray(options):
        from triattn_core.scale import train as on_ray

        events = on_ray.sweep(request, engine.cluster(options))
    else:
        events = sweeps.sweep(request)
    _print(events, options.json)


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
