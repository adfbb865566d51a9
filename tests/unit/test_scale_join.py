"""Joining a cluster, with made-up answers of Ray: what it has, the device of workers, refusals in one line."""

from __future__ import annotations

import socket
from argparse import Namespace

import pytest

from tests.support.evaluate_world import use_world
from triattn_core.__main__ import main
from triattn_core.commands import engine
from triattn_core.errors import ConfigError
from triattn_core.scale import on_ray
from triattn_core.scale.on_ray import Cluster

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
VERSIONS = (
    "Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.11.2\nThis process …:\n    Ray: 3\n"
)


@pytest.fixture
def joined(monkeypatch):
    """A cluster that answers `init` with an error, if there is one, and has `resources`."""
    world = {"error": None, "resources": {}}

    def init(**options):
        if world["error"]:
            raise world["error"]

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "cluster_resources", lambda: world["resources"])
    return world


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ray.exceptions.AuthenticationError("no token\nset one"), "the Ray cluster cannot be joined (no token set one"),
        (
            RuntimeError(VERSIONS),
            "the Ray cluster cannot be joined (Version mismatch: The cluster was started with: Ray: ",
        ),
        (OSError("disk full"), "the Ray cluster cannot be joined (disk full)"),
        (
            ConnectionError("not found\nmore"),
            "no Ray cluster there (not found); if it has a token, set RAY_AUTH_MODE=token",
        ),
    ],
)
def test_whatever_ray_says_to_a_new_driver_is_one_line(joined, monkeypatch, error, line):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    joined["error"] = error
    with pytest.raises(ConfigError) as raised:
        on_ray.connect(Cluster("auto", 2))
    assert str(raised.value).startswith(f"--address auto: {line}") and "\n" not in str(raised.value)
    with pytest.raises(ConfigError) as raised:
        on_ray.connect(Cluster(None, 2))
    assert str(raised.value).startswith("--engine ray: Ray cannot start on this machine (")


def test_an_address_at_which_no_cluster_answers_is_one_line_before_ray_waits_for_it(joined, tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with use_world(tmp_path) as root:
        command = ["evaluate", "bi", str(root / "rows.jsonl"), "--engine", "ray", "--address", f"127.0.0.1:{port}"]
        capsys.readouterr()
        assert main([*command, "--work", str(root / "work")]) == 1
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert printed.out == "" and line.startswith(f"triattn: --address 127.0.0.1:{port}: no Ray cluster there")


@pytest.mark.parametrize("option", [["--address", "auto"], ["--workers", "2"]])
def test_options_of_the_engine_without_it_are_one_line(capsys, tmp_path, option):
    assert main(["cases", "bi", "x.jsonl", "--out", str(tmp_path / "t"), *option]) == 1
    assert "--address, --workers and --work belong to --engine ray: add it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("resources", "workers", "gpus", "line"),
    [
        (
            {"CPU": 4.0},
            4,
            0,
            "has 4 cores, and --workers 4 needs 6, 2 of them to read the rows; pass --workers 2 or ",
        ),
        ({"CPU": 1.0}, 1, 0, "has 1 core, and --workers 1 needs 3, 2 of them to read the rows; start more nodes"),
        (
            {"CPU": 8.0, "GPU": 1.0},
            2,
            1,
            "has 1 GPU, and --workers 2 needs 2; pass --workers 1 or start more nodes or ",
        ),
        ({"CPU": 8.0}, 2, 1, "has 0 GPUs, and --workers 2 needs 2; start more nodes or pass --device cpu"),
        ({"CPU": 6.0}, 4, 0, None),
        ({"CPU": 6.0, "GPU": 4.0}, 4, 1, None),
    ],
)
def test_a_cluster_with_too_little_room_says_what_it_has_and_what_to_pass(joined, resources, workers, gpus, line):
    joined["resources"] = resources
    cluster = Cluster("auto", workers, float(gpus))
    if line is None:
        on_ray.require_room(cluster, workers + on_ray.LEAST_BESIDE)
        return
    with pytest.raises(ConfigError) as raised:
        on_ray.require_room(cluster, workers + on_ray.LEAST_BESIDE)
    assert str(raised.value).startswith(f"--address auto: the cluster {line}") and "\n" not in str(raised.value)


def test_too_few_gpus_of_this_machine_are_one_line_too(joined):
    joined["resources"] = {"CPU": 6.0, "GPU": 1.0}
    with pytest.raises(ConfigError) as raised:
        on_ray.require_room(Cluster(None, 2, 1.0), 4)
    line = "--engine ray: this machine has 1 GPU, and --workers 2 needs 2; pass --workers 1 or pass --device cpu"
    assert str(raised.value) == line


@pytest.mark.parametrize(
    ("address", "device", "variable", "gpus"),
    [
        ("auto", None, "", 1.0),  # the cluster has some, whatever this machine has
        ("auto", "cpu", "", 0.0),
        ("auto", None, "cpu", 0.0),
        ("auto", "cuda", "", 1.0),
        (None, None, "cpu", 0.0),
    ],
)
def test_the_device_is_that_which_is_asked_for_or_that_of_the_joined_cluster(
    joined, monkeypatch, address, device, variable, gpus
):
    joined["resources"] = {"CPU": 8.0, "GPU": 2.0}
    monkeypatch.setenv("TRIATTN_DEVICE", variable)
    cluster = on_ray.connect(engine.cluster(Namespace(address=address, device=device, workers=2)))
    assert cluster.gpus == gpus
    assert (on_ray.environment(cluster)["TRIATTN_DEVICE"] == "cuda") == (gpus > 0)
    joined["resources"] = {"CPU": 8.0}
    cluster = on_ray.connect(engine.cluster(Namespace(address="auto", device=None, workers=2)))
    assert cluster.gpus == 0.0


@pytest.mark.parametrize(("present", "asked", "workers"), [(1, None, 1), (4, None, 2), (1, 2, 2)])
def test_a_machine_with_one_gpu_has_one_worker_unless_more_are_asked_for(monkeypatch, present, asked, workers):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: present)
    monkeypatch.delenv("TRIATTN_DEVICE", raising=False)
    cluster = engine.cluster(Namespace(address=None, device=None, workers=asked))
    assert (cluster.workers, cluster.gpus) == (workers, 1.0)


def test_a_device_that_this_machine_has_not_is_refused(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ConfigError, match="is not on this machine"):
        engine.cluster(Namespace(address=None, device="cuda", workers=None))


def test_workers_get_no_password_or_token_for_ray_logs_what_they_get(monkeypatch):
    monkeypatch.setenv("TRIATTN_CASES", "postgresql+psycopg://triattn:secret@localhost/triattn")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", "/shared/checkpoints")
    variables = on_ray.environment(Cluster("auto", 2))
    assert "secret" not in str(variables) and variables["TRIATTN_CHECKPOINTS"] == "/shared/checkpoints"
