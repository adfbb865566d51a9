"""The command line: the same library without a browser."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

from triattn_core.commands import book, cases
from triattn_core.errors import DataError, TriattnError

if TYPE_CHECKING:
    from triattn_core.training.loop import Event


def main(arguments: list[str] | None = None) -> int:
    """Run one command; one clear line and a non-zero exit on bad input."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args(arguments)
    options.command = "triattn " + shlex.join(arguments)
    try:
        return options.run(options) or 0
    except TriattnError as error:
        print(f"triattn: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("triattn: stopped; a training run goes on with --resume", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    """Commands and their options."""
    top = argparse.ArgumentParser(prog="triattn", description="See attention with context: train, explain, verify.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str, json_too: bool = True, device: bool = True) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=text, description=text)
        found.set_defaults(run=run)
        if json_too:
            found.add_argument("--json", action="store_true", help="print JSON for machines")
        if device:
            found.add_argument("--device", help="cuda, mps or cpu; by default the first that is there")
        return found

    command("list", list_, "the checkpoints: task, mechanism, similarity, data set, metrics", device=False)
    one = command("explain", explain, "one example: the prediction, and its trace")
    one.add_argument("name", help="a checkpoint, by name or folder")
    one.add_argument("input", type=Path, help='a JSON file with one row, such as {"text_a": …, "text_b": …}')
    one.add_argument("--out", type=Path, help="where to save the trace (NetCDF)")
    one = command("evaluate", evaluate, "metrics over a file of rows")
    one.add_argument("name", nargs="+", help="checkpoints, by name or folder; several share one encoder and its pass")
    one.add_argument("data", type=Path, help="JSON Lines, plain or .gz")
    one.add_argument(
        "--apart", type=Path, nargs="+", default=[], help="leave out rows whose texts stand together in these files too"
    )
    command("seeds", seeds, "mean and spread over seeds, and whether they differ by more than noise", device=False)
    one = command("train", train, "train what a config.json or an encoder's recipe.json describes")
    one.add_argument("config", type=Path, nargs="+", help="several share the encoding of their data")
    _training(one)
    one = command("sweep", sweep, "train variants of configs; their records are kept, their weights are not")
    one.add_argument("config", type=Path, nargs="+", help="several share the encoding of their data")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,…", help="such as model.layers=1,2,3")
    one.add_argument("--seeds", type=_seeds, default=(), metavar="1,2,3", help="by default the config's own")
    one.add_argument("--name", help="of the records, checkpoints/results/NAME.jsonl; by default of config and settings")
    one.add_argument("--test", action="store_true", help="measure test too, once nothing is to be chosen any more")
    _training(one)
    command("results", results, "the papers' tables beside ours: does Tri > C-Bi > Bi hold?", device=False)
    one = command("cases", cases.run, "several checkpoints over the same rows: who is right where, stored as a table")
    cases.arguments(one)
    one = command("book", book.run, "the case book: cases kept with a note and tags", json_too=False, device=False)
    book.arguments(one)
    one = command("verify", verify, "digest, shapes, and the recorded numbers on the recorded example")
    one.add_argument("name", help="a checkpoint, by name or folder")
    one = command("app", app, "the browser app", json_too=False)
    one.add_argument("--port", type=int, default=8501)
    one.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    return top


def _training(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets (default: data)")
    command.add_argument("--runs", type=Path, default=Path("runs"), help="where states and logs go (default: runs)")
    command.add_argument("--resume", action="store_true", help="go on from the last complete state")


def _seeds(text: str) -> tuple[int, ...]:
    found = tuple(dict.fromkeys(int(one) for one in text.split(",")))
    if min(found) < 0:
        raise ValueError(text)  # argparse says which option it is of
    return found


def list_(options: argparse.Namespace) -> None:
    """The shelf, a line a checkpoint."""
    from triattn_core import records
    from triattn_core.shelf import shelf

    rows = [
        {
            "name": card.name,
            "task": card.config.get("task"),
            "mechanism": records.model(card, "mechanism"),
            "similarity": records.model(card, "similarity"),
            "data": records.data_folder(card),
            "dev": records.score(card, "dev"),
            "test": records.score(card),
            "digest": card.digest[:12],
            "problem": card.problem,
        }
        for card in shelf()
    ]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    if not rows:
        print("no checkpoint is on the shelf")
        return
    columns = [key for key in rows[0] if key != "problem"]
    lines = [columns, *([_shown(row[key]) for key in columns] for row in rows if not row["problem"])]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines[: 1 + len(rows)]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    for row in rows:
        if row["problem"]:
            print(f"{row['name']}: {row['problem']}")


def _shown(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value or "-")


def explain(options: argparse.Namespace) -> None:
    """Prints the prediction; saves the trace where asked."""
    from triattn_core.checkpoint import load
    from triattn_core.explain import explain as explain_one
    from triattn_core.text.rows import read_json

    if options.out and not options.out.parent.is_dir():
        raise DataError(f"{options.out.parent}: no such folder to save the trace in")
    bundle = load(options.name, options.device)
    example = bundle.task.Example.from_row(read_json(options.input), str(options.input))
    _heard(bundle, [example])
    prediction, trace = explain_one(bundle, example)
    if options.out:
        trace.save(options.out)
    if options.json:
        print(json.dumps({**vars(prediction), "meta": dict(trace.meta), "sites": sorted(trace.sites)}, indent=1))
        return
    for label, probability in zip(prediction.labels, prediction.probabilities):
        print(f"{probability:.4f}  {label}")
    for note in prediction.notes:
        print(note)
    for site in sorted(trace.sites):
        array = trace.sites[site]
        print(f"{site}  {' x '.join(f'{axis} {size}' for axis, size in array.sizes.items())}")


def evaluate(options: argparse.Namespace) -> None:
    """Prints `{"task", "n", "metrics"}`; of several checkpoints each, and whether two differ by more than noise."""
    from tqdm import tqdm

    from triattn_core.analysis.significance import on_rows
    from triattn_core.checkpoint import load
    from triattn_core.device import keep_freed_memory
    from triattn_core.evaluate import apart, measured, verdicts

    keep_freed_memory()
    if len(set(options.name)) < len(options.name):
        raise DataError("a checkpoint is named twice: name each once")
    if not options.data.is_file():
        raise DataError(f"{options.data}: no such file")
    bundles = [load(name, options.device) for name in options.name]
    task = bundles[0].task
    try:
        with tqdm(unit="row", desc=" ".join(options.name), disable=None) as bar:
            rows = task.read(options.data)
            first = list(islice(rows, 50))
            _heard(bundles[0], first)
            rows = chain(first, rows)
            if options.apart:
                rows = apart(rows, (one for file in options.apart for one in task.read(file)))
            judged = verdicts(bundles, rows, bar.update)
    except DataError as error:
        said = str(error)
        named = said.startswith(tuple(map(str, (options.data, *options.apart))))
        raise DataError(said if named else f"{options.data}: {said}") from None
    found = [measured(task, one) for one in judged]
    differences = on_rows(options.name, [[right for right, *_ in one] for one in judged])
    if options.json:
        several = {
            "checkpoints": [{"name": name, **one} for name, one in zip(options.name, found)],
            "differences": [vars(one) for one in differences],
        }
        print(json.dumps(several if len(found) > 1 else found[0]))
        return
    for name, one in zip(options.name, found):
        told = f"{one['n']} rows  " + "  ".join(f"{key} {value}" for key, value in one["metrics"].items())
        print(f"{name}  {told}" if len(found) > 1 else told)
    for one in differences:
        print(
            f"{one.b} less {one.a}: {one.gain:+.2f} points; right alone: {one.only_b} and {one.only_a} rows; "
            f"McNemar p {one.p:.3g}, after Holm {one.adjusted:.3g}"
        )


def _heard(bundle, examples: Iterable) -> None:
    """Says, where it is so, that the texts are in a language that the checkpoint does not read."""
    from triattn_core.records import spoken
    from triattn_core.text.language import other_than

    reads = bundle.config.language
    other = other_than(reads, (text for one in examples for text in bundle.task.texts(one, 0).values()))
    if reads and other:
        print(f"triattn: the texts look {spoken(other)}: {bundle.name} reads {spoken(reads)}", file=sys.stderr)


def seeds(options: argparse.Namespace) -> None:
    """Mean and spread over seeds on test, from the records, and Welch's test between what may be compared."""
    from triattn_core.analysis.significance import over_seeds
    from triattn_core.records import seed_scores
    from triattn_core.shelf import shelf

    groups = seed_scores(shelf())
    rows = []
    for (data, similarity), scores in groups.items():
        tests = over_seeds(scores)
        rows.append({"data": data, "similarity": similarity, "test": scores, "differences": [vars(t) for t in tests]})
        if not options.json:
            print(f"{data}, {similarity}")
            for name, values in scores.items():
                print(f"  {name}  {mean(values):.2f} ± {stdev(values):.2f} over {len(values)} seeds")
            for one in tests:
                print(f"  {one.b} less {one.a}: {one.gain:+.2f}; Welch p {one.p:.3g}, after Holm {one.adjusted:.3g}")
    if options.json:
        print(json.dumps(rows))
    elif not rows:
        print("no checkpoint was trained with several seeds: name more_seeds in its config.json")


def train(options: argparse.Namespace) -> None:
    """Prints the events as they come."""
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    from triattn_core.training.command import train as train_all

    _print(train_all(options.config, options.data, options.runs, options.resume, options.command), options.json)


def sweep(options: argparse.Namespace) -> None:
    """Prints the events as they come; each variant leaves its record."""
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    from triattn_core.training.sweep import sweep as sweep_all

    where = (options.data, options.runs, options.resume, options.command)
    _print(sweep_all(options.config, options.set, options.seeds, options.name, options.test, *where), options.json)


def _print(events: Iterable[Event], as_json: bool) -> None:
    for event in events:
        if as_json:
            print(event.line(), flush=True)
        elif event.kind != "saved":
            values = "  ".join(f"{name} {value}" for name, value in event.values.items())
            print(f"{event.step}/{event.steps}  {values}", flush=True)


def results(options: argparse.Namespace) -> None:
    """Prints, for each paper, its mechanisms beside ours as a Markdown table; with --json every cell of every table."""
    from triattn_core.results import beside, order, ours, published

    papers, (found, problems) = published.papers(), ours.everything()
    for said in (*(one for paper in papers for one in paper.problems), *problems):
        print(said, file=sys.stderr)
    if options.json:
        cells = [(one.paper.name, table, beside.filled(table, found)) for one in papers for table in one.tables]
        print(json.dumps([row for one in cells for row in beside.rows(*one)], ensure_ascii=False, indent=1))
        return
    for one in papers:
        if rows := order.compared(one.tables, found):
            print(f"{one.paper.name}\n\n{order.markdown(rows)}")


def verify(options: argparse.Namespace) -> int:
    """Prints each check; 1 where one fails."""
    from triattn_core.verify import verify as verify_one

    checks = verify_one(options.name, options.device)
    if options.json:
        print(json.dumps([vars(check) for check in checks], indent=1))
    else:
        for check in checks:
            print(f"{'ok    ' if check.good else 'FAILED'}  {check.name}: {check.found} (recorded: {check.expected})")
    return 0 if all(check.good for check in checks) else 1


def app(options: argparse.Namespace) -> int:
    """Starts Streamlit on loopback."""
    root = Path(__file__).parent.parent
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    command = [sys.executable, "-m", "streamlit", "run", str(root / "app.py"), "--server.port", str(options.port)]
    command += ["--server.headless", "true" if options.no_browser else "false"]
    return subprocess.call(command, cwd=root)


if __name__ == "__main__":
    sys.exit(main())
