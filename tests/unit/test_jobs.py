"""Jobs on a device: the same question runs once, and a job ends when nobody waits for it, and only then."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from tests.support.busy_jobs import busy, wait
from triattn_core.errors import InputError
from triattn_core.inference import device_scheduler
from triattn_core.inference import jobs as module
from triattn_core.inference.device_scheduler import Task
from triattn_core.inference.jobs import Jobs, JobStopped
from triattn_core.inference.pause import progress


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(device_scheduler, "SLICE", 0.005)
    monkeypatch.setattr(module, "GRACE", 0.05)


def test_two_who_ask_the_same_share_one_run():
    jobs, runs = Jobs(), []
    ask = lambda: jobs.submit("cpu", "key", "x", lambda: runs.append(1) or busy(0.05, name="x"), 1)  # noqa: E731
    (first, _), (second, _) = ask(), ask()
    assert first is second and wait(second) == "x" and runs == [1]
    wait(ask()[0])
    assert runs == [1, 1]  # what is over is asked anew: keeping results is another's


def test_a_job_that_nobody_waits_for_ends_at_its_next_pause_point():
    jobs, log = Jobs(), []
    job, number = jobs.submit("cpu", "key", "x", lambda: busy(30, log), 1)
    job.unwatch(number)
    assert job.wait(2.0) and isinstance(job.error, JobStopped)
    steps = len(log)
    time.sleep(0.05)
    assert len(log) == steps and not jobs.scheduler("cpu").tasks
    waiting, _ = jobs.submit("cpu", "first", "x", lambda: time.sleep(0.3), 1)
    while not waiting.served:
        time.sleep(0.001)
    behind, number = jobs.submit("cpu", "second", "x", lambda: log.append("began"), 1)
    behind.unwatch(number, at_once=True)
    assert behind.wait(2.0) and "began" not in log


def test_one_of_two_who_leaves_stops_nothing_and_who_comes_back_in_time_neither():
    jobs = Jobs()
    ask = lambda: jobs.submit("cpu", "key", "x", lambda: busy(0.2, name="done"), 1)  # noqa: E731
    (job, first), (_, second) = ask(), ask()
    job.unwatch(first, at_once=True)
    time.sleep(0.08)
    job.unwatch(second)
    again, _ = ask()
    assert again is job and wait(again) == "done"


def test_who_asks_for_a_job_that_is_ending_gets_a_new_one():
    jobs = Jobs()
    job, number = jobs.submit("cpu", "key", "x", lambda: busy(30), 1)
    job.unwatch(number, at_once=True)
    while not job.stopped:
        time.sleep(0.001)
    again, _ = jobs.submit("cpu", "key", "x", lambda: "new", 1)
    assert again is not job and wait(again) == "new"


def test_what_is_raised_reaches_all_who_wait_and_frees_the_device():
    jobs, release = Jobs(), threading.Event()

    def work():
        release.wait(5)
        raise InputError("cannot be read")

    pairs = [jobs.submit("cpu", "key", "x", work, session) for session in (1, 2)]
    release.set()
    for job, _ in pairs:
        with pytest.raises(InputError, match="cannot be read"):
            wait(job)
    assert wait(jobs.submit("cpu", "other", "x", lambda: 1, 1)[0]) == 1


def test_a_result_is_kept_before_anybody_sees_it():
    kept = []
    job, _ = Jobs().submit("cpu", "key", "x", lambda: 5, 1, kept.append)
    assert wait(job) == 5 and kept == [5]


def test_it_says_how_far_it_is_and_behind_what_it_waits():
    jobs, go = Jobs(), threading.Event()

    def work():
        for done in range(5):
            progress(done, 8)
            time.sleep(0.002)
        go.wait(5)

    first, _ = jobs.submit("cpu", "a", "Attribution", work, 1)
    while first.done < 4:
        time.sleep(0.001)
    second, _ = jobs.submit("cpu", "b", "Cube", lambda: None, 2)
    status = first.status()
    assert (status.done, status.total, status.waiting) == (4, 8, False) and 0 < status.remaining < 5
    status = second.status()
    assert status.waiting and status.behind == ("Attribution",) and status.remaining is None
    go.set()
    wait(second)


def test_a_gradient_in_blocks_can_be_stopped_in_its_middle():
    """The pause points of the additive form stand inside its backward pass too."""
    from triattn_core.attention.tri_similarity import blockwise

    calls = []

    class Stop(Task):
        def check(self):
            calls.append(1)
            if len(calls) > 30:
                raise JobStopped

    pair, context, p = (torch.randn(1, *size).requires_grad_() for size in ((300, 64), (300, 64), (64,)))
    with Stop(Jobs().scheduler("cpu"), "x", 1).turn():
        scores = blockwise.Score.apply(pair, context, p)
        assert 0 < len(calls) < 30
        with pytest.raises(JobStopped):
            for _ in range(5):
                scores.sum().backward(retain_graph=True)
