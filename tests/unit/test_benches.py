"""Every measurement of `tests/bench` runs, at its smallest size: what nobody runs breaks without being seen."""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import subprocess
import sys
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from tests.bench import measure
from tests.conftest import chromium_path
from triattn_core.inference.preload import MORE, NEEDED
from triattn_core.tasks import pairs

BENCHES = Path(__file__).parents[1] / "bench"
LIBRARY = ("__init__", "measure")  # not run by themselves
ROWS, FOLDER = "ROWS", "FOLDER"  # stand for a file of pairs, and for an empty folder
# The arguments of the smallest size of each, and what it prints there.
SMALLEST = {
    "attention": (
        "--tokens 8 --batch 1 --only dot additive --matrix 64",
        "| T-dot | 1 | 8 | forward + backward | ours |",
    ),
    "browser_views": ("start", "start "),
    "cheap_page": ("--pages 1", "beside Attribute: median "),
    "coin": ("--batches 2", "| BERT-base |"),
    "coin_blocks": (f"quora-coin {ROWS} --rows 8", "| 1, trained |"),
    "commands": ("--only torch list --repeat 1", "list "),
    "faithful": ("quora-bi-living --rows 1 --draws 1 --steps 2", "| quora-bi-living | 1 |"),
    "file_changes": ("cube --pairs 1", "changes of file"),
    "first_screen": ("start --repeat 1", "start "),
    "first_map": ("--layers 2 --hidden 24", "s to its maps"),
    "first_views": ("start", "start "),
    "first_words": ("similarity", "similarity "),
    "heads_off": ("--rows 1 --hidden 24 --layers 2", "ratio "),
    "installed_size": ("", "requirements.txt: "),
    "large_tables": (f"--rows 2000 --file {FOLDER}/cases.parquet", "memory: "),
    "leave_one_out": ("--only quora-tri-living", "quora-tri-living: "),
    "long_texts": ("--forms living --methods attention", "quora-tri-living: attention: "),
    "mtsa": ("--tokens 1 --all 16", "| 1 | forward + backward | MTSA, "),
    "own_attention": (f"--folder {FOLDER}/own --layers 1 --side 8 --library", "8 × 8 × 8 of a file read"),
    "recording": ("--tokens 64", "memory above the plain pass: "),
    "reruns": ("start --repeat 1", "start "),
    "scale": ("--rows 600 --workers 1", "1 workers"),
    "server_memory": ("start", "start "),
    "similarity": ("--only dot --batch 1", "| dot | forward + backward |"),
    "third_order": ("--most 16", "tree "),
    "throughput": (f"quora-bi-living --data {ROWS} --explain 2", "| quora-bi-living |"),
}
NEEDS = {
    "scale": "ray",
    "browser_views": "playwright",
    "first_screen": "playwright",
    "first_words": "playwright",
    "own_attention": "playwright",
}


def test_each_bench_is_run() -> None:
    assert {path.stem for path in BENCHES.glob("*.py")} == {*SMALLEST, *LIBRARY}


def run(name: str, arguments: list[str], printed: Path) -> None:
    """What a bench prints goes to a file; the process ends with it."""
    with open(printed, "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ |= {"TRIATTN_DEVICE": "cpu", "PYTHONPATH": str(BENCHES.parents[1])}
    measure.LEAST = 0  # that it runs is what is asked
    sys.argv[1:] = arguments
    runpy.run_module(f"tests.bench.{name}", run_name="__main__", alter_sys=True)


@pytest.fixture(scope="module")
def processes() -> BaseContext:
    """Each bench has a process of its own, forked from one that has imported what nearly all of them import."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*NEEDED, *MORE])
    return context


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SMALLEST)
def test_a_bench_runs_at_its_smallest_size(name: str, tmp_path: Path, processes: BaseContext) -> None:
    pytest.importorskip(NEEDS.get(name, "torch"))
    if name in ("browser_views", "first_screen", "first_words") and chromium_path() is None:
        pytest.skip("there is no Chromium here")
    rows, printed = tmp_path / "rows.jsonl", tmp_path / "printed"
    examples = [json.dumps(pairs.row(example)) for example in pairs.examples("en") if example.label is not None]
    rows.write_text("\n".join(examples[:12]) + "\n", "utf-8")
    arguments, expected = SMALLEST[name]
    command = arguments.replace(ROWS, str(rows)).replace(FOLDER, str(tmp_path)).split()
    if name == "scale":  # Ray begins in a process that was not forked
        environment = {**os.environ, "TRIATTN_DEVICE": "cpu", "PYTHONPATH": str(BENCHES.parents[1])}
        fresh = [sys.executable, "-m", f"tests.bench.{name}", *command]
        with open(printed, "wb") as file:
            code = subprocess.call(fresh, cwd=BENCHES.parents[1], env=environment, stdout=file, stderr=file)
    else:
        process = processes.Process(target=run, args=(name, command, printed))
        process.start()
        process.join()
        code = process.exitcode
    said = printed.read_text("utf-8")
    assert code == 0 and expected in said, said[-2000:]
