"""The command line: the same library without a browser."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from triattn_core.commands import book, card, cases, efficiency, evaluate, examples, questions, shelf, train
from triattn_core.errors import TriattnError


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

    one = command("list", shelf.list_, "the checkpoints: task, mechanism, similarity, data set, metrics", device=False)
    shelf.folders(one)
    one = command("explain", examples.explain, "one example: the prediction, and its trace")
    examples.explain_arguments(one)
    one = command("evaluate", evaluate.run, "metrics over a file of rows")
    evaluate.arguments(one)
    command("seeds", shelf.seeds, "mean and spread over seeds, and whether they differ beyond noise", device=False)
    one = command("train", train.train, "train what a config.json or an encoder's recipe.json describes")
    train.train_arguments(one)
    one = command("sweep", train.sweep, "train variants of configs; their records are kept, their weights are not")
    train.sweep_arguments(one)
    command("results", shelf.results, "the papers' tables beside ours: is Tri ahead of Bi and C-Bi?", device=False)
    one = command("efficiency", efficiency.run, "time and memory of MTSA and its baselines by length, on this machine")
    efficiency.arguments(one)
    one = command("cases", cases.run, "several checkpoints over the same rows: who is right where, stored as a table")
    cases.arguments(one)
    one = command("context", questions.context, "how much of the attention context redirects, stored as a table")
    questions.context_arguments(one)
    one = command("faithful", questions.faithful, "attributions against random ones: do the tokens they name matter?")
    questions.faithful_arguments(one)
    one = command("book", book.run, "the case book: cases kept with a note and tags", json_too=False, device=False)
    book.arguments(one)
    one = command("card", card.run, "a case card of a view, or made again from its manifest: are its numbers the same?")
    card.arguments(one)
    one = command("verify", examples.verify, "digest, shapes, and the recorded numbers on the recorded example")
    one.add_argument("name", help="a checkpoint, by name or folder")
    one = command("app", app, "the browser app", json_too=False)
    shelf.folders(one)
    one.add_argument("--port", type=int, default=8501)
    one.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    return top


def app(options: argparse.Namespace) -> int:
    """Starts Streamlit on loopback."""
    root = Path(__file__).parent.parent
    shelf.added(options)
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    command = [sys.executable, "-m", "streamlit", "run", str(root / "app.py"), "--server.port", str(options.port)]
    command += ["--server.headless", "true" if options.no_browser else "false"]
    with subprocess.Popen(command, cwd=root) as running:
        signal.signal(signal.SIGTERM, lambda *_: running.terminate())  # who stops this stops the app
        return running.wait()


if __name__ == "__main__":
    sys.exit(main())
