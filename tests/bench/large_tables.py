"""Cases and Compare over a table of ten million rows: `python -m tests.bench.large_tables --rows 10000000`.

The table has the schema of `triattn cases` with three checkpoints and invented numbers; it is written first, if it is
not there.  Seconds of each question that the pages ask, of the
processor too, and the most memory of a process that asks them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from triattn_core.analysis.mining import agreement, case_columns, case_ranges, case_table
from triattn_core.analysis.mining.case_rows import Filter

NAMES = {"quora-bi-published": "bi", "quora-cbi-published": "cbi", "quora-tri-published": "tri"}
PART = 1 << 18  # rows that are made at once


def about(rows: int) -> case_table.TableInfo:
    """Where such a table would come from."""
    checkpoints = [
        {"name": name, "mechanism": kind, "similarity": "additive", "digest": "0" * 64} for name, kind in NAMES.items()
    ]
    return case_table.TableInfo(
        task="pairs", language="en", checkpoints=checkpoints, data="made/test.jsonl", sha256="0" * 64, lines=rows,
        whole=True, aside=0, complaints=(), seconds=1.0, device="cpu", date="2026-01-01", command="made",
    )  # fmt: skip


def parts(rows: int, seed: int = 1) -> Iterator[pa.Table]:
    """The table, some rows at a time: accuracies of 80 to 86 %, 4 to 14 query tokens that context moves."""
    draw = np.random.default_rng(seed)
    for start in range(0, rows, PART):
        n = min(PART, rows - start)
        label = draw.integers(0, 2, n)
        table = {"row": np.arange(start, start + n) + 1, "label": label, "tokens": draw.poisson(26, n) + 4}
        table["id"] = [f"pair-{number:09x}" for number in draw.integers(0, 1 << 36, n)]
        for share, (name, kind) in zip((0.80, 0.83, 0.86), NAMES.items()):
            right = draw.random(n) < share
            table |= {f"{name} answer": np.where(right, label, 1 - label), f"{name} right": right}
            table[f"{name} confidence"] = (0.5 + 0.4999 * draw.random(n)).round(4)
            if kind == "tri":
                lengths = draw.integers(4, 15, n)
                ends = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
                moved = (draw.beta(2, 20, ends[-1])).round(4).astype(np.float32)
                table[f"{name} moved at"] = pa.ListArray.from_arrays(ends, moved)
                table[f"{name} moved"] = np.add.reduceat(moved, ends[:-1]) / lengths
        yield pa.table({name: table[name] for name in case_columns.column_types(list(NAMES.items()))})


def ask(file: Path) -> dict[str, tuple[float, float]]:
    """Seconds of each question, and those of the processor, in the order in which the pages ask."""
    seconds: dict[str, tuple[float, float]] = {}
    tri = list(NAMES)[-1]

    def timed(name: str, call):
        begun = time.perf_counter(), time.process_time()
        result = call()
        seconds[name] = round(time.perf_counter() - begun[0], 3), round(time.process_time() - begun[1], 3)
        return result

    cases = timed("opened", lambda: case_table.open_cases(file))
    order = [f"{tri} moved"]
    timed("who is right, accuracies", lambda: agreement.right_combinations(cases))
    timed("first page", lambda: cases.rows.first(Filter(), order, 100))
    timed("McNemar", lambda: agreement.mcnemar_tests(cases))
    timed("kappa and flips", lambda: agreement.pairwise_agreement(cases))
    only = {f"{name} right": [name == tri] for name in NAMES}
    timed("filter: only Tri is right", lambda: cases.rows.first(Filter(equal=only), order, 100))
    sure = Filter(equal={"label": [1]}, between={f"{tri} confidence": (0.9, 1.01), "tokens": (0, 20)})
    timed("filter: label, confidence, length", lambda: cases.rows.first(sure, order, 100))
    timed("search of an id", lambda: cases.rows.first(Filter(words=("abcd",)), order, 100))
    timed("ten pages on", lambda: cases.rows.first(Filter(), order, 100, skip=1000))
    timed("sample of 100", lambda: cases.rows.sample(sure, 100, seed=1))
    timed("sample of 100 of all", lambda: cases.rows.sample(Filter(), 100, seed=1))
    timed("the most moved tenth", lambda: case_ranges.between_ranks(cases, f"{tri} moved", 0.9, 1.0))
    pair = Filter(differ=tuple(f"{name} answer" for name in list(NAMES)[:2]))
    timed("who flips", lambda: cases.rows.first(pair, [f"{name} confidence" for name in list(NAMES)[:2]], 100))
    return seconds


def peak_memory() -> int:
    """The most MB that this process held; `getrusage` would count what its parent held when it was started."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) >> 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--file", type=Path, default=Path("runs/large-cases.parquet"))
    parser.add_argument("--ask", action="store_true", help="ask alone, and print JSON")
    options = parser.parse_args()
    if options.ask:
        begun = peak_memory()
        seconds = ask(options.file)
        print(json.dumps({"seconds": seconds, "begun_mb": begun, "peak_mb": peak_memory()}))
        return
    if not options.file.exists():
        options.file.parent.mkdir(parents=True, exist_ok=True)
        case_table.write_parts(options.file, parts(options.rows), about(options.rows))
    print(f"{options.rows:,} rows, {options.file.stat().st_size / 1e6:,.0f} MB")
    command = [sys.executable, "-m", "tests.bench.large_tables", "--ask", "--file", str(options.file)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for name, (seconds, processor) in report["seconds"].items():
        print(f"{name}: {seconds:.2f} s ({processor:.2f} s of the processor)")
    print(f"memory: {report['peak_mb']} MB at most, {report['begun_mb']} MB before the first question")


if __name__ == "__main__":
    main()
