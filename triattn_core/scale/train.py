"""Training on Ray's workers: one training shared by several, or the variants of a sweep one a worker.

Every worker sees the same folders of data, runs and checkpoints under the same paths.  States are those of any
training, so that a run may begin here and go on there.
"""

from __future__ import annotations

import os
import queue
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from triattn_core.errors import ConfigError, TriattnError
from triattn_core.scale import on_ray
from triattn_core.scale.on_ray import Cluster
from triattn_core.training import command
from triattn_core.training import sweep as sweeps
from triattn_core.training.loop import Event, remove_run

RESTARTS = 8  # how often workers are started again
WAIT = 0.5  # seconds between looks at whether the workers have ended


@dataclass(frozen=True)
class Order:
    """What the workers are asked for, as `command.train` takes it."""

    paths: tuple[Path, ...]
    data: Path
    runs: Path
    command: str
    folder: Path  # where the command was given: relative folders of results lie there
    host: str  # where the command was given; an error from elsewhere names its machine


def train(
    paths: Sequence[Path], data: Path, runs: Path, resume: bool, command_line: str, cluster: Cluster
) -> Iterator[Event]:
    """Train each of `paths` in turn as `command.train` does, each batch shared by all workers of the cluster.

    When a worker dies, all start again from the last state, and an event of kind `note` says so.  Configs and data are
    checked, and the cluster joined, before anything is removed.  Raises ConfigError: no Ray, no cluster, a wrong
    config, or more than RESTARTS deaths; DataError: a data set that is not in `data`.
    """
    configs, runs = command.read_configs(paths, data), runs.resolve()
    with command.lock_configs(configs, runs):  # here, and not by the workers
        cluster = on_ray.connect(cluster)
        on_ray.require_room(cluster, 0 if cluster.gpus else cluster.workers)
        if not resume:  # workers always resume, for they cannot know whether one of them has died
            for path, config in configs:
                for run in command.run_folders(path, config, runs):
                    remove_run(run)
        order = Order(
            tuple(path for path, _ in configs), data.resolve(), runs, command_line, Path.cwd(), socket.gethostname()
        )
        yield from run_trainer(order, cluster)


def run_trainer(order: Order, cluster: Cluster) -> Iterator[Event]:
    """The events of a training on the cluster that is joined; an error stops its workers.

    The trainer runs in a task: a thread of this process that waits for it may crash when the cluster is left.
    """
    import ray
    from ray.util.queue import Queue

    events, notes = Queue(actor_options={"num_cpus": 0}), order.runs / f"ray-{uuid4().hex[:8]}"
    try:
        task = ray.remote(num_cpus=0, max_retries=0)(fit)
        task = task.options(runtime_env={"env_vars": on_ray.environment(cluster)})
        yield from worker_events(partial(has_ended, task.remote(order, events, cluster, notes)), events)
        events.shutdown()
    except BaseException:
        on_ray.leave()
        raise
    finally:
        shutil.rmtree(notes, ignore_errors=True)


def sweep(request: sweeps.Request, cluster: Cluster) -> Iterator[Event]:
    """As `triattn_core.training.sweep.sweep`, each variant on a worker of the cluster; what it cannot do is raised
    once the others are recorded."""
    command.prepare()
    plan = sweeps.plan(request)
    with plan.lock():
        cluster = on_ray.connect(cluster)
        on_ray.require_room(replace(cluster, workers=1), 1)  # what does not fit waits its turn
        if not request.resume:
            for _, digest, seeds in plan.variants:
                for seed in seeds:
                    remove_run(plan.run(digest, seed))
        plan.remove_recorded()
        yield from plan.notes()
        # What an earlier worker of a variant has done is not done again.
        yield from train_variants(plan, replace(request, data=request.data.resolve(), resume=True), cluster)


def train_variants(plan: sweeps.Plan, request: sweeps.Request, cluster: Cluster) -> Iterator[Event]:
    """Train what is not recorded yet, at most `cluster.workers` variants at a time; an event for each record."""
    import ray

    task = ray.remote(num_cpus=1, num_gpus=cluster.gpus or 0, max_retries=RESTARTS)(train_variant)
    task = task.options(runtime_env={"env_vars": on_ray.environment(cluster)})
    missing = ((number, *variant) for number, variant in enumerate(plan.variants, 1) if variant[2])
    tasks: dict[Any, tuple[int, sweeps.Variant, str]] = {}
    problem = None
    while True:
        with _cluster_errors():
            for number, variant, digest, seeds in islice(missing, cluster.workers - len(tasks)):
                tasks[task.remote(variant, seeds, plan, request, Path.cwd())] = number, variant, digest
            if not tasks:
                break
            (ready,), _ = ray.wait(list(tasks), num_returns=1)
        number, variant, digest = tasks.pop(ready)
        try:
            record = ray.get(ready)
        except ray.exceptions.RayTaskError as error:  # what the variant raised
            problem = problem or ConfigError(f"{variant.path}: {str(error).strip().splitlines()[-1]}")
            continue
        except ray.exceptions.RayError as error:  # its worker or the cluster is gone
            problem = problem or _lost(f"{variant.path} was not trained", error)
            continue
        yield sweeps.store(plan, variant, digest, record, number)
    if problem:
        raise problem


