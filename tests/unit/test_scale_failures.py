"""A worker that cannot train, and a cluster that is lost, end `train` and `sweep` on Ray in one line."""

from __future__ import annotations

import queue
import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from triattn_core.checkpoint.config import read_config
from triattn_core.errors import ConfigError, DataError
from triattn_core.scale import on_ray, train
from triattn_core.scale.on_ray import Cluster
from triattn_core.training import command
from triattn_core.training import sweep as sweeps

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")

CONFIG = Path(__file__).parents[2] / "checkpoints" / "quora" / "quora-bi-living" / "config.json"
LOST = ray.exceptions.RayActorError(error_msg="The actor died.\nIts node was terminated.")


def fail(error, *_, **__):
    raise error


@pytest.fixture
def order(tmp_path) -> train.Order:
    return train.Order((), tmp_path, tmp_path, "triattn train", Path.cwd(), socket.gethostname())


def work(monkeypatch, order: train.Order, rank: int, events: queue.Queue) -> None:
    """What the worker `rank` does."""
    import ray.train

    monkeypatch.setattr(ray.train, "get_context", lambda: SimpleNamespace(get_world_rank=lambda: rank))
    train.work({"order": order, "events": events})


@pytest.mark.parametrize("rank", [0, 1])
def test_each_worker_reports_why_it_cannot_train(order, monkeypatch, rank):
    monkeypatch.setattr(command, "read_configs", lambda *_: fail(DataError("there is no encoder 'tiny'")))
    events: queue.Queue = queue.Queue()
    work(monkeypatch, order, rank, events)
    *started, error = events.queue
    assert started == ["started"] * (rank == 0)
    assert isinstance(error, DataError) and str(error) == "there is no encoder 'tiny'"


def test_a_machine_without_the_folder_of_the_command_says_so(order, monkeypatch):
    events: queue.Queue = queue.Queue()
    work(monkeypatch, replace(order, folder=order.folder / "missing"), 1, events)
    (error,) = events.queue
    assert isinstance(error, ConfigError)
    assert str(error).endswith("missing: No such file or directory; the workers must see the folder of the command")


def test_the_error_of_another_machine_names_it(order, monkeypatch):
    monkeypatch.setattr(command, "read_configs", lambda *_: fail(DataError("there is no encoder 'tiny'")))
    monkeypatch.setattr(socket, "gethostname", lambda: "node-2")
    events: queue.Queue = queue.Queue()
    work(monkeypatch, order, 1, events)
    (error,) = events.queue
    assert isinstance(error, DataError) and str(error) == "node-2: there is no encoder 'tiny'"


class Events(queue.Queue):
    """Ray's queue, without Ray; `lost`: the method that fails as it does when the cluster is gone."""

    lost = ""

    def __init__(self, **_):
        super().__init__()

    def get(self, block=True, timeout=None):
        return fail(LOST) if self.lost == "get" else super().get(block, timeout)

    def empty(self):
        return fail(LOST) if self.lost == "empty" else super().empty()

    def shutdown(self):
        return fail(LOST) if self.lost else None


def test_an_error_ends_the_training_at_once_and_stops_its_workers(order, monkeypatch):
    """The first worker waits for the other one, which has ended: the task goes on."""
    left: list[bool] = []
    events = Events()
    events.put("started")
    events.put(DataError("no row"))
    use_task(monkeypatch, ended=[])
    monkeypatch.setattr("ray.util.queue.Queue", lambda **_: events)
    monkeypatch.setattr(on_ray, "leave", lambda: left.append(True))
    with pytest.raises(DataError, match="no row"):
        list(train.run_trainer(order, Cluster()))
    assert left == [True]


def use_task(monkeypatch, ended: list[str], error: Exception | None = None) -> None:
    """A task of Ray's that has ended, or goes on; error: what it raises."""
    task = SimpleNamespace(options=lambda **_: task, remote=lambda *_: "task")
    monkeypatch.setattr(ray, "remote", lambda **_: lambda _: task)
    monkeypatch.setattr(ray, "wait", lambda tasks, **_: (ended, tasks))
    monkeypatch.setattr(ray, "get", lambda _: error and fail(error))


@pytest.mark.parametrize("method", ["get", "empty"])
def test_a_lost_cluster_ends_a_training_in_one_line(method):
    events = Events()
    events.lost = method
    with pytest.raises(ConfigError) as raised:
        list(train.worker_events(lambda: method == "empty", events))
    assert str(raised.value) == (
        "--engine ray: the cluster was lost (Its node was terminated); the same command with --resume goes on"
    )


def test_a_training_whose_workers_died_too_often_says_how_it_goes_on(monkeypatch):
    use_task(monkeypatch, ["task"], ray.exceptions.RayError("failed\na worker died."))
    with pytest.raises(ConfigError) as raised:
        train.has_ended("task")
    assert str(raised.value) == (
        "--engine ray: the training ended (a worker died); the same command with --resume goes on"
    )


@pytest.mark.parametrize(
    ("function", "line"), [
        ("remote", "--engine ray: the cluster was lost (Its node was terminated)"),
        ("wait", "--engine ray: the cluster was lost (Its node was terminated)"),
        ("get", "--engine ray: a/config.json was not trained (Its node was terminated)"),
    ],
)  # fmt: skip
def test_a_lost_cluster_ends_a_sweep_in_one_line(monkeypatch, function, line):
    task = SimpleNamespace(options=lambda **_: task, remote=lambda *_: fail(LOST) if function == "remote" else "task")
    monkeypatch.setattr(ray, "remote", lambda **_: lambda _: task)
    monkeypatch.setattr(ray, "wait", lambda tasks, **_: fail(LOST) if function == "wait" else (tasks, []))
    monkeypatch.setattr(ray, "get", lambda _: fail(LOST))
    folder = Path("a")
    request = sweeps.Request((), (), (), None, False, folder, folder, True, "triattn sweep")
    variant = sweeps.Variant(folder / "config.json", {}, read_config(CONFIG), ("dev",))
    with pytest.raises(ConfigError) as raised:
        list(train.train_variants(sweeps.Plan(((variant, "digest", (1,)),), folder, folder), request, Cluster()))
    assert str(raised.value) == f"{line}; the same command with --resume goes on"
