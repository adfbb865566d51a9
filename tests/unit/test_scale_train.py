"""Training on Ray, before it begins: what is checked, and which states of earlier runs are removed."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.small_training import command_line, make_small
from tests.support.tiny import change
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import ConfigError
from triattn_core.results.run_records import config_variant
from triattn_core.scale import on_ray, train
from triattn_core.training import command as trainer
from triattn_core.training import scores
from triattn_core.training import sweep as sweeps
from triattn_core.training.loop import Event
from triattn_core.training.run_lock import LOCKS, lock_runs

HOLD = """
import sys, time
from pathlib import Path
from triattn_core.training.run_lock import lock_runs

with lock_runs(Path(sys.argv[1]), [sys.argv[2]]):
    print("locked", flush=True)
    time.sleep(600)
"""
RUNS = ("small-bi", "small-bi-seed-2", "small-bi-seed-3", "small-bi-fold-2", "small", "other")


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A world whose config has seeds 1 and 2, with runs of other configs too, and a cluster that is not asked."""
    world = make_small(tmp_path / "world")
    change(world / "checkpoints" / "small-bi", training={"seed": 1, "more_seeds": [2]})
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", f"{world / 'there'}:{world / 'checkpoints'}")
    monkeypatch.setattr(on_ray, "connect", lambda cluster: cluster)
    monkeypatch.setattr(on_ray, "require_room", lambda cluster, cores: None)
    return world


