"""What commands compute on the project's own examples, as digests; see `golden`."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from triattn_core.__main__ import main
from triattn_core.commands.examples import __file__ as _commands

TASKS = Path(_commands).parents[1] / "tasks"  # rows of every task, `pairs.en.jsonl`
TABLE, ROW = "TABLE", "ROW"
COMMANDS = """
explain quora-tri-living ROW/pairs --cell layer.0/a_over_b/weight 0.1.2.3
explain squad-t-trilinear ROW/questions --terms 3.1
explain trec-mtsa ROW/sentences
explain lcqmc-coin ROW/pairs.zh
evaluate quora-bi-living quora-tri-living pairs
evaluate ubuntu-tri-living dialogue
evaluate squad-dot questions
cases quora-bi-living quora-cbi-living quora-tri-living pairs --out TABLE
context quora-tri-living pairs --out TABLE
heads quora-tri-living pairs --rows 8 --out TABLE
faithful quora-tri-living pairs --rows 4 --out TABLE
card cube quora-tri-living ROW/pairs --out card.zip
""".strip().splitlines()
OF_A_RUN = {"seconds", "date", "device", "machine", "command", "rate", "version", "versions", "out", "file"}


def rounded(value: Any) -> Any:
    """JSON without what is of this run alone, its numbers in five digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items() if name not in OF_A_RUN}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _rows(word: str, folder: Path) -> str:
    """A file of a task's examples, or of the first alone."""
    first, _, task = word.rpartition("/")
    source = TASKS / f"{task if '.' in task else task + '.en'}.jsonl"
    if not first:
        return str(source)
    row = folder / f"{task}.json"
    row.write_text(source.read_text("utf-8").splitlines()[0], "utf-8")
    return str(row)


def arguments(command: str, folder: Path) -> list[str]:
    """The words of a command of COMMANDS, with its files in `folder`."""
    names = {path.name.split(".")[0] for path in TASKS.glob("*.jsonl")}
    words = []
    for word in command.split():
        if word.split("/")[0] == ROW or word in names:
            words.append(_rows(word, folder))
        else:
            words.append(str(folder / word) if word in (TABLE, "card.zip") else word)
    return words


def results(command: str, folder: Path) -> Iterator[str]:
    """What a command printed as JSON and what it wrote."""
    shutil.rmtree(folder / TABLE, ignore_errors=True)  # a table is a folder of parts
    (folder / "card.zip").unlink(missing_ok=True)
    printed = StringIO()
    with redirect_stdout(printed):
        assert main([*arguments(command, folder), "--json"]) in (0, None), command
    yield json.dumps(rounded(json.loads(printed.getvalue())), sort_keys=True)
    if (folder / TABLE).exists():
        table = pd.read_parquet(folder / TABLE)
        yield table[[name for name in table if name not in OF_A_RUN]].to_csv(index=False, float_format="%.5g")
    if (folder / "card.zip").exists():
        with zipfile.ZipFile(folder / "card.zip") as card:
            yield card.read("data.csv").decode()


def outputs(folder: Path, words: list[str]) -> dict[str, dict[str, str]]:
    """Digests by command, of those that hold one of `words`."""
    commands = [command for command in COMMANDS if not words or any(word in command for word in words)]
    return {
        f"triattn {command}": {str(i): digest_of(text) for i, text in enumerate(results(command, folder))}
        for command in commands
    }
