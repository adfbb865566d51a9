"""The command line: the same library without a browser."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from triattn_core.checkpoint import hub
from triattn_core.commands import (
    analyses,
    book,
    card,
    cases,
    efficiency,
    evaluate,
    examples,
    heads,
    import_model,
    listing,
    new,
    open_trace,
    studies,
    train,
    web_guard,
)
from triattn_core.errors import TriattnError, describe_machine_failure, is_machine_failure

# Streamlit takes a folder named `pages` for its older kind of app until `st.navigation` has run once, and tells the
# first visitor of a link that there is no such page.
STREAMLIT = f"""{web_guard.LAUNCH}
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

PagesManager.uses_pages_directory = False
main()
"""


OWN_HOSTS = ("localhost", "127.0.0.1")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; one clear line and a non-zero exit on bad input."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args(arguments)
    options.command = "triattn " + shlex.join(arguments)
    hub.settle_hub(getattr(options, "hub", False))
    try:
        return options.run(options) or 0
    except TriattnError as error:
        print(f"triattn: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        resume = "; resume with --resume" if options.command.split()[1] in ("train", "sweep") else ""
        print(f"triattn: stopped{resume}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a name too long for the system, no permission, a full disk
        file_text = "" if error.filename is None else f"{str(error.filename)[:200]}: "
        print(f"triattn: {file_text}{error.strerror or error}", file=sys.stderr)
        return 1
    except (MemoryError, RuntimeError, ImportError, AttributeError) as error:
        if not is_machine_failure(error):
            raise
        print(f"triattn: the machine failed ({describe_machine_failure(error)})", file=sys.stderr)
        return 1


class Command(NamedTuple):
    """A command: what runs it, its help, and what adds its arguments.  json, device: whether it takes these options."""

    name: str
    run: Callable
    text: str
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    json: bool = True
    device: bool = True

    def add_to(self, commands: argparse._SubParsersAction) -> None:
        """Adds its parser."""
        parser = commands.add_parser(self.name, help=self.text, description=self.text)
        parser.set_defaults(run=self.run)
        if self.json:
            parser.add_argument("--json", action="store_true", help="print JSON for machines")
        if self.device:
            parser.add_argument("--device", help="cuda, mps or cpu (default: the first available)")
            text = "download missing encoders and models from the Hugging Face hub (default: never download)"
            parser.add_argument(hub.FLAG, action="store_true", help=text)
        self.arguments(parser)


def parser() -> argparse.ArgumentParser:
    """Commands and their options."""
    top = argparse.ArgumentParser(
        prog="triattn", description="Train, explain and verify models whose attention depends on context."
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return top


def app_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn app`."""
    listing.folders(parser)
    parser.add_argument("--port", type=int, default=8501, help="port to listen on (default: 8501)")
    parser.add_argument("--address", help="address to listen on (default: this machine only)")
    parser.add_argument(
        "--site", default="", metavar="HOST", help="host name of a proxy that forwards requests, see docs/deploy.md"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")


def server_environment() -> dict[str, str]:
    """The environment of the app's server; what is set already stays.

    Threads of torch that wait for each other sleep: each job has threads of its own, and where other programs run too,
    those that spin take several times the CPU time of the work.  Fewer heaps give more memory back.  Tables are where
    the app is started, which is not where the server runs.
    """
    tables = os.path.abspath(os.environ.get("TRIATTN_TABLES", "tables"))
    return {"OMP_WAIT_POLICY": "PASSIVE", "MALLOC_ARENA_MAX": "2", **os.environ, "TRIATTN_TABLES": tables}


def app(options: argparse.Namespace) -> int:
    """Starts Streamlit, on loopback unless another address is asked for."""
    root = Path(__file__).parent.parent
    if not (root / "app.py").is_file():
        raise TriattnError(f"{root / 'app.py'}: no such file; the app is in the repository alone: there, `make app`")
    listing.add_folders(options)
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    command = [sys.executable, "-c", STREAMLIT, "run", str(root / "app.py"), "--server.port", str(options.port)]
    command += ["--server.headless", "true" if options.no_browser else "false"]
    if options.address:
        command += ["--server.address", options.address]
    for host in (options.site, *OWN_HOSTS) if options.site else ():
        command += ["--server.allowedHosts", host]
    print(f"triattn is at http://{options.address or '127.0.0.1'}:{options.port} (Ctrl-C ends it)", flush=True)
    with subprocess.Popen(command, cwd=root, env=server_environment()) as running:
        signal.signal(signal.SIGTERM, lambda *_: running.terminate())  # who stops this stops the app
        return running.wait()


COMMANDS = (
    Command(
        "list", listing.list_,
        "List checkpoints with task, mechanism, similarity, data set and metrics.",
        listing.folders,
        device=False,
    ),
    Command(
        "explain", examples.explain,
        "Print the prediction for one example and save its trace.",
        examples.explain_arguments,
    ),
    Command(
        "open", open_trace.run,
        "Open a file of attention weights from any source as a trace.",
        open_trace.arguments, device=False,
    ),
    Command(
        "import", import_model.run,
        "Save the attention of a Hugging Face model on a text or a pair of texts as a trace.",
        import_model.arguments,
    ),
    Command("evaluate", evaluate.run, "Evaluate checkpoints on a file of rows.", evaluate.arguments),
    Command("studies", studies.run, "Measure the claims of the guided studies again.", studies.arguments),
    Command(
        "seeds", listing.seeds,
        "Print mean and spread over seeds or folds, and test whether mechanisms differ significantly.",
        device=False,
    ),
    Command(
        "new", new.run,
        "Start a checkpoint of your own: split a file of rows into train, dev and test, and write a config.",
        new.arguments,
    ),
    Command(
        "train", train.train,
        "Train the model of a config.json, or the encoder of a recipe.json.", train.train_arguments,
    ),
    Command(
        "sweep", train.sweep, "Train variants of configs, and save their metrics but not their weights.",
        train.sweep_arguments,
    ),
    Command(
        "results", listing.results,
        "Compare the papers' tables with results measured here: is Tri better than Bi and C-Bi?",
        device=False,
    ),
    Command(
        "efficiency", efficiency.run,
        "Measure time and memory of MTSA and its baselines by text length on this machine.",
        efficiency.arguments,
    ),
    Command(
        "cases", cases.run,
        "Run several checkpoints on the same rows, and save a table of which is right on which row.",
        cases.arguments,
    ),
    Command(
        "context", analyses.context, "Measure how much attention the context redirects on each row, and save a table.",
        analyses.context_arguments,
    ),
    Command(
        "heads", heads.run,
        "Measure every head on a file of rows (entropy, information, three-way share), and save a table.",
        heads.arguments,
    ),
    Command(
        "faithful", analyses.faithful,
        "Test the faithfulness of attributions against random rankings of the tokens, and save a table.",
        analyses.faithful_arguments,
    ),
    Command(
        "book", book.run, "List, show and edit the case book: saved cases with notes and tags.",
        book.arguments, json=False,
        device=False,
    ),
    Command(
        "card", card.run, "Make a case card or a figure of a view, or make a card again and compare its numbers.",
        card.arguments,
    ),
    Command(
        "verify", examples.verify,
        "Check the digest and shapes of a checkpoint, and its numbers on its recorded example.",
        examples.verify_arguments,
    ),
    Command("app", app, "Open the app in a browser.", app_arguments, json=False),
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
