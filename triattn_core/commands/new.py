"""`triattn new`: make a config for `triattn train` from a file of rows."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from triattn_core.tasks import tasks_of
from triattn_core.trace.axes import TAN_MECHANISMS


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "the folder to create; its name becomes that of the checkpoint"
    parser.add_argument("folder", type=Path, metavar="FOLDER", help=text)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="the rows (JSON Lines, .csv or .tsv)")
    text = "the frozen encoder: one of `checkpoints/encoders`, a folder, or a hub name (default: minilm-en)"
    parser.add_argument("--encoder", default="minilm-en", help=text)
    text = "the task of the rows (default: pairs)"
    parser.add_argument("--task", choices=tasks_of("tan"), default="pairs", help=text)
    parser.add_argument(
        "--mechanism", choices=TAN_MECHANISMS, default="tri", help="the attention mechanism (default: tri)"
    )
    text = "the similarity of query, key and context (default: dot)"
    parser.add_argument("--similarity", default="dot", help=text)
    parser.add_argument("--language", default="en", help="the language of the texts (default: en)")
    text = "number of passes over the training rows (default: 4)"
    parser.add_argument("--epochs", type=int, default=4, metavar="N", help=text)


def run(options: argparse.Namespace) -> None:
    """Write the folder, and print the next commands."""
    from triattn_core.training.new_checkpoint import new_checkpoint

    folder = options.folder
    names = ("encoder", "task", "language", "mechanism", "similarity", "epochs")
    settings = {name: getattr(options, name) for name in names}
    split = new_checkpoint(folder, options.data, **settings)
    if options.json:
        print(json.dumps({"folder": str(folder), **split}))
        return
    counts = ", ".join(f"{count:,} {name}" for name, count in split["counts"].items())
    duplicates = f" ({split['equal']:,} equal rows left out)" if split["equal"] else ""
    parent = shlex.quote(str(folder.parent))
    print(f"{folder}: {counts}{duplicates}")
    print(f"train it:  triattn train {shlex.quote(str(folder / 'config.json'))} --data {parent}")
    print(f"open it:   triattn app --checkpoints {parent}")
