"""`python -m tests.soak.ray_kills`: drivers and workers of a Ray job are killed (SIGKILL) at random moments.

A cluster of two nodes in this machine maps rows by a stand-in that takes 2 ms a row.  A driver that was killed is begun
again; a worker that was killed Ray starts again.  Each job must end with the rows of one process, each once.  Each
moment is a random share of the rows that are to be written, or of the time that they take; a seed draws the same ones.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster as Simulated

from tests.support import stand_in
from triattn_core.analysis.measures import measure_batch
from triattn_core.analysis.mining import sources
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.worker import Work

WORKERS = 2
ROWS, SECONDS, LIMIT = 6000, 0.002, 200  # rows, seconds that each takes, most seconds until a moment comes


def job(source: sources.Source, folder: Path, address: str) -> RayJob:
    """The job in its folder, begun or gone on with."""
    work = Work(partial(stand_in.slow_measure, seconds=SECONDS), (), None, "pairs")
    return RayJob(work, (), source, Cluster(address, WORKERS), folder=folder)


def rows_done(folder: Path) -> int:
    """Rows of the parts that have been written."""
    done = 0
    for file in (folder / "parts").glob("*.parquet"):
        with contextlib.suppress(OSError, pa.ArrowException):  # being written
            done += pq.read_metadata(file).num_rows
    return done


def wait_until(there: Callable[[], bool]) -> None:
    """Raises TimeoutError after LIMIT seconds."""
    end = time.monotonic() + LIMIT
    while not there():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def kill_driver(source: sources.Source, folder: Path, address: str, share: float) -> RayJob:
    """A job whose driver was killed after this share of its rows, to its end."""
    command = [sys.executable, "-m", "tests.soak.ray_kills", "--drive", str(source.place), str(folder), address]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: rows_done(folder) >= share * ROWS or driver.poll() is not None)
    os.killpg(driver.pid, signal.SIGKILL)
    if driver.wait() != -signal.SIGKILL:
        raise RuntimeError(f"the driver ended by itself with {driver.returncode}")
    again = job(source, folder, address)
    again.run()
    return again


def kill_worker(source: sources.Source, folder: Path, address: str, share: float) -> RayJob:
    """A job whose first worker was killed after this share of the time that the rows take, to its end."""

    def kill() -> None:
        wait_until(lambda: any((folder / "workers").glob("*.json")))
        note = next((folder / "workers").glob("*.json"))
        time.sleep(share * ROWS * SECONDS / WORKERS)
        os.kill(json.loads(note.read_text())["process"], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    begun = job(source, folder, address)
    killer.start()
    begun.run()
    killer.join()
    return begun


def kill_at_random(kind: str, moments: int, seed: int, source: sources.Source, root: Path, address: str) -> dict:
    """The report of one kind of kill."""
    draw, wrong, shares = random.Random(f"{seed}:{kind}"), [], []
    table, _ = measure_batch(stand_in.slow_measure(()), list(sources.read_examples("pairs", source)))
    begun = time.perf_counter()
    for moment in range(moments):
        shares.append(round(0.8 * draw.random(), 2))
        try:
            ended = KINDS[kind](source, root / f"{kind}-{moment}", address, shares[-1])
            pd.testing.assert_frame_equal(ended.frame(), table)
            if kind == "worker" and not ended.restarts:
                wrong.append((moment, "no worker was started again"))
        except Exception as error:  # the other moments are tried all the same
            wrong.append((moment, repr(error)[:1000]))
    return {"killed": kind, "after": shares, "seconds": round(time.perf_counter() - begun), "wrong": wrong}


KINDS = {"driver": kill_driver, "worker": kill_worker}


def main() -> int:
    """Prints a line of JSON for each kind of kill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["driver", "worker"])
    parser.add_argument("--moments", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drive", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    ray.cloudpickle.register_pickle_by_value(stand_in)
    if options.drive:
        file, folder, address = options.drive
        job(sources.file_source(Path(file)), Path(folder), address).run()
        return 0
    nodes = Simulated(initialize_head=True, head_node_args={"num_cpus": 3, "include_dashboard": False})
    nodes.add_node(num_cpus=3)
    failed = False
    with TemporaryDirectory() as folder:
        file = Path(folder, "rows.jsonl")
        rows = ({"id": f"r{i}", "text_a": f"row {i}", "text_b": "b", "label": i % 2} for i in range(ROWS))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        for kind in options.kinds:
            source = sources.file_source(file)
            report = kill_at_random(kind, options.moments, options.seed, source, Path(folder), nodes.address)
            failed |= bool(report["wrong"])
            print(json.dumps(report), flush=True)
    ray.shutdown()
    nodes.shutdown()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
