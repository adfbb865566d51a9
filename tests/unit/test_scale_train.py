"""Training on Ray, before it begins: what is checked, and which states of earlier runs are removed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.small_training import command_line, make_small
from tests.support.tiny import change
from triattn_core.__main__ import main
from triattn_core.results.run_records import config_variant
from triattn_core.scale import on_ray, train
from triattn_core.training import sweep as sweeps
from triattn_core.training.loop import Event

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
    monkeypatch.setattr(train, "_fit", lambda order, cluster: seen.append(names(order.runs)) or [])
    command = command_line(small, "train", "there", "--engine", "ray", *more)
    make_runs(small / "there" / "runs", RUNS)
    assert main(command) == 0
    assert seen == [set(RUNS) - removed]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


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

    monkeypatch.setattr(train, "_train_variants", run)
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
    monkeypatch.setattr(train, "_train_variants", train_on_ray)
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
