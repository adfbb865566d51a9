"""Training: the plan of batches, the loop that survives a kill, and the mining of negatives.

Started as a script, this file is the training that the tests kill: see `main` at its end.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import cross_entropy

from tests.tiny import make_world
from triattn_core.config import read_config
from triattn_core.errors import ConfigError
from triattn_core.training import encoder, loop, mining, plan
from triattn_core.training import tan as tan_training

ROOT = Path(__file__).resolve().parents[2]

# --- the plan ---


@pytest.mark.parametrize("rows", [1, 7, 64, 1009])
def test_an_epoch_has_every_row_once(rows):
    lengths = np.random.default_rng(1).integers(3, 60, rows)
    found = plan.batches(lengths, 8, seed=1, epoch=0)
    assert sorted(np.concatenate(found).tolist()) == list(range(rows))
    assert all(0 < len(batch) <= 8 for batch in found)
    assert sum(len(batch) < 8 for batch in found) <= -(-rows // (8 * plan.WINDOW))


def test_the_order_follows_from_seed_and_epoch_alone():
    lengths = np.random.default_rng(2).integers(3, 60, 101)

    def order(seed: int, epoch: int) -> list[int]:
        return np.concatenate(plan.batches(lengths, 8, seed, epoch)).tolist()

    first = order(1, 0)
    np.random.seed(5)
    assert order(1, 0) == first
    assert len({tuple(order(seed, epoch)) for seed in (1, 2) for epoch in (0, 1, 2)}) == 6


def test_rows_of_like_length_go_together_and_short_batches_do_not_come_first():
    lengths = np.random.default_rng(3).integers(3, 100, 4000)
    found = plan.batches(lengths, 8, seed=1, epoch=0)
    spread = np.mean([np.ptp(lengths[batch]) for batch in found])
    assert spread < 0.1 * np.ptp(lengths)
    tops = [lengths[batch].max() for batch in found]
    assert abs(np.corrcoef(tops, range(len(tops)))[0, 1]) < 0.2


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_processes_share_a_batch_and_none_is_idle(rows, count):
    parts = [plan.share(np.arange(rows), number, count).tolist() for number in range(count)]
    assert all(parts)
    assert set(sum(parts, [])) == set(range(rows))
    if rows >= count:
        assert sum(map(len, parts)) == rows


@pytest.mark.parametrize("steps", [1, 2, 10, 997])
def test_the_rate_rises_then_falls_to_almost_nothing(steps):
    rates = np.array([plan.learning_rate(step, steps, peak=2e-5) for step in range(steps)])
    rising = max(1, round(steps * 0.1))
    assert rates.max() == 2e-5 == rates[rising - 1]
    assert (rates > 0).all()
    assert (np.diff(rates[:rising]) > 0).all()
    assert (np.diff(rates[rising:]) < 0).all()
    assert rates[-1] <= 2e-5 / max(1, steps - rising)
    assert plan.learning_rate(steps, steps, peak=1.0) == 0


# --- the loop ---


def job(seed: int = 3) -> loop.Job:
    """30 steps over 37 rows with dropout and noise: six batches an epoch, each epoch measured."""
    draw = torch.Generator().manual_seed(1)
    rows, labels = torch.randn(37, 7, generator=draw), torch.randint(3, (37,), generator=draw)
    steps = [batch for epoch in range(6) for batch in plan.batches(np.arange(37) % 5, 8, seed, epoch)]
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(7, 11), nn.LayerNorm(11), nn.GELU(), nn.Dropout(0.3), nn.Linear(11, 3))

    def loss(module: nn.Module, step: int):
        noise = 0.1 * torch.randn(len(steps[step]), 7)
        found = cross_entropy(module(rows[steps[step]] + noise), labels[steps[step]])
        return found, {"again": round(found.item(), 6)}

    def measure(module: nn.Module, step: int) -> dict[str, float]:
        assert not module.training
        torch.rand(step)  # whoever draws while measuring must not change what follows
        return {"right": (module(rows).argmax(-1) == labels).float().mean().item()}

    return loop.Job(
        module=module,
        steps=len(steps),
        seed=seed,
        rate=lambda step: plan.learning_rate(step, len(steps), 1e-2),
        loss=loss,
        measure=measure,
        milestones=frozenset({5, 10, 15, 20, 25, 30}),
    )


def killed_here(point: str) -> None:
    """Arrange that this process is killed, without a chance to tidy up, when it comes to `point`."""

    def after(calls: int, before=lambda *given: None):
        left = [calls]

        def wrap(function):
            def called(*given, **named):
                left[0] -= 1
                if left[0] == 0:
                    before(*given)
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*given, **named)

            return called

        return wrap

    def half_a_line(event: loop.Event) -> None:
        with open(Path(sys.argv[1]) / "run" / loop.LOG, "ab") as file:
            file.write(b'{"kind": "step", "st')

    if point.startswith("step"):
        loop.set_seed = after(int(point.split()[1]))(loop.set_seed)
    elif point == "state half written":
        torch.save = after(5)(torch.save)
    elif point == "state not yet in place":
        os.rename = after(8)(os.rename)  # of step 20, which has said its loss and its metric
    elif point == "state in place but not said":
        loop._states = after(3)(loop._states)
    elif point == "old state half removed":
        real = shutil.rmtree

        def rmtree(path, **named):
            if Path(path).name.startswith("state-") and Path(path).suffix != ".part" and Path(path).is_dir():
                next(Path(path).iterdir()).unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            return real(path, **named)

        loop.shutil.rmtree = rmtree
    elif point == "log half written":
        loop.Event.line = after(6, half_a_line)(loop.Event.line)
    elif point.startswith("after"):
        signal.setitimer(signal.ITIMER_REAL, float(point.split()[1]))
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    else:
        raise ValueError(point)


POINTS = [
    "step 1",
    "step 7",
    "step 29",
    "state half written",
    "state not yet in place",
    "state in place but not said",
    "old state half removed",
    "log half written",
    "after 0.02",
    "after 0.05",
    "after 0.11",
    "step 9, step 3, state half written",  # killed three times
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Every run of this module, made by one process that forks before it computes: `<name>/last.safetensors`."""
    path = tmp_path_factory.mktemp("runs")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    plans = {"whole": [""], "seed": ["another seed"]}
    plans |= {point: [*point.split(", "), "resume"] for point in POINTS}
    done = subprocess.run(
        [sys.executable, __file__, str(path), json.dumps(plans)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return path


def said(run: Path) -> list[tuple]:
    """What a run has said, without its speed."""
    return [
        (event["kind"], event["step"], {k: v for k, v in event["values"].items() if k != "steps/s"})
        for event in loop.events(run)
    ]


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_resumes_to_the_same_weights(folder, point):
    found, whole = (load_file(folder / name / "last.safetensors") for name in (point, "whole"))
    assert found.keys() == whole.keys()
    for name in whole:
        assert torch.equal(found[name], whole[name]), name


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_has_the_log_of_a_whole_one(folder, point):
    steps = [(kind, step, values) for kind, step, values in said(folder / point / "run") if kind != "saved"]
    assert steps == [(kind, step, values) for kind, step, values in said(folder / "whole" / "run") if kind != "saved"]
    states = sorted(path.name for path in (folder / point / "run").glob("state-*"))
    assert states == ["state-00000028", "state-00000030"]


def test_the_comparison_can_fail(folder):
    """Twin: another seed ends with other weights."""
    found, whole = (load_file(folder / name / "last.safetensors") for name in ("seed", "whole"))
    assert not any(torch.equal(found[name], whole[name]) for name in ("0.weight", "4.weight"))


def test_training_changes_every_weight_and_says_so(folder):
    whole, start = load_file(folder / "whole" / "last.safetensors"), job().module.state_dict()
    assert not any(torch.equal(whole[name], start[name]) for name in whole)
    kinds = [kind for kind, _, _ in said(folder / "whole" / "run")]
    assert (kinds.count("step"), kinds.count("metric")) == (2, 6)
    assert kinds.count("saved") == len({4, 8, 12, 16, 20, 24, 28, 30, 5, 10, 15, 25})


def test_a_run_without_resume_starts_afresh(tmp_path):
    """What an earlier, longer run has left can neither be resumed nor push the new states out."""
    run = tmp_path / "run"
    old = run / "state-00000999"
    old.mkdir(parents=True)
    (old / "model.safetensors").write_bytes(b"old")
    (run / loop.LOG).write_text('{"kind": "metric", "step": 999, "values": {}}\n')
    events = list(loop.fit(dataclasses.replace(job(), steps=6), run, Accelerator(cpu=True), every=3))
    assert [event.step for event in events if event.kind == "saved"] == [3, 5, 6]
    assert loop.last_state(run).name == "state-00000006"
    assert not old.exists()
    assert all(event["step"] <= 6 for event in loop.events(run))


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    run, short = tmp_path / "run", dataclasses.replace(job(), steps=6)
    list(loop.fit(short, run, Accelerator(cpu=True), every=3))
    again = dataclasses.replace(job(), steps=6)
    assert list(loop.fit(again, run, Accelerator(cpu=True), every=3, resume=True)) == []
    for name, tensor in again.module.state_dict().items():
        assert torch.equal(tensor, short.module.state_dict()[name]), name


def test_only_matrices_decay_and_only_what_is_trained_moves():
    module = job().module
    module[0].requires_grad_(False)
    decaying, free = loop.optimizer_for(module, 0.01).param_groups
    assert decaying["weight_decay"] == 0.01
    assert free["weight_decay"] == 0
    assert [p.shape for p in decaying["params"]] == [(3, 11)]
    assert sorted(p.shape for p in free["params"]) == [(3,), (11,), (11,)]


def test_an_event_is_one_line_of_json():
    event = loop.Event("metric", 3, 9, {"dev_accuracy": 0.5, "note": "ü\n"})
    assert "\n" not in event.line()
    assert json.loads(event.line()) == {"kind": "metric", "step": 3, "steps": 9, "values": event.values}


# --- mining ---


def meanings(groups: int, each: int, seed: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Unit vectors in groups of like meaning; the positive pairs are a chain through each group."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(groups, 8))
    vectors = np.repeat(centres, each, axis=0) + 0.3 * rng.normal(size=(groups * each, 8))
    links = [(g * each + i, g * each + i + 1) for g in range(groups) for i in range(each - 1)]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), links


def test_a_chain_of_positives_is_one_cluster():
    found = mining.clusters([(0, 1), (1, 2), (4, 5)], 6)
    assert len({found[0], found[1], found[2]}) == 1
    assert len({found[0], found[3], found[4]}) == 3
    assert found[4] == found[5]


def test_negatives_are_near_and_never_linked():
    vectors, links = meanings(60, 3, seed=1)
    cluster = mining.clusters(links, len(vectors))
    found = mining.negatives(vectors, links, links, seed=1)
    assert len(found) > len(links) / 2
    for one, other in found:
        assert cluster[one] != cluster[other]
        assert mining.COSINE[0] <= vectors[one] @ vectors[other] <= mining.COSINE[1]
    assert mining.negatives(vectors, links, links, seed=1) == found
    assert mining.negatives(vectors, links, links, seed=2) != found


def test_mining_few_questions():
    vectors, links = meanings(4, 2, seed=2)
    assert all(one // 2 != other // 2 for one, other in mining.negatives(vectors, links, links, seed=1))


# --- the epoch that is kept ---


@pytest.mark.parametrize(
    ("accuracies", "step"),
    [([0.5, 0.7, 0.6], 2), ([0.6, 0.8, 0.8, 0.7], 2), ([0.5, 0.6, 0.9], 3), ([0.0, 0.0], 1), ([], None)],
)
def test_best_is_the_first_of_the_best(accuracies, step):
    rows = [{"step": n, "dev_accuracy": value} for n, value in enumerate(accuracies, 1)]
    rows += [{"step": 9, "train_loss": 0.1}]
    assert tan_training.best(rows).get("step") == step


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return make_world(tmp_path_factory.mktemp("small"), ("bi",))


@pytest.mark.parametrize("left_after", [None, 6, 12, 18])
@pytest.mark.parametrize(("accuracies", "kept"), [([0.5, 0.7, 0.7, 0.6], 12), ([0.8, 0.7, 0.8, 0.9], 24)])
def test_the_epoch_that_is_best_on_dev_becomes_the_checkpoint(
    small, tmp_path, monkeypatch, accuracies, kept, left_after
):
    """Four epochs of six steps whose accuracies are told; also in a run that is left after one of them and resumed."""
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(small / "shelf"))
    config = read_config(small / "shelf" / "small-bi" / "config.json")
    config = config.model_copy(update={"training": config.training.model_copy(update={"epochs": 4})})
    folder, runs, measured, states = tmp_path / "small-bi", small / "runs", [], {}

    def told(module, features, device) -> dict[str, float]:
        measured.append({name: tensor.half() for name, tensor in module.state_dict().items()})
        return {"dev_loss": 0.5, "dev_accuracy": accuracies[len(states)]}

    monkeypatch.setattr(tan_training, "evaluate", told)
    for resume in (False, True):
        for event in tan_training.train_tan(config, folder, small / "data", runs, resume, Accelerator(cpu=True)):
            if event.kind == "saved":
                states[event.step] = measured[-1]
            if (event.kind, event.step) == ("saved", left_after) and not resume:
                break
        if left_after is None:
            break
    assert list(states) == [6, 12, 18, 24]
    found = load_file(folder / "model.safetensors")
    assert [step for step, state in states.items() if all(torch.equal(found[n], state[n]) for n in found)] == [kept]


# --- the start of an encoder ---


def test_start_weights_are_checked_before_use(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"anything")
    digest = "5faa82c6c6bc30cb5a3e2a93ba1f2b23b6f5ac0f9a2a1d5d1a7b6d6f1a0a0a0a"
    with pytest.raises(ConfigError, match=f"expected SHA-256 {digest}, got "):
        encoder.start_folder({"path": str(tmp_path), "sha256": digest})
    with pytest.raises(ConfigError, match="pip install -r requirements-train.txt"):
        encoder.start_folder({"package": "a_package_nobody_has_heard_of", "sha256": digest})


# --- as a script: the training that is killed ---


def train(folder: Path, point: str) -> None:
    """One life of a run: from the start or resumed, to its end or to where it is killed."""
    torch.set_num_threads(1)
    resume = point == "resume" or (folder / "begun").exists()
    (folder / "begun").touch()
    if point not in ("", "resume", "another seed"):
        killed_here(point)
    made = job(seed=4 if point == "another seed" else 3)
    for _ in loop.fit(made, folder / "run", Accelerator(cpu=True), every=4, resume=resume):
        time.sleep(0.001)
    from safetensors.torch import save_file

    save_file(made.module.state_dict(), folder / "last.safetensors")


def main() -> None:
    """`FOLDER PLANS`: for each named plan its lives, one after the other, each in a process of its own."""
    top = Path(sys.argv[1])
    for name, lives in json.loads(sys.argv[2]).items():
        (top / name).mkdir()
        for point in lives:
            child = os.fork()
            if child == 0:
                sys.argv[1] = str(top / name)
                train(top / name, point)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            wanted = -signal.SIGKILL if point not in ("", "resume", "another seed") else 0
            came = os.waitstatus_to_exitcode(status)
            if came != wanted and not (point.startswith("after") and came == 0):
                raise SystemExit(f"{name}: {point or 'whole'} ended with {came}, not {wanted}")


if __name__ == "__main__":
    main()
