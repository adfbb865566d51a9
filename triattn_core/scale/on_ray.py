"""Ray Data: rows are read, mapped by workers that load the checkpoints once, and written; resumable by row.

Ray keeps account of the rows that were written (its checkpoint of the id column `row`), so that a run that was killed
goes on; it starts a worker that died again.  Imported where it is asked for: `pip install -e '.[scale]'`.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.device import VARIABLE
from triattn_core.scale.worker import Work, Worker, count_alive

BATCH = 512  # rows that a worker sorts by length together, as `case_table.WINDOW`
BLOCK = 1 << 19  # bytes: one block is one checkpoint, so this is how much work a kill can cost each worker
BESIDE = 3  # places on a cluster of our own, beside those of the workers, for what reads, filters and writes
LEAST_BESIDE = 2  # on any cluster: a job that is resumed filters its rows while it reads them
FILTER_MEMORY = 1 << 28  # bytes that Ray sets aside for that filter, at least
VARIABLES = (  # of the command that its workers get; Ray logs them, so never a password or a token
    *("TRIATTN_CHECKPOINTS", "TRIATTN_DEVICE", "TRIATTN_HUB"),
    *("HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
)
ANSWER = 5.0  # seconds within which the port of a cluster is reached
POLL = 1.0  # seconds between looks at what was written


@dataclass(frozen=True)
class Cluster:
    """address: of a running cluster, or None for one of this machine's own.  workers: how many, each with its own copy
    of the checkpoints and one core.  gpus: of each worker; None: one where the cluster has any."""

    address: str | None = None
    workers: int = 1
    gpus: float | None = 0.0


def connect(cluster: Cluster) -> Cluster:
    """Join the cluster, or start one here; returns it with the number of GPUs of a worker.

    Raises ConfigError: Ray is not installed, no cluster answers, or it does not let this process join.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # read at the import
    try:
        import ray
    except ImportError:
        raise ConfigError("--engine ray needs Ray: pip install -e '.[scale]' in the project's folder") from None
    if not ray.is_initialized():
        _require_listener(cluster.address)
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if cluster.address is None:
            options |= {"num_cpus": cluster.workers + BESIDE, "include_dashboard": False}
        try:
            ray.init(address=cluster.address or "local", **options)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise ConfigError(_explain_failure(cluster.address, error)) from None
    if cluster.gpus is None:
        return replace(cluster, gpus=1.0 if ray.cluster_resources().get("GPU", 0) >= 1 else 0.0)
    return cluster


def leave() -> None:
    """Leave the cluster, which ends what this process started on it; nothing happens if the cluster is gone."""
    import ray

    with suppress(Exception):
        ray.shutdown()


def _explain_failure(address: str | None, error: Exception) -> str:
    """Why `ray.init` failed, in one line."""
    reason = " ".join(str(error).split()) or type(error).__name__
    if address is None:
        return f"--engine ray: Ray cannot start on this machine ({reason})"
    if isinstance(error, (ConnectionError, ValueError)):
        token = "" if os.environ.get("RAY_AUTH_MODE") == "token" else "; if it has a token, set RAY_AUTH_MODE=token"
        return f"--address {address}: no Ray cluster there ({str(error).splitlines()[0]}){token}"
    return f"--address {address}: the Ray cluster cannot be joined ({reason})"


def require_room(cluster: Cluster, cores: int) -> None:
    """Raises ConfigError if the cluster has too few cores or GPUs in all, for which Ray would wait for ever; those that
    others use now are waited for.

    cores: of all workers, and of what reads the rows beside them.
    """
    import ray

    where = "--engine ray: this machine" if cluster.address is None else f"--address {cluster.address}: the cluster"
    resources = ray.cluster_resources()
    available = {"core": int(resources.get("CPU", 0)), "GPU": int(resources.get("GPU", 0))}
    required = {"core": cores, "GPU": int(cluster.workers * (cluster.gpus or 0))}
    for kind in required:
        if required[kind] <= available[kind]:
            continue
        most = cluster.workers - (required[kind] - available[kind])
        remedies = [f"pass --workers {most}"] * (most > 0) + ["start more nodes"] * (cluster.address is not None)
        remedies += ["pass --device cpu"] * (kind == "GPU")
        reading = cores - cluster.workers if kind == "core" else 0
        beside = f", {reading} of them to read the rows" if reading else ""
        has = f"{available[kind]} {kind}{'s' * (available[kind] != 1)}"
        needs = f"--workers {cluster.workers} needs {required[kind]}{beside}"
        raise ConfigError(f"{where} has {has}, and {needs}; {' or '.join(remedies)}")


def _require_listener(address: str | None) -> None:
    """Raises ConfigError if nothing listens at host:port, for which Ray would wait more than a minute."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
        except (OSError, OverflowError) as error:
            raise ConfigError(f"--address {address}: no Ray cluster there ({error})") from None


def environment(cluster: Cluster) -> dict[str, str]:
    """The variables of this process by which workers find checkpoints and encoders; those with a GPU use it."""
    variables = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    return variables | ({VARIABLE: "cuda"} if cluster.gpus else {})


def map_rows(
    rows: int, folder: Path, work: Work, schema: pa.Schema, cluster: Cluster, report: Callable[[int, int], None]
) -> None:
    """Map so many rows from `folder`/rows to `folder`/parts; what is there already is not computed again.

    report: called with the number of rows written so far and of workers that live, at first with those of earlier runs.
    Raises DataError for what ends the whole job.
    """
    import ray
    from ray.data.checkpoint import CheckpointConfig

    workers = folder / "workers"
    workers.mkdir(parents=True, exist_ok=True)
    for note in [*workers.glob("failed-*"), *workers.glob("starting-*")]:  # of earlier runs
        note.unlink(missing_ok=True)
    context = ray.data.DataContext.get_current()
    context.target_max_block_size = BLOCK
    context.use_datasource_v2 = False  # which starts 32 processes to read the footers of our few files
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"ray\.data\.")  # of Ray's own settings, and of fewer rows than workers
    context.checkpoint_config = CheckpointConfig(
        id_column="row", checkpoint_path=str(folder / "checkpoint"), delete_checkpoint_on_success=False
    )
    context.checkpoint_config.checkpoint_actor_pool_max_size = 1
    context.checkpoint_config.checkpoint_actor_memory_bytes = FILTER_MEMORY
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
            fn_constructor_args=(work, schema, workers, uuid.uuid4().hex[:8], cluster.workers),
            batch_format="pyarrow",
            batch_size=BATCH,
            num_cpus=1,
            num_gpus=cluster.gpus or 0,
            compute=ray.data.ActorPoolStrategy(size=cluster.workers),
            runtime_env={"env_vars": environment(cluster)},
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
