"""`make fuzz N=10000`: generated inputs, none of which may end in a program's trace, hang, or take memory for good.

A seed makes the same inputs again; `--only NUMBER` runs one of them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fuzz import imported, inputs, recorded

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as of the app: threads that spin would count as computing

LIMIT = 20  # seconds of the processor for an input: the machine may be shared
STILL = 300  # seconds in all, after which an input waits for something that does not come
# Of 22 inputs: a page takes a hundred times as long as a reader.
KINDS = {"reader": 9, "imported": 3, "recorded": 2, "command": 6, "link": 1, "upload": 1}
MEMORY = 3 << 30  # bytes that the whole run may take


class Hang(Exception):
    """An input that took more than LIMIT seconds of the processor, or STILL in all."""


def run_input(number: int, seed: int, folder: Path) -> tuple[str, str, float, str]:
    """(kind, what it was, seconds, what went wrong or "")."""
    draw = random.Random(f"{seed}:{number}")
    kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
    description, wrong, begun = "", "", time.perf_counter()
    signal.signal(signal.SIGPROF, _hangs)
    signal.signal(signal.SIGALRM, _hangs)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    signal.setitimer(signal.ITIMER_REAL, STILL)
    try:
        description, wrong = RUN[kind](draw, folder)
    except Hang:
        wrong = f"more than {LIMIT} s of the processor, or {STILL} s in all"
    except BaseException as error:  # whatever it is, the next input comes
        if isinstance(error, KeyboardInterrupt):
            raise
        wrong = "".join(traceback.format_exception(error))[-1500:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return kind, description, time.perf_counter() - begun, wrong


def _hangs(*_) -> None:
    raise Hang


def _reader(draw: random.Random, folder: Path) -> tuple[str, str]:
    from triattn_core.errors import TriattnError

    read = inputs.reader(draw, folder)
    with contextlib.suppress(TriattnError):
        read()
    return "a file", ""


def _imported(draw: random.Random, folder: Path) -> tuple[str, str]:
    return _of(imported.KINDS, draw, folder)


def _recorded(draw: random.Random, folder: Path) -> tuple[str, str]:
    return _of(recorded.KINDS, draw, folder)


def _of(kinds: tuple[Any, ...], draw: random.Random, folder: Path) -> tuple[str, str]:
    """Runs an input of one of these kinds, whose oracle fails where a number is wrong."""
    from triattn_core.errors import TriattnError

    kind = draw.choice(kinds)
    read = kind(draw, folder)
    with contextlib.suppress(TriattnError):
        read()
    return kind.__name__, ""


def _command(draw: random.Random, folder: Path) -> tuple[str, str]:
    from triattn_core.__main__ import main

    arguments, err = inputs.command(draw, folder), io.StringIO()
    # A drawn --out may be relative.
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as stop:  # argparse, of an unknown option
            assert stop.code in (0, 2), stop.code
    return json.dumps(arguments)[:600], "a trace on stderr" if "Traceback" in err.getvalue() else ""


def _link(draw: random.Random, folder: Path) -> tuple[str, str]:
    from tests.support.pages import app_test, at_page

    page, query = inputs.link(draw)
    app = app_test(600)
    for name, text in query.items():
        app.query_params[name] = text
    app = (app if page == "start" else at_page(app, page)).run()
    return f"{page} {json.dumps(query)[:500]}", "; ".join(exception.message for exception in app.exception)


def _upload(draw: random.Random, folder: Path) -> tuple[str, str]:
    from tests.support.pages import app_test, at_page

    page, query, name, content = inputs.upload(draw)
    app = at_page(app_test(600), page)
    for key, text in query.items():
        app.query_params[key] = text
    app.run()
    app.file_uploader[0].upload(name, content).run()
    return f"{page} {name} {len(content)} bytes", "; ".join(exception.message for exception in app.exception)


RUN = {
    "reader": _reader,
    "imported": _imported,
    "recorded": _recorded,
    "command": _command,
    "link": _link,
    "upload": _upload,
}


def fuzz(numbers: range, seed: int, root: Path, log=lambda text: None) -> dict:
    """The report of a run over these inputs, on checkpoints made under `root`."""
    from tests.support.analysis_checkpoints import use_checkpoints

    folder = root / "files"
    folder.mkdir()
    counts, failures, slowest = Counter(), [], []
    with use_checkpoints(root):
        os.environ["TRIATTN_CASES"], os.environ["TRIATTN_TRACES"] = str(root / "book.sqlite"), str(root / "traces")
        begun = time.perf_counter()
        for number in numbers:
            kind, description, seconds, wrong = run_input(number, seed, folder)
            counts[kind] += 1
            slowest = sorted([*slowest, (round(seconds, 2), number, kind, description[:120])], reverse=True)[:5]
            if wrong:
                failures.append({"number": number, "kind": kind, "input": description, "wrong": wrong})
                log(f"{number} {kind} {description}\n{wrong}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "seed": seed, "inputs": dict(counts), "failures": failures, "slowest": slowest,
        "seconds": round(time.perf_counter() - begun), "peak_memory_mb": round(peak / 1e6), "bounded": peak < MEMORY,
    }  # fmt: skip


def main() -> int:
    """Runs, prints the report as JSON, and stores it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one input")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    numbers = range(options.count) if options.only is None else range(options.only, options.only + 1)
    with TemporaryDirectory() as folder:
        report = fuzz(numbers, options.seed, Path(folder), lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps(report, indent=1, ensure_ascii=False))
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 0 if not report["failures"] and report["bounded"] else 1


if __name__ == "__main__":
    sys.exit(main())