def make_runs(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (folder / name / "state-00000001").mkdir(parents=True)


@pytest.mark.parametrize(
    ("more", "removed"), [([], {"small-bi", "small-bi-seed-2"}), (["--resume"], set())], ids=["anew", "resume"]
)
def test_a_training_removes_its_own_runs_and_no_other(small, monkeypatch, more, removed):
    seen = []
    monkeypatch.setattr(train, "run_trainer", lambda order, cluster: seen.append(names(order.runs)) or [])
    command = command_line(small, "train", "there", "--engine", "ray", *more)
    make_runs(small / "there" / "runs", RUNS)
    assert main(command) == 0
    assert seen == [set(RUNS) - removed]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {LOCKS}


@pytest.mark.parametrize("command", ["train", "sweep"])
@pytest.mark.parametrize("fault", ["data", "config"])
def test_a_fault_that_can_be_seen_before_leaves_all_runs(small, capsys, command, fault):
    begin = command_line(small, command, "there", "--engine", "ray", "--name", "s")
    begin = begin if command == "sweep" else begin[:-2]
    config = small / "there" / "small-bi" / "config.json"
    runs = (*RUNS, f"s-{digest(config)}-seed-1")
    make_runs(small / "there" / "runs", runs)
    if fault == "data":
        (small / "data" / "small" / "train.jsonl").unlink()
    else:
        config.write_text(json.dumps(json.loads(config.read_text()) | {"model": {"layers": "many"}}))
    capsys.readouterr()
    assert main(begin) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.splitlines()[-1].startswith("triattn: ")
    assert "Traceback" not in printed.err and names(small / "there" / "runs") == set(runs)


def digest(config: Path) -> str:
    from triattn_core.checkpoint.config import read_config

    return config_variant(read_config(config))


@pytest.mark.parametrize("resume", [False, True])
def test_a_sweep_removes_the_runs_of_its_variants_and_no_other(small, monkeypatch, resume):
    seen = []

    def run(plan, request, cluster):
        seen.append(names(plan.runs))
        assert request.resume  # a worker that is started again goes on
        return []

    monkeypatch.setattr(train, "train_variants", run)
    command = command_line(small, "sweep", "there", "--engine", "ray", "--seeds", "1,2", "--name", "s")
    config = digest(small / "there" / "small-bi" / "config.json")
    own = {f"s-{config}-seed-{seed}" for seed in (1, 2)}
    make_runs(small / "there" / "runs", (*RUNS, *own, f"s-{config}-seed-12", f"t-{config}-seed-1"))
    before = names(small / "there" / "runs")
    assert main([*command, *["--resume"] * resume]) == 0
    assert seen == [before if resume else before - own]


@pytest.mark.parametrize("engine", ["local", "ray"])
@pytest.mark.parametrize("kind", ["settings", "configs"])
def test_a_sweep_trains_variants_with_the_same_settings_and_seed_once(small, monkeypatch, capsys, engine, kind):
    """A value given twice, or two configs that differ in their own seed only."""

    def train_variant(variant, seeds, plan, request, *_):
        trained.extend(plan.run(config_variant(variant.config), seed).name for seed in seeds)
        return {}
        yield

    def train_on_ray(plan, request, cluster):
        for variant, _, seeds in plan.variants:
            list(train_variant(variant, seeds, plan, request))
        return []

    trained: list[str] = []
    monkeypatch.setattr(sweeps, "train_variant", train_variant)
    monkeypatch.setattr(sweeps, "store", lambda *_: Event("metric", 1, 1, {}))
    monkeypatch.setattr(train, "train_variants", train_on_ray)
    command = command_line(small, "sweep", "there", "--seeds", "1,2", "--name", "s", "--engine", engine)
    config = small / "there" / "small-bi" / "config.json"
    expected = [f"s-{digest(config)}-seed-{seed}" for seed in (1, 2)]
    if kind == "settings":
        layers = json.loads(config.read_text())["model"].get("layers", 1)
        command += ["--set", f"model.layers={layers},{layers}"]
    else:
        shutil.copytree(config.parent, small / "there" / "other")
        change(small / "there" / "other", training={"seed": 9})
        command.insert(2, str(small / "there" / "other" / "config.json"))
    assert main(command) == 0
    assert trained == expected
    assert "runs left out, same settings and seed as another 2" in capsys.readouterr().out


@pytest.mark.parametrize("more", [[], ["--resume"]], ids=["anew", "resume"])
@pytest.mark.parametrize("engine", ["local", "ray"])
@pytest.mark.parametrize(("command", "run"), [("train", "small-bi"), ("train", "small-bi-seed-2"), ("sweep", "s")])
def test_a_second_command_on_a_run_is_one_line_and_removes_nothing(small, capsys, first, engine, command, run, more):
    line = command_line(small, command, "there", "--engine", engine, *more)
    line += ["--name", "s"] * (command == "sweep")
    runs = small / "there" / "runs"
    make_runs(runs, RUNS)
    capsys.readouterr()
    process = first(runs, run)
    assert main(line) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.splitlines()[-1] == (
        f"triattn: {runs / run}: another command is training there; wait for it, or name another folder with --runs"
    )
    assert names(runs) == set(RUNS)
    process.kill()
    process.wait()
    with lock_runs(runs, [run]):  # nothing is left of the first
        pass


@pytest.fixture
def first():
    """Starts another process that trains a run."""
    processes = []

    def start(runs: Path, run: str) -> subprocess.Popen:
        command = [sys.executable, "-c", HOLD, str(runs), run]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert processes[0].stdout.readline() == "locked\n"
        return processes[0]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("command", ["train", "sweep"])
def test_workers_train_while_their_own_command_has_locked_its_runs(small, monkeypatch, command):
    def fit(order, cluster):
        configs = trainer.read_configs(order.paths, order.data)
        with pytest.raises(ConfigError, match="another command"), trainer.lock_configs(configs, order.runs):
            pass
        monkeypatch.setattr("ray.train.get_context", lambda: SimpleNamespace(get_world_rank=lambda: 0))
        events = queue.Queue()
        train.work({"order": order, "events": events})
        assert not [event for event in events.queue if isinstance(event, Exception)]
        return []

    def train_variants(plan, request, cluster):
        with pytest.raises(ConfigError, match="another command"), plan.lock():
            pass
        for variant, _, seeds in plan.variants:
            assert train.train_variant(variant, seeds, plan, request, Path.cwd())["each_seed"]
        return []

    pytest.importorskip("ray.train")
    monkeypatch.setattr(train, "run_trainer", fit)
    monkeypatch.setattr(train, "train_variants", train_variants)
    change(small / "checkpoints" / "small-bi", training={"epochs": 1, "more_seeds": []})
    assert main(command_line(small, command, "there", "--engine", "ray", "--device", "cpu")) == 0
    assert (small / "there" / "small-bi" / "metrics.json").is_file() == (command == "train")


def test_a_measurement_that_ends_does_not_disturb_another(small, monkeypatch):
    """The second one begins and ends before the first one writes its first verdict."""

    def evaluate_late(*arguments):
        monkeypatch.setattr(scores, "evaluate", evaluate)
        measure()
        return evaluate(*arguments)

    def measure() -> list[dict]:
        return scores.measure([bundle], bundle.config, small / "data", small / "there" / "runs", False)

    change(small / "checkpoints" / "small-bi", training={"epochs": 1, "more_seeds": []})
    assert main(command_line(small, "train", "there", "--device", "cpu")) == 0
    bundle, evaluate = load(small / "there" / "small-bi"), scores.evaluate
    monkeypatch.setattr(scores, "evaluate", evaluate_late)
    (metrics,) = measure()
    assert set(metrics) == {"dev", "test"}
    assert not list((small / "there" / "runs" / "measured").iterdir())
