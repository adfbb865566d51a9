"""Jobs on a device: turns are fair, the same question runs once, and nobody's question ends."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
import torch

from triattn_core.errors import InputError
from triattn_core.inference import jobs as module
from triattn_core.inference import turns
from triattn_core.inference.jobs import Job, Jobs, JobStopped
from triattn_core.inference.pause import pause, progress
from triattn_core.inference.turns import Task


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(turns, "SLICE", 0.005)
    monkeypatch.setattr(module, "GRACE", 0.05)


def busy(seconds: float, log: list | None = None, name: str = "") -> str:
    """Computes so long by its own clock, with a pause point each millisecond; notes each."""
    spent = 0.0
    while spent < seconds:
        started = time.perf_counter()
        time.sleep(0.001)
        spent += time.perf_counter() - started
        if log is not None:
            log.append(name)
        pause()
    return name


def wait(job: Job, seconds: float = 10.0):
    assert job.wait(seconds), "a job that does not end"
    return job.answer()


def test_a_short_job_does_not_wait_for_a_long_one():
    jobs, log = Jobs(), []
    long, _ = jobs.submit("cpu", "long", "long", lambda: busy(0.5, log, "long"), 1)
    while not log:
        time.sleep(0.001)
    started = time.monotonic()
    short, _ = jobs.submit("cpu", "short", "short", lambda: busy(0.05, log, "short"), 2)
    assert wait(short) == "short" and time.monotonic() - started < 0.25 and not long.wait(0.0)
    assert wait(long) == "long"


def test_one_computes_at_a_time_and_other_devices_do_not_wait():
    jobs, inside, most = Jobs(), [], []

    def work():
        for _ in range(20):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.001)
            inside.pop()
            pause()

    for number in range(4):
        job, _ = jobs.submit("cpu", number, "x", work, number)
    with Task(jobs.turns("cuda:0"), "elsewhere", 9).turn():
        pass  # at once
    wait(job)
    assert max(most) == 1


def test_a_session_with_many_jobs_gets_no_more_than_one_with_a_single_job():
    jobs, log = Jobs(), []
    for number in range(4):
        jobs.submit("cpu", number, "many", lambda: busy(0.3, log, "many"), "greedy")
    single, _ = jobs.submit("cpu", "single", "single", lambda: busy(0.1, log, "single"), "modest")
    wait(single)
    end = len(log) - log[::-1].index("single")
    assert log[log.index("single") : end].count("many") < 2.0 * log.count("single")


def test_a_short_question_goes_before_many_long_ones():
    """In turn with ten it would take ten times as long."""
    jobs, log = Jobs(), []
    for number in range(10):
        jobs.submit("cpu", number, "long", lambda: busy(1.0, log, "long"), number)
    while len(log) < 400:
        time.sleep(0.001)
    short, _ = jobs.submit("cpu", "short", "short", lambda: busy(0.05, log, "short"), "new")
    wait(short)
    between = log[log.index("short") : len(log) - log[::-1].index("short")]
    assert between.count("long") < 3 * between.count("short")


def test_a_session_that_was_long_served_is_not_kept_waiting_for_ever(monkeypatch):
    monkeypatch.setattr(turns, "HALF_LIFE", 0.1)
    jobs, log = Jobs(), []
    long, _ = jobs.submit("cpu", "long", "long", lambda: busy(0.5, log, "long"), "old")
    for number in range(12):  # new sessions, one after the other
        wait(jobs.submit("cpu", number, "short", lambda: busy(0.06, log, "short"), number)[0])
    assert log.count("long") > 0.2 * log.count("short") and wait(long) == "long"


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_stream_of_new_sessions_leaves_a_long_job_its_share(monkeypatch, at_once):
    """By a clock of its own: ten seconds in which new sessions of one slice each come and go without end."""
    clock = [0.0]
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    queue, slices = turns.Turns(), {}
    tasks = [Task(queue, "long", "old"), *(Task(queue, "short", number) for number in range(at_once))]
    for task in tasks:
        queue._waiting.append(task)
    queue._hand_on()
    while clock[0] < 10:
        chosen = queue._holder
        clock[0] += 0.1
        slices[chosen] = slices.get(chosen, 0) + 1
        queue._waiting.append(chosen if chosen is tasks[0] else Task(queue, "short", len(slices) + at_once))
        queue.give(chosen)
        if chosen is not tasks[0]:
            queue._tasks.append(chosen)
            queue.leave(chosen)
    assert 5 <= slices[tasks[0]] <= 30  # of a hundred


def test_of_many_that_came_one_after_the_other_the_first_ends_first(monkeypatch):
    """In turn with each other, twenty would all end at the end."""
    clock, queue = [0.0], turns.Turns()
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    left, ends = {}, []
    for number in range(20):
        clock[0] += 0.5
        left[Task(queue, "second", number)] = 10
    queue._waiting.extend(left)
    queue._hand_on()
    while left:
        chosen = queue._holder
        clock[0] += 0.1
        left[chosen] -= 1
        if left[chosen]:
            queue._waiting.append(chosen)
        else:
            ends.append((chosen.session, clock[0]))
            del left[chosen]
        queue.give(chosen)
    first = sum(at - 10 for session, at in ends if session < 10) / 10
    assert first < 0.7 * (max(at for _, at in ends) - 10)


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
    assert len(log) == steps and not jobs.turns("cpu").tasks
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
    assert (status.done, status.total, status.waiting) == (4, 8, False) and 0 < status.left < 5
    status = second.status()
    assert status.waiting and status.behind == ("Attribution",) and status.left is None
    go.set()
    wait(second)


def test_a_gradient_in_blocks_can_be_stopped_in_its_middle():
    """The pause points of the additive form stand inside its backward pass too."""
    from triattn_core.attention.similarity import blockwise

    calls = []

    class Stop(Task):
        def check(self):
            calls.append(1)
            if len(calls) > 30:
                raise JobStopped

    pair, context, p = (torch.randn(1, *size).requires_grad_() for size in ((300, 64), (300, 64), (64,)))
    with Stop(Jobs().turns("cpu"), "x", 1).turn():
        scores = blockwise.Score.apply(pair, context, p)
        assert 0 < len(calls) < 30
        with pytest.raises(JobStopped):
            for _ in range(5):
                scores.sum().backward(retain_graph=True)
