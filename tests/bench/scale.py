"""Ray against one process, in one run: time of a job by number of workers, and the driver's memory.

`python -m tests.bench.scale --rows 100000 --workers 1 2` runs a stand-in of the cost of a model (`--cost`, seconds of
work a row), with all columns of a table of three checkpoints, stored as `triattn cases` stores it; `--checkpoints NAME
NAME` runs `triattn cases` instead, on the project's own pairs, repeated.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import psutil
import pyarrow as pa
import ray
from ray.cluster_utils import Cluster as Simulated

from tests.bench.large_tables import NAMES
from tests.bench.large_tables import about as made_info
from tests.support import stand_in
from triattn_core.analysis import measures
from triattn_core.analysis.mining import case_table, sources
from triattn_core.analysis.mining.runs import table_info
from triattn_core.checkpoint.bundle import load
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import BESIDE, Cluster
from triattn_core.scale.worker import Work
from triattn_core.tasks import pairs

WINDOW = 512  # rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--cost", type=float, default=0.0, help="seconds of a core that the stand-in takes for a row")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--checkpoints", nargs="+", default=[])
    parser.add_argument("--sleep", action="store_true", help="the stand-in sleeps and takes no core")
    parser.add_argument("--nodes", type=int, default=0, help="simulated nodes (default: one, Ray's own)")
    parser.add_argument("--no-local", action="store_true", help="leave out the run in one process")
    options = parser.parse_args()
    ray.cloudpickle.register_pickle_by_value(stand_in)
    bundles = [load(name) for name in options.checkpoints]
    measure = (
        measures.cases
        if bundles
        else partial(
            stand_in.mined_measure, checkpoints=tuple(NAMES.items()), seconds=options.cost, busy=not options.sleep
        )
    )
    work = Work(measure, tuple(str(bundle.path) for bundle in bundles), None, "pairs")
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder, "rows.jsonl"), options.rows)
        about = table_info(bundles, source, options.rows, True, (), 0.0, "") if bundles else made_info(options.rows)
        seconds = None if options.no_local else local(source, measure(bundles), Path(folder, "local.parquet"), about)
        if seconds is not None:
            print(f"one process  {seconds:8.1f} s  {options.rows / seconds:10.0f} rows/s", flush=True)
        for workers in options.workers:
            with cluster_of(options.nodes, workers) as address, peak_memory() as peak:
                took, rows = on_ray(work, bundles, source, Cluster(address, workers), Path(folder, "job"), about)
            ratio = "" if seconds is None else f"  {seconds / took:5.2f} times one process"
            print(f"{workers} workers    {took:8.1f} s  {rows / took:10.0f} rows/s{ratio}", flush=True)
            print(f"             at most {peak[0] / 2**30:.2f} GiB in all processes", flush=True)
    driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"driver's peak memory {driver:.2f} GiB")


@contextmanager
def cluster_of(nodes: int, workers: int) -> Iterator[str | None]:
    """The address of so many simulated nodes with a place for each worker; None for none."""
    if not nodes:
        yield None
        return
    places = {"num_cpus": -(-workers // nodes) + BESIDE}
    simulated = Simulated(initialize_head=True, head_node_args={**places, "include_dashboard": False})
    for _ in range(nodes - 1):
        simulated.add_node(**places)
    yield simulated.address
    simulated.shutdown()


@contextmanager
def peak_memory(every: float = 2.0) -> Iterator[list[int]]:
    """The most bytes that this process and all below it hold together; what they share is counted once."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(every):
            held = 0
            for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
                with suppress(psutil.Error):
                    held += process.memory_full_info().pss
            peak[0] = max(peak[0], held)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield peak
    done.set()
    thread.join()


def write(file: Path, rows: int) -> sources.Source:
    """A file of so many rows: the project's pairs over and over."""
    texts = cycle(pairs.row(example) for example in pairs.examples("en"))
    with open(file, "w", encoding="utf-8") as out:
        for i, row in enumerate(islice(texts, rows)):
            out.write(json.dumps(row | {"id": f"r{i}"}) + "\n")
    return sources.file_source(file)


def local(source: sources.Source, over, out: Path, about: case_table.TableInfo) -> float:
    """Seconds of one process from the file to the table, streaming."""
    start, rows = time.perf_counter(), sources.read_examples("pairs", source)
    windows = iter(lambda: list(islice(rows, WINDOW)), [])
    tables = (pa.Table.from_pandas(over(window), preserve_index=False) for window in windows)
    case_table.write_parts(out, tables, about)
    return time.perf_counter() - start


def on_ray(
    work: Work, bundles, source: sources.Source, cluster: Cluster, folder: Path, about: case_table.TableInfo
) -> tuple[float, int]:
    """Seconds from the file to the table with workers that are started first, and the rows of the table."""
    job = RayJob(work, bundles, source, cluster, folder=folder)
    start = time.perf_counter()
    job.run()
    case_table.write_parts(folder / "table.parquet", job.tables(), about)
    count = len(case_table.open_cases(folder / "table.parquet").rows)
    took = time.perf_counter() - start
    ray.shutdown()
    shutil.rmtree(folder)
    return took, count


if __name__ == "__main__":
    main()
