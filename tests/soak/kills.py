"""`python -m tests.soak.kills`: training, a sweep, mining and writes to the case book are killed (SIGKILL) at random
moments, begun again, and must end as if nothing had happened.

Each moment is a random share of the time that the work takes; the work runs in a fork, in a folder of its own.  A state
of training is saved each 200 of 400 steps.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

MODEL = {"mechanism": "tri", "similarity": "dot", "layers": 1, "heads": 1, "hidden": 16, "inputs": "learnt"}
DATA = {"train_rows": 6400, "dev_rows": 200, "test_rows": 200, "train_seed": 3, "dev_seed": 2, "test_seed": 1}
TRAINING = {"epochs": 1, "rate": 0.003, "batch": 16, "seed": 1, "more_seeds": [], "precision": "no"}
CONFIG = {"format": 1, "kind": "laboratory", "task": "planted-sum", "language": "en"}
CONFIG |= {"model": MODEL, "data": DATA, "training": TRAINING}
CASES, ROWS = 120, 300
DIFFERS = {"seconds", "date", "machine", "command"}  # of a record, from one run to the next


@dataclass(frozen=True)
class Work:
    """make: fills the folder.  run: does the work in it, again after a kill.  result: what must be the same."""

    make: Callable[[Path], None]
    run: Callable[[Path, bool], None]
    result: Callable[[Path], object]


def _config(folder: Path) -> None:
    (folder / "checkpoints" / "model").mkdir(parents=True)
    (folder / "checkpoints" / "model" / "config.json").write_text(json.dumps(CONFIG), "utf-8")


def _command(folder: Path, *arguments: str) -> None:
    from triattn_core.__main__ import main

    os.environ["TRIATTN_CHECKPOINTS"] = str(folder / "checkpoints")
    if main([*arguments]):
        raise SystemExit(1)


def _train(folder: Path, again: bool) -> None:
    config = str(folder / "checkpoints" / "model" / "config.json")
    _command(folder, "train", config, "--runs", str(folder / "runs"), *["--resume"] * again)


def _sweep(folder: Path, again: bool) -> None:
    config, more = (
        str(folder / "checkpoints" / "model" / "config.json"),
        ["--set", "training.rate=0.001,0.003", "--name", "s"],
    )
    _command(folder, "sweep", config, "--runs", str(folder / "runs"), *more, *["--resume"] * again)


def _lasting(value: object) -> object:
    """Without what another run has otherwise."""
    if isinstance(value, dict):
        return {name: _lasting(one) for name, one in value.items() if name not in DIFFERS}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


def _trained(folder: Path) -> object:
    model = folder / "checkpoints" / "model"
    weights = hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()
    return weights, _lasting(json.loads((model / "metrics.json").read_text("utf-8")))


def _swept(folder: Path) -> object:
    lines = (folder / "checkpoints" / "results" / "s.jsonl").read_text("utf-8").splitlines()
    return [_lasting(json.loads(line)) for line in lines]


def _rows(folder: Path) -> None:
    from tests.support.tiny import make_checkpoint, make_encoder, make_rows

    make_encoder(folder / "checkpoints" / "encoders" / "tiny")
    for seed, mechanism in enumerate(("bi", "tri")):
        make_checkpoint(folder, f"pairs-{mechanism}", mechanism, seed, task="pairs")
    make_rows(folder / "rows.jsonl", ROWS, 4)


def _mine(folder: Path, again: bool) -> None:
    if again:
        _whole_or_absent(folder / "cases.parquet")
    _command(
        folder, "cases", "pairs-bi", "pairs-tri", str(folder / "rows.jsonl"), "--out", str(folder / "cases.parquet")
    )


def _whole_or_absent(path: Path) -> None:
    import pandas as pd

    if path.exists():
        assert len(pd.read_parquet(path)) == ROWS


def _mined(folder: Path) -> object:
    import pandas as pd

    table = pd.read_parquet(folder / "cases.parquet")
    return table.drop(columns=[name for name in table if name in DIFFERS]).to_csv()


def _write_cases(folder: Path, again: bool) -> None:
    from triattn_core.case_book import Case, CaseBook

    book = CaseBook(folder / "book.sqlite")
    for number in range(CASES):
        row = {"text_a": f"sentence {number}", "text_b": "another"}
        [case] = book.of("pairs", row) or [book.keep(Case("pairs", row, "first", ("a", f"t{number}")))]
        if case.version == 1:
            book.change(replace(case, note=f"note {number}", tags=("b", f"t{number}")))
    book.export(folder / "book.jsonl")


def _written(folder: Path) -> object:
    from triattn_core.case_book import CaseBook

    [[sound]] = sqlite3.connect(folder / "book.sqlite").execute("PRAGMA integrity_check").fetchall()
    cases = [
        (case.row["text_a"], case.note, case.tags, case.version) for case in CaseBook(folder / "book.sqlite").search()
    ]
    return sound, sorted(cases), len((folder / "book.jsonl").read_text("utf-8").splitlines())


WORKS = {
    "training": Work(_config, _train, _trained),
    "sweep": Work(_config, _sweep, _swept),
    "mining": Work(_rows, _mine, _mined),
    "case book": Work(lambda folder: None, _write_cases, _written),
}


def start(work: Work, folder: Path, again: bool) -> int:
    """The process of the work, in a fork: what is imported need not be imported again."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        with (folder / "log").open("a") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        work.run(folder, again)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def finish(work: Work, folder: Path, again: bool) -> float:
    """Runs the work to its end; the seconds it took.  Raises RuntimeError where it fails."""
    begun = time.perf_counter()
    _, status = os.waitpid(start(work, folder, again), 0)
    if status:
        raise RuntimeError(f"ended with {status}: {(folder / 'log').read_text()[-800:]}")
    return time.perf_counter() - begun


def kill_at_random(name: str, moments: int, seed: int, root: Path) -> dict:
    """The report of one kind of work."""
    work, draw, wrong, killed = WORKS[name], random.Random(f"{seed}:{name}"), [], 0
    whole = root / f"{name}-whole"
    whole.mkdir()
    work.make(whole)
    seconds = finish(work, whole, again=False)
    expected = work.result(whole)
    for moment in range(4 * moments):  # some end before the moment comes: they are no kills
        if killed == moments:
            break
        folder = root / f"{name}-{moment}"
        folder.mkdir()
        work.make(folder)
        process = start(work, folder, again=False)
        time.sleep(draw.random() * seconds)
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        killed += os.WIFSIGNALED(status)
        try:
            finish(work, folder, again=True)
            if work.result(folder) != expected:
                wrong.append((moment, "another result"))
        except Exception as error:  # the other moments are tried all the same
            wrong.append((moment, repr(error)[:1000]))
    return {"work": name, "seconds": round(seconds, 2), "killed": killed, "wrong": wrong}


def main() -> int:
    """Prints a line of JSON for each kind of work."""
    import torch

    import triattn_core.__main__  # noqa: F401

    torch.set_num_threads(1)  # threads do not survive a fork
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("works", nargs="*", default=list(WORKS))
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = False
    with TemporaryDirectory() as folder:
        for name in options.works:
            report = kill_at_random(name, options.moments, options.seed, Path(folder))
            failed |= bool(report["wrong"])
            print(json.dumps(report), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
