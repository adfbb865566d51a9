"""`triattn sweep` in a small world: every variant leaves its record, no weights, and a stopped sweep goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.tiny import change, make_world
from triattn_core.__main__ import main
from triattn_core.analysis.significance import welch_over_seeds
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.errors import ConfigError
from triattn_core.results import curves, paper_comparison, run_records
from triattn_core.results.paper_schema import Figure
from triattn_core.training import sweep as sweeps
from triattn_core.training.sweep import choices_of, sweep

pytestmark = pytest.mark.slow

FIGURE = Figure(
    kind="figure", number=1, label="", short="", title="", x="model.layers", x_name="layers", metric="accuracy",
    metric_name="accuracy", lines=({"name": "Bi", "ours": {"mechanism": "bi"}},), command="",
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A config of Bi and one of Tri, one epoch each; nothing is trained."""
    root = make_world(tmp_path_factory.mktemp("sweep"), ("bi", "tri"))
    for name in ("bi", "tri"):
        change(root / "checkpoints" / f"small-{name}", training={"epochs": 1, "more_seeds": [7]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield root


def run(world: Path, *more: str, names: tuple[str, ...] = ("bi",)) -> int:
    paths = [str(world / "checkpoints" / f"small-{name}" / "config.json") for name in names]
    return main(["sweep", *paths, "--data", str(world / "data"), "--runs", str(world / "runs"), *more])


def stored(world: Path, name: str) -> list[dict]:
    path = world / "checkpoints" / "results" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def swept(world) -> list[dict]:
    assert run(world, "--set", "model.layers=1,3", "--seeds", "2,1") == 0
    return stored(world, "small-bi-layers")


def test_a_record_a_variant_with_all_that_made_it(world, swept):
    assert [one["set"] for one in swept] == [{"model.layers": 1}, {"model.layers": 3}]
    for record in swept:
        assert [seed_run["seed"] for seed_run in record["each_seed"]] == [2, 1]
        for seed_run in record["each_seed"]:
            assert seed_run["dev"]["set"] == "small/dev" and seed_run["dev"]["n"] == 20 and "test" not in seed_run
            assert 0 <= seed_run["dev"]["accuracy"] <= 100 and seed_run["best_step"] == 6 and seed_run["seconds"] >= 0
        assert record["config"]["model"]["layers"] == record["set"]["model.layers"]
        assert record["config"]["encoder_digest"] and "seed" not in record["config"]["training"]
        assert record["command"].startswith("triattn sweep ") and record["machine"].startswith("CPU")
        assert len(record["date"]) == 10
    assert swept[0]["parameters"] < swept[1]["parameters"]
    assert len({one["digest"] for one in swept}) == 2


def test_no_weights_are_left_and_the_checkpoints_are_as_they_were(world, swept):
    assert {path.parent.name for path in world.rglob("*.safetensors")} == {"tiny"}
    assert {path.name for path in (world / "runs").iterdir()} == {"features", "measured", ".locks"}
    assert all(not (entry.path / "metrics.json").exists() for entry in list_checkpoints())


def test_a_variant_is_trained_as_the_same_config_is_by_train(world, swept, tmp_path, monkeypatch):
    """The numbers of `triattn train` on a copy of the config with that setting and seed.

    Among the checkpoints, but not listed, it leaves a record itself; elsewhere it leaves none.
    """
    folder, outside = world / "checkpoints" / "full-size" / "copy", tmp_path / "copy"
    folder.mkdir(parents=True)
    shutil.copy(world / "checkpoints" / "small-bi" / "config.json", folder)
    change(folder, model={"layers": 3}, training={"seed": 2, "more_seeds": []})
    shutil.copytree(folder, outside)
    where = ["--data", str(world / "data"), "--runs", str(tmp_path / "runs")]
    assert main(["train", str(folder / "config.json"), *where]) == 0
    assert main(["train", str(outside / "config.json"), *where, "--resume"]) == 0
    assert json.loads((outside / "metrics.json").read_text("utf-8"))["dev"] == swept[1]["each_seed"][0]["dev"]
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert swept[1]["each_seed"][0]["dev"] == metrics["dev"]
    (line,) = stored(world, "trained")
    assert line["name"] == "copy" and line["digest"] == swept[1]["digest"] and line["date"] == metrics["date"]
    assert line["each_seed"] == metrics["each_seed"] == [{"seed": 2, "dev": metrics["dev"], "test": metrics["test"]}]
    (record,) = run_records.matching_records(run_records.all_records()[0], {"mechanism": "bi"})
    assert record.file == "trained" and record.values("test", "f1") == (metrics["test"]["f1"],)


def test_what_is_listed_leaves_no_other_record_and_all_seeds_all_metrics(world, tmp_path, monkeypatch):
    root = tmp_path / "world"
    shutil.copytree(world, root, ignore=shutil.ignore_patterns("results", "runs"))
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
    where = ["--data", str(root / "data"), "--runs", str(root / "runs")]
    assert main(["train", str(root / "checkpoints" / "small-tri" / "config.json"), *where]) == 0
    assert not (root / "checkpoints" / "results").exists()
    (record,) = [one for one in run_records.all_records()[0] if one.entry.name == "small-tri"]
    assert record.runs == 2 and len(record.values("test", "f1")) == len(record.values("dev", "accuracy")) == 2
    assert record.values("test", "accuracy") == tuple(seed_run["test"] for seed_run in record.entry.metrics["seeds"])


def test_the_records_make_a_curve_and_seeds_that_can_be_tested(world, swept):
    (curve,) = curves.measured_curves(FIGURE, run_records.all_records()[0])
    assert {x: len(values) for x, values in curve.points.items()} == {1.0: 2, 3.0: 2}
    assert curve.points[1.0] == tuple(seed_run["dev"]["accuracy"] for seed_run in swept[0]["each_seed"])
    assert len(welch_over_seeds({str(x): values for x, values in curve.points.items()})) == 1


def test_without_resume_nothing_recorded_is_overwritten(world, swept, capsys):
    assert run(world, "--set", "model.layers=1,3") == 1
    assert "--resume" in capsys.readouterr().err
    assert stored(world, "small-bi-layers") == swept


def test_resume_trains_only_what_is_missing(world, swept, monkeypatch, capsys):
    """Another layer, then another seed, then the test set: each once; what is there stays as it is."""
    trained = []
    real = sweeps.train_seeds

    def counted(path, config, folders, *more):
        trained.append((config.model.layers, list(folders)))
        return real(path, config, folders, *more)

    monkeypatch.setattr(sweeps, "train_seeds", counted)
    assert run(world, "--set", "model.layers=1,2,3", "--seeds", "2,1", "--resume", "--json") == 0
    assert trained == [(2, [2, 1])]
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    last = events[-1]
    assert (last["step"], last["steps"]) == (2, 3) and last["values"]["model.layers"] == 2
    arguments = ("--set", "model.layers=1", "--name", "small-bi-layers", "--resume", "--seeds")
    assert run(world, *arguments, "2,1,4") == 0
    assert trained[1:] == [(1, [4])]
    assert run(world, *arguments, "4", "--test") == 0
    assert trained[2:] == [(1, [4])]
    assert stored(world, "small-bi-layers")[:2] == swept
    records, _ = run_records.read_records(world / "checkpoints" / "results" / "small-bi-layers.jsonl")
    record = next(record for record in records if record.changed == {"model.layers": 1})
    assert len(record.values("dev", "accuracy")) == 3 and len(record.values("test", "accuracy")) == 1
    assert run(world, *arguments, "2,1,4") == 0 and len(trained) == 3


def test_a_sweep_that_is_stopped_keeps_what_it_had(world, monkeypatch):
    """Left in the second variant: the first is recorded, and with resume the second alone is trained."""
    paths, rates = (world / "checkpoints" / "small-bi" / "config.json",), ("training.rate=0.002,0.004",)

    def started(resume: bool):
        where = (world / "data", world / "runs")
        return sweep(sweeps.Request(paths, rates, (), "stopped", False, *where, resume, "triattn sweep"))

    for event in started(False):
        if (event.kind, event.step) == ("metric", 1) and "variant" in event.values:
            break
    else:
        raise AssertionError("the first variant was never said to be done")
    assert [record["set"] for record in stored(world, "stopped")] == [{"training.rate": 0.002}]
    done = [event.values for event in started(True) if "variant" in event.values]
    assert [one["training.rate"] for one in done] == [0.004]
    assert [record["set"]["training.rate"] for record in stored(world, "stopped")] == [0.002, 0.004]


def test_weights_that_a_kill_left_beside_their_record_are_removed_by_the_next_command(world, monkeypatch):
    def kill(run):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "remove_run", kill)
        assert run(world, "--name", "killed") != 0
    assert len(stored(world, "killed")) == 1 and list((world / "runs").glob("killed-*/*.safetensors"))
    assert run(world, "--name", "killed", "--resume") == 0
    assert len(stored(world, "killed")) == 1 and not list((world / "runs").glob("killed-*"))


def test_several_configs_and_settings_are_all_combined(world):
    settings = ("--set", "model.similarity=dot,scaled_dot", "--set", "data.every=3", "--name", "two")
    assert run(world, *settings, names=("bi", "tri")) == 0
    records = stored(world, "two")
    assert [(record["name"], record["set"]["model.similarity"]) for record in records] == [
        ("small-bi", "dot"), ("small-bi", "scaled_dot"), ("small-tri", "dot"), ("small-tri", "scaled_dot")
    ]  # fmt: skip
    assert all(record["config"]["data"]["every"] == 3 and record["each_seed"][0]["seed"] == 1 for record in records)
    cell = paper_comparison.measured_cell(
        paper_comparison.Column(name="x", metric="accuracy", split="dev"),
        {"records": "two", "mechanism": "tri", "similarity": "dot"},
        run_records.all_records()[0],
    )
    assert cell.values == (records[2]["each_seed"][0]["dev"]["accuracy"],)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--set", "model.layer=1"), "did you mean 'layers'"),
        (("--set", "model.layers=0"), "model.layers"),
        (("--set", "task.x=1"), "no setting"),
        (("--set", "model.layers"), "NAME=VALUE"),
        (("--set", "training.seed=1,2"), "--seeds"),
        (("--name", "../x"), "--name"),
        (("--name", "trained"), "--name"),
        (("--set", 'data.dev="small/none"', "--name", "n"), "none.jsonl"),
        (("--set", "data.test=null", "--test", "--name", "n"), "data.test"),
    ],
)
def test_bad_settings_are_one_line_before_anything_is_trained(world, capsys, more, says):
    before = sorted((world / "checkpoints" / "results").glob("*"))
    assert run(world, *more) == 1
    errors = capsys.readouterr().err
    assert says in errors and errors.count("\n") == 1
    assert sorted((world / "checkpoints" / "results").glob("*")) == before


def test_values_are_json_or_words():
    assert choices_of("model.layers=1,2") == ("model.layers", [1, 2])
    assert choices_of("model.similarity=dot,additive") == ("model.similarity", ["dot", "additive"])
    assert choices_of('data.train=["a","b"],["c"]') == ("data.train", [["a", "b"], ["c"]])
    assert choices_of("training.rate=1e-3") == ("training.rate", [0.001])
    with pytest.raises(ConfigError):
        choices_of("=1")


def test_a_config_is_read_with_changes(world):
    path = world / "checkpoints" / "small-bi" / "config.json"
    assert read_config(path, {"model.layers": 5}).model.layers == 5
    assert read_config(path).model.layers == 2


def test_a_setting_that_is_added_later_leaves_older_records_recognised(world):
    config = read_config(world / "checkpoints" / "small-tri" / "config.json")

    class Later(type(config)):
        added: int = 3

    later = Later.model_validate(config.model_dump(mode="json"))
    assert run_records.config_variant(later) == run_records.config_variant(config)
    assert run_records.config_variant(later.model_copy(update={"added": 4})) != run_records.config_variant(config)
