"""Ray Data: rows are read, mapped by workers that load the checkpoints once, and written; resumable by row.

Ray keeps account of the rows that were written (its checkpoint of the id column `row`), so that a run that was killed
goes on; it starts a worker that died again.  Imported where it is asked for: `pip install 'triattn[scale]'`.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from triattn_core.errors import ConfigError, DataError
from triattn_core.scale.worker import Work, Worker, count_alive

BATCH = 512  # rows that a worker sorts by length together, as `case_table.WINDOW`
BLOCK = 1 << 19  # bytes: one block is one checkpoint, so this is how much work a kill can cost each worker
BESIDE = 4  # places on a cluster of our own, beside those of the workers, for what reads, filters and writes
ANSWER = 5.0  # seconds within which the port of a cluster is reached
POLL = 1.0  # seconds between looks at what was written


@dataclass(frozen=True)
class Cluster:
    """address: of a running cluster, or None for one of this machine's own.  workers: how many, each with its own copy
    of the checkpoints and one core, or one GPU where the checkpoints are asked for on a GPU."""

    address: str | None = None
    workers: int = 1
    gpus: float = 0.0


def connect(cluster: Cluster) -> None:
    """Join the cluster, or start one here.  Raises ConfigError: Ray is not installed, or no cluster answers."""
    try:
        import ray
    except ImportError:
        raise ConfigError("--engine ray needs Ray: pip install 'triattn[scale]'") from None
    if ray.is_initialized():
        return
    _require_listener(cluster.address)
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    joined: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    local_options = joined | {"num_cpus": cluster.workers + BESIDE, "include_dashboard": False}
    try:
        ray.init(address=cluster.address or "local", **(local_options if cluster.address is None else joined))
    except (ConnectionError, ValueError) as error:
        raise ConfigError(f"--address {cluster.address}: no Ray cluster there ({str(error).splitlines()[0]})") from None


def _require_listener(address: str | None) -> None:
    """Raises ConfigError if nothing listens at host:port, for which Ray would wait more than a minute."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
        except (OSError, OverflowError) as error:
            raise ConfigError(f"--address {address}: no Ray cluster there ({error})") from None


def environment() -> dict[str, str]:
    """The variables of this process by which workers find checkpoints and encoders."""
    return {name: value for name, value in os.environ.items() if name.startswith(("TRIATTN_", "HF_"))}


def map_rows(
    rows: int, folder: Path, work: Work, schema: pa.Schema, cluster: Cluster, report: Callable[[int, int], None]
) -> None:
    """Map so many rows from `folder`/rows to `folder`/parts; what is there already is not computed again.

    report: called with the number of rows written so far and of workers that live, at first with those of earlier runs.
    Raises DataError for what ends the
    whole job.
    """
    import ray
    from ray.data.checkpoint import CheckpointConfig

    workers = folder / "workers"
    workers.mkdir(parents=True, exist_ok=True)
    context = ray.data.DataContext.get_current()
    context.target_max_block_size = BLOCK
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"ray\.data\.")  # of Ray's own settings, and of fewer rows than workers
    context.checkpoint_config = CheckpointConfig(
        id_column="row", checkpoint_path=str(folder / "checkpoint"), delete_checkpoint_on_success=False
    )
    done = threading.Event()
    counts: dict[str, int] = {}
    report(_count_rows(folder / "parts", counts), count_alive(workers))
    watch = threading.Thread(target=_report_finished_rows, args=(folder, report, done, counts), daemon=True)
    watch.start()
    try:
        blocks = max(len(os.listdir(folder / "rows")), min(4 * cluster.workers, rows // BATCH + 1))
        data = ray.data.read_parquet(str(folder / "rows"), override_num_blocks=blocks)
        data = data.map_batches(
            Worker,
            fn_constructor_args=(work, schema, workers),
            batch_format="pyarrow",
            batch_size=BATCH,
            num_cpus=1,
            num_gpus=cluster.gpus,
            compute=ray.data.ActorPoolStrategy(size=cluster.workers),
            runtime_env={"env_vars": environment()},
        )
        data.write_parquet(str(folder / "parts"), mode=ray.data.SaveMode.APPEND)
    except ray.exceptions.RayError as error:  # a worker that cannot begin, a cluster that is gone
        raise DataError(f"the workers ended: {_reason(error)}") from error
    finally:
        done.set()
        watch.join()


def _reason(error: Exception) -> str:
    """What a worker raised, in one line: an error of ours, or else the last line of what Ray says."""
    lines = str(error).strip().splitlines()
    ours = [line.partition(": ")[2] for line in lines if line.startswith("triattn_core.errors.")]
    return (ours or lines)[-1]


def starts(folder: Path) -> int:
    """How many workers have started so far, in all runs of a job."""
    return len(list((folder / "workers").glob("*.json")))


def _report_finished_rows(
    job: Path, report: Callable[[int, int], None], done: threading.Event, counts: dict[str, int]
) -> None:
    """Reports the rows of finished files and the workers that live."""
    last = False
    while not last:
        last = done.wait(POLL)
        report(_count_rows(job / "parts", counts), count_alive(job / "workers"))


def _count_rows(folder: Path, counts: dict[str, int]) -> int:
    """The rows of finished files, each opened once; counts: those of files by name, which is added to."""
    for file in os.scandir(folder) if folder.is_dir() else ():
        if file.name.endswith(".parquet") and file.name not in counts:
            try:
                counts[file.name] = pq.read_metadata(file.path).num_rows
            except (OSError, pa.ArrowException):
                continue  # being written
    return sum(counts.values())
