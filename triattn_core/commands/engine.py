"""`--engine ray`: the same command on many cores or machines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.analysis.measures import Measure
    from triattn_core.analysis.mining.sources import Source
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.scale.job import RayJob
    from triattn_core.scale.on_ray import Cluster

WORKERS = 2  # unless they are asked for
LATE = 30.0  # seconds after which the line says why no worker may live yet


def arguments(parser: argparse.ArgumentParser, work: bool = True) -> None:
    """Add the options; work: also the folder of a job over rows."""
    group = parser.add_argument_group("many cores or machines", "see docs/scale.md")
    text = "run in this process or on Ray workers (default: local)"
    group.add_argument("--engine", choices=("local", "ray"), default="local", help=text)
    text = "address of a running Ray cluster, or auto (default: start one on this machine)"
    group.add_argument("--address", help=text)
    text = "number of Ray workers, one core or one GPU each (default: 2, or 1 if this machine has one GPU)"
    group.add_argument("--workers", type=int, metavar="N", help=text)
    if not work:
        return
    text = "folder for intermediate results, reachable from all workers (default: under runs/ray)"
    group.add_argument("--work", type=Path, metavar="FOLDER", help=text)


def row_count(text: str) -> int:
    """The value of `--rows`."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rows: at least 1")
    return int(text)


def loading_device(options: argparse.Namespace) -> str | None:
    """Where this process loads the checkpoints: for Ray's workers, which load their own, it only asks their columns."""
    return "cpu" if options.engine == "ray" else options.device


def is_ray(options: argparse.Namespace) -> bool:
    """Whether Ray is asked for.  Raises DataError for options that need it."""
    if options.engine == "ray":
        if options.workers is not None and options.workers < 1:
            raise DataError(f"--workers {options.workers}: at least one")
        return True
    if options.address or getattr(options, "work", None) or options.workers is not None:
        raise DataError("--address, --workers and --work belong to --engine ray: add it")
    return False


def cluster(options: argparse.Namespace) -> Cluster:
    """The cluster that is asked for: with a GPU a worker where the device that is asked for, or else that of this
    machine, is one; a cluster that is joined decides by itself if no device is asked for.

    Raises ConfigError for a device that this machine has not, unless a cluster is joined.
    """
    from triattn_core.inference.device import VARIABLE, choose_device, gpu_count
    from triattn_core.scale.on_ray import Cluster

    device = options.device or os.environ.get(VARIABLE, "").strip().lower()
    if options.address and not device:
        return Cluster(options.address, options.workers or WORKERS, None)
    gpus = 1.0 if (device if options.address else choose_device(device)).startswith("cuda") else 0.0
    most = WORKERS if options.address or not gpus else min(WORKERS, gpu_count())
    return Cluster(options.address, options.workers or most, gpus)


def alive_text(alive: int, seconds: float) -> str:
    """The workers that live, `seconds` after the start of a job, and why there may be none for so long."""
    return "0 (loading, or waiting for free cores)" if not alive and seconds > LATE else str(alive)


def run(
    options: argparse.Namespace,
    measure: Measure,
    bundles: Sequence[Bundle],
    source: Source,
    max_rows: int | None = None,
) -> RayJob:
    """Runs a job on Ray with a progress line; returns it."""
    from triattn_core.commands import progress_line
    from triattn_core.scale import on_ray
    from triattn_core.scale.job import RayJob
    from triattn_core.scale.worker import Work

    first = bundles[0]
    names = tuple(str(bundle.path.resolve()) for bundle in bundles)
    place = cluster(options)
    if place.gpus is None:
        with redirect_stdout(sys.stderr):  # Ray's own messages are no output
            place = on_ray.connect(place)
    device = "cuda" if place.gpus else options.device  # each worker sees its own GPU alone
    work = Work(measure, names, device, first.task.NAME, first.config.language)
    job = RayJob(work, bundles, source, place, max_rows, options.work)
    if job.earlier:
        print(f"triattn: {job.earlier}", file=sys.stderr)
    start = monotonic()
    try:
        with progress_line.bar(f"{place.workers} worker{'s' * (place.workers != 1)}") as bar:

            def report(done: int, rows: int, alive: int) -> None:
                if bar.total is None:  # the first report: what was done before
                    progress_line.resume_at(bar, done)
                bar.total = rows
                bar.set_postfix(alive=alive_text(alive, monotonic() - start), refresh=False)
                bar.update(done - bar.n)

            with redirect_stdout(sys.stderr):
                job.run(report)
    except KeyboardInterrupt:
        print(f"triattn: stopped; run the same command again to resume from {job.folder}", file=sys.stderr)
        raise
    if job.restarts:
        print(f"triattn: {job.restarts} workers were started again", file=sys.stderr)
    return job
