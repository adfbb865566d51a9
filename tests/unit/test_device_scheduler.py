"""Turns of jobs on a device are fair: between short and long jobs, and between sessions."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from tests.support.busy_jobs import busy, wait
from triattn_core.inference import device_scheduler
from triattn_core.inference.device_scheduler import Task
from triattn_core.inference.jobs import Jobs
from triattn_core.inference.pause import pause


@pytest.fixture(autouse=True)
def short_slices(monkeypatch):
    monkeypatch.setattr(device_scheduler, "SLICE", 0.005)


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
    with Task(jobs.scheduler("cuda:0"), "elsewhere", 9).turn():
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
    monkeypatch.setattr(device_scheduler, "HALF_LIFE", 0.1)
    jobs, log = Jobs(), []
    long, _ = jobs.submit("cpu", "long", "long", lambda: busy(0.5, log, "long"), "old")
    for number in range(12):  # new sessions, one after the other
        wait(jobs.submit("cpu", number, "short", lambda: busy(0.06, log, "short"), number)[0])
    assert log.count("long") > 0.2 * log.count("short") and wait(long) == "long"


def come(queue: device_scheduler.DeviceScheduler, task: Task) -> None:
    """A task comes and asks for the turn."""
    queue.join(task)
    queue.ask(task)


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_stream_of_new_sessions_leaves_a_long_job_its_share(monkeypatch, at_once):
    """By a clock of its own: ten seconds in which new sessions of one slice each come and go without end."""
    clock = [0.0]
    monkeypatch.setattr(device_scheduler, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    queue, slices = device_scheduler.DeviceScheduler(), {}
    tasks = [Task(queue, "long", "old"), *(Task(queue, "short", number) for number in range(at_once))]
    for task in tasks:
        come(queue, task)
    while clock[0] < 10:
        chosen = queue.holder
        clock[0] += 0.1
        slices[chosen] = slices.get(chosen, 0) + 1
        if chosen is tasks[0]:
            queue.give(chosen)
            queue.ask(chosen)
        else:
            come(queue, Task(queue, "short", len(slices) + at_once))
            queue.give(chosen)
            queue.leave(chosen)
    assert 5 <= slices[tasks[0]] <= 30  # of a hundred


def test_of_many_that_came_one_after_the_other_the_first_ends_first(monkeypatch):
    """In turn with each other, twenty would all end at the end."""
    clock, queue = [0.0], device_scheduler.DeviceScheduler()
    monkeypatch.setattr(device_scheduler, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    left, ends = {}, []
    for number in range(20):
        clock[0] += 0.5
        left[Task(queue, "second", number)] = 10
    for task in left:
        come(queue, task)
    while left:
        chosen = queue.holder
        clock[0] += 0.1
        left[chosen] -= 1
        queue.give(chosen)
        if left[chosen]:
            queue.ask(chosen)
        else:
            ends.append((chosen.session, clock[0]))
            del left[chosen]
            queue.leave(chosen)
    first = sum(at - 10 for session, at in ends if session < 10) / 10
    assert first < 0.7 * (max(at for _, at in ends) - 10)