def train_variant(
    variant: sweeps.Variant, seeds: Sequence[int], plan: sweeps.Plan, request: sweeps.Request, folder: Path
) -> dict:
    """The record of a variant, trained and measured by one worker."""
    _enter(folder)
    command.prepare()
    events = sweeps.train_variant(variant, seeds, plan, request)
    while True:
        try:
            next(events)
        except StopIteration as end:
            return end.value


def make_trainer(order: Order, events: Any, cluster: Cluster, notes: Path) -> Any:
    """Ray's trainer, in whose workers `work` runs.  events: a queue of Ray's.  notes: a folder for its own account."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    variables = on_ray.environment(cluster)
    if not cluster.gpus:
        variables["ACCELERATE_USE_CPU"] = "true"  # else each worker would train alone
    return TorchTrainer(
        work,
        train_loop_config={"order": order, "events": events},
        scaling_config=ScalingConfig(num_workers=cluster.workers, use_gpu=bool(cluster.gpus)),
        run_config=RunConfig(
            name=notes.name,
            storage_path=str(notes.parent),
            failure_config=FailureConfig(max_failures=RESTARTS),
            worker_runtime_env={"env_vars": variables},  # type: ignore[call-arg]  # its stubs are of an older form
        ),
    )


def work(config: dict) -> None:
    """What each worker runs; the first one tells what happens, and each tells what it cannot do."""
    import ray.train

    order, events = config["order"], config["events"]
    first = ray.train.get_context().get_world_rank() == 0
    if first:
        events.put("started")
    try:
        _enter(order.folder)
        command.prepare()
        configs = command.read_configs(order.paths, order.data)
        for event in command.train_configs(configs, order.data, order.runs, True, order.command):
            if first:
                events.put(event)
    except TriattnError as error:  # another start would not help
        host = socket.gethostname()
        events.put(error if host == order.host else type(error)(f"{host}: {error}"))


def _enter(folder: Path) -> None:
    """Go to the folder where the command was given.  Raises ConfigError if this machine has none."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigError(f"{folder}: {error.strerror}; the workers must see the folder of the command") from None


def fit(order: Order, events: Any, cluster: Cluster, notes: Path) -> None:
    """What the task runs: a training, from its beginning to its end."""
    make_trainer(order, events, cluster, notes).fit()


def has_ended(task: Any) -> bool:
    """Whether a task has ended.  Raises ConfigError for what ended it early."""
    import ray

    with _cluster_errors():
        ended, _ = ray.wait([task], timeout=0)
    try:
        ray.get(ended)
    except ray.exceptions.RayError as error:
        raise _lost("the training ended", error) from error
    return bool(ended)


def worker_events(has_ended: Callable[[], bool], events: Any) -> Iterator[Event]:
    """The events of the workers until the training has ended.  Raises the first error of any worker, without waiting
    for the others, and ConfigError if the cluster is lost."""
    starts = 0
    while not has_ended() or not _is_empty(events):
        event = _next_event(events)
        if event is None:
            continue
        if isinstance(event, TriattnError):
            raise event  # the other workers wait for that one, until this process leaves the cluster
        if isinstance(event, Event):
            yield event
        else:
            starts += 1
            if starts > 1:
                yield Event("note", 0, 0, {"workers started again": starts - 1})


def _next_event(events: Any) -> Any:
    """The next event of the workers, or None if there is none within WAIT seconds.  Raises ConfigError."""
    with _cluster_errors():
        try:
            return events.get(timeout=WAIT)
        except queue.Empty:
            return None


def _is_empty(events: Any) -> bool:
    with _cluster_errors():
        return events.empty()


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Raises ConfigError for what Ray raises when the cluster is gone."""
    from ray.exceptions import RayError

    try:
        yield
    except RayError as error:
        raise _lost("the cluster was lost", error) from error


def _lost(what: str, error: BaseException) -> ConfigError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip().rstrip(".")
    return ConfigError(f"--engine ray: {what} ({reason}); the same command with --resume goes on")
