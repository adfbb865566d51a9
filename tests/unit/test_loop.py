"""The loop survives a kill at any point: a resumed run ends with the same weights and the same log.

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
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import cross_entropy

from triattn_core.training import batching, loop

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def job(seed: int = 3) -> loop.Job:
    """30 steps over 37 rows with dropout and noise: six batches an epoch, each epoch measured."""
    draw = torch.Generator().manual_seed(1)
    rows, labels = torch.randn(37, 7, generator=draw), torch.randint(3, (37,), generator=draw)
    steps = [batch for epoch in range(6) for batch in batching.batches(np.arange(37) % 5, 8, seed, epoch)]
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(7, 11), nn.LayerNorm(11), nn.GELU(), nn.Dropout(0.3), nn.Linear(11, 3))

    def loss(module: nn.Module, step: int):
        noise = 0.1 * torch.randn(len(steps[step]), 7)
        loss = cross_entropy(module(rows[steps[step]] + noise), labels[steps[step]])
        return loss, {"again": round(loss.item(), 6)}

    def measure(module: nn.Module, step: int) -> dict[str, float]:
        assert not module.training
        torch.rand(step)  # whoever draws while measuring must not change what follows
        return {"right": (module(rows).argmax(-1) == labels).float().mean().item()}

    return loop.Job(
        module=module,
        steps=len(steps),
        seed=seed,
        rate=lambda step: batching.learning_rate(step, len(steps), 1e-2),
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
        loop.saved_states = after(3)(loop.saved_states)
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


def read_events(run: Path) -> list[tuple]:
    """What a run has said, without its speed."""
    return [
        (event["kind"], event["step"], {k: v for k, v in event["values"].items() if k != "steps/s"})
        for event in loop.events(run)
    ]


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_resumes_to_the_same_weights(folder, point):
    actual, whole = (load_file(folder / name / "last.safetensors") for name in (point, "whole"))
    assert actual.keys() == whole.keys()
    for name in whole:
        assert torch.equal(actual[name], whole[name]), name


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_has_the_log_of_a_whole_one(folder, point):
    steps = [(kind, step, values) for kind, step, values in read_events(folder / point / "run") if kind != "saved"]
    assert steps == [
        (kind, step, values) for kind, step, values in read_events(folder / "whole" / "run") if kind != "saved"
    ]
    states = sorted(path.name for path in (folder / point / "run").glob("state-*"))
    assert states == ["state-00000028", "state-00000030"]


def test_the_comparison_can_fail(folder):
    """Twin: another seed ends with other weights."""
    actual, whole = (load_file(folder / name / "last.safetensors") for name in ("seed", "whole"))
    assert not any(torch.equal(actual[name], whole[name]) for name in ("0.weight", "4.weight"))


def test_training_changes_every_weight_and_says_so(folder):
    whole, start = load_file(folder / "whole" / "last.safetensors"), job().module.state_dict()
    assert not any(torch.equal(whole[name], start[name]) for name in whole)
    kinds = [kind for kind, _, _ in read_events(folder / "whole" / "run")]
    assert (kinds.count("step"), kinds.count("metric")) == (2, 6)
    assert kinds.count("saved") == len({4, 8, 12, 16, 20, 24, 28, 30, 5, 10, 15, 25})


def test_a_run_without_resume_starts_afresh(tmp_path):
    """What an earlier, longer run has left can neither be resumed nor push the new states out."""
    run = tmp_path / "run"
    old = run / "state-00000999"
    old.mkdir(parents=True)
    (old / "model.safetensors").write_bytes(b"old")
    (run / loop.LOG).write_text('{"kind": "metric", "step": 999, "values": {}}\n')
    events = list(loop.fit(dataclasses.replace(job(), steps=6), run, Accelerator(cpu=True), save_every=3))
    assert [event.step for event in events if event.kind == "saved"] == [3, 5, 6]
    assert sorted(path.name for path in run.glob("state-*"))[-1] == "state-00000006"
    assert not old.exists()
    assert all(event["step"] <= 6 for event in loop.events(run))


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    run, short = tmp_path / "run", dataclasses.replace(job(), steps=6)
    list(loop.fit(short, run, Accelerator(cpu=True), save_every=3))
    again = dataclasses.replace(job(), steps=6)
    assert list(loop.fit(again, run, Accelerator(cpu=True), save_every=3, resume=True)) == []
    for name, tensor in again.module.state_dict().items():
        assert torch.equal(tensor, short.module.state_dict()[name]), name


# --- as a script: the training that is killed ---


def train(folder: Path, point: str) -> None:
    """One life of a run: from the start or resumed, to its end or to where it is killed."""
    torch.set_num_threads(1)
    resume = point == "resume" or (folder / "begun").exists()
    (folder / "begun").touch()
    if point not in ("", "resume", "another seed"):
        killed_here(point)
    training_job = job(seed=4 if point == "another seed" else 3)
    for _ in loop.fit(training_job, folder / "run", Accelerator(cpu=True), save_every=4, resume=resume):
        time.sleep(0.001)
    save_file(training_job.module.state_dict(), folder / "last.safetensors")


def main() -> None:
    """`FOLDER PLANS`: for each named plan its lives, one after the other, each in a process of its own."""
    import_module("torch._dynamo")  # which an optimizer does at its first step: here once, not in each process
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
