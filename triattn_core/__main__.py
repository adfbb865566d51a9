"""The command line: the same library without a browser."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from triattn_core import __version__
from triattn_core.checkpoint import hub
from triattn_core.errors import TriattnError, describe_machine_failure, is_machine_failure


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
    """A command and its help.  Its module, of `commands`, is imported when the command is named, and not before.

    run: the function there that runs it; arguments: the one that adds its arguments.  json, device: whether it takes
    these options.
    """

    name: str
    module: str
    text: str
    run: str = "run"
    arguments: str = "arguments"
    json: bool = True
    device: bool = True

    def function(self, name: str) -> Callable[..., Any]:
        """A function of its module."""
        return getattr(import_module(f"triattn_core.commands.{self.module}"), name)

    def add_to(self, commands: argparse._SubParsersAction) -> None:
        """Adds its parser, which has no arguments yet."""
        commands.add_parser(self.name, help=self.text, description=self.text, command=self)


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, or of a part of it; a command's arguments are added when they are needed."""

    def __init__(self, *arguments: Any, command: Command | None = None, **settings: Any):
        super().__init__(*arguments, **settings)
        self._command = command

    def complete(self) -> None:
        """Adds the arguments of its command, once."""
        command, self._command = self._command, None
        if command is None:
            return
        self.set_defaults(run=command.function(command.run))
        if command.json:
            self.add_argument("--json", action="store_true", help="print JSON for machines")
        if command.device:
            self.add_argument("--device", help="cuda, mps or cpu (default: the first available)")
            text = "download missing encoders and models from the Hugging Face hub (default: never download)"
            self.add_argument(hub.FLAG, action="store_true", help=text)
        if command.arguments:
            command.function(command.arguments)(self)

    def parse_known_args(self, *arguments: Any, **settings: Any) -> Any:
        """As that of `argparse`, with the arguments of the command."""
        self.complete()
        return super().parse_known_args(*arguments, **settings)


def parser() -> argparse.ArgumentParser:
    """Commands; the options of each are added when it is named."""
    top = argparse.ArgumentParser(
        prog="triattn", description="Train, explain and verify models whose attention depends on context."
    )
    top.add_argument("--version", action="version", version=f"triattn {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)
    for command in COMMANDS:
        command.add_to(commands)
    return top


COMMANDS = (
    Command(
        "list",
        "listing",
        "List checkpoints with task, mechanism, similarity, data set and metrics.",
        run="list_",
        arguments="folders",
        device=False,
    ),
    Command(
        "explain",
        "examples",
        "Print the prediction for one example and save its trace.",
        run="explain",
        arguments="explain_arguments",
    ),
    Command("open", "open_trace", "Open a file of attention weights from any source as a trace.", device=False),
    Command("record", "record", "Save the attention of a PyTorch module of your own as a trace; runs its file."),
    Command(
        "import", "import_model", "Save the attention of a Hugging Face model on a text or a pair of texts as a trace."
    ),
    Command("evaluate", "evaluate", "Evaluate checkpoints on a file of rows."),
    Command("studies", "studies", "Measure the claims of the guided studies again."),
    Command(
        "seeds",
        "listing",
        "Print mean and spread over seeds or folds, and test whether mechanisms differ significantly.",
        run="seeds",
        arguments="",
        device=False,
    ),
    Command(
        "new",
        "new",
        "Start a checkpoint of your own: split a file of rows into train, dev and test, and write a config.",
    ),
    Command(
        "train",
        "train",
        "Train the model of a config.json, or the encoder of a recipe.json.",
        run="train",
        arguments="train_arguments",
    ),
    Command(
        "sweep",
        "train",
        "Train variants of configs, and save their metrics but not their weights.",
        run="sweep",
        arguments="sweep_arguments",
    ),
    Command(
        "results",
        "listing",
        "Compare the papers' tables with results measured here: is Tri better than Bi and C-Bi?",
        run="results",
        arguments="",
        device=False,
    ),
    Command(
        "efficiency", "efficiency", "Measure time and memory of MTSA and its baselines by text length on this machine."
    ),
    Command(
        "cases", "cases", "Run several checkpoints on the same rows, and save a table of which is right on which row."
    ),
    Command(
        "context",
        "analyses",
        "Measure how much attention the context redirects on each row, and save a table.",
        run="context",
        arguments="context_arguments",
    ),
    Command(
        "heads",
        "heads",
        "Measure every head on a file of rows (entropy, information, three-way share), and save a table.",
    ),
    Command(
        "faithful",
        "analyses",
        "Test the faithfulness of attributions against random rankings of the tokens, and save a table.",
        run="faithful",
        arguments="faithful_arguments",
    ),
    Command(
        "book", "book", "List, show and edit the case book: saved cases with notes and tags.", json=False, device=False
    ),
    Command("card", "card", "Make a case card or a figure of a view, or make a card again and compare its numbers."),
    Command(
        "verify",
        "examples",
        "Check the digest and shapes of a checkpoint, and its numbers on its recorded example.",
        run="verify",
        arguments="verify_arguments",
    ),
    Command("app", "app", "Open the app in a browser.", json=False),
)


if __name__ == "__main__":
    sys.exit(main())
