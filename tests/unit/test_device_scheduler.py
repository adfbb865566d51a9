"""Turns of jobs on a device are fair: between short and long jobs, and between sessions."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from tests.support.busy_jobs import wait
from triattn_core.inference import device_scheduler
from triattn_core.inference.device_scheduler import Task
from triattn_core.inference.jobs import Jobs
from triattn_core.inference.pause import pause


@pytest.fixture(autouse=True)
def short_slices(monkeypatch):
    monkeypatch.setattr(device_scheduler, "SLICE", 0.005)


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


def come(queue: device_scheduler.DeviceScheduler, task: Task) -> None:
    """A task comes and asks for the turn."""
    queue.join(task)
    queue.ask(task)


class Played:
    """A device whose clock runs by slices of a tenth of a second: what the order of turns is, on any machine."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(device_scheduler, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.queue, self.left, self.turns = device_scheduler.DeviceScheduler(), {}, []

    def come(self, title: str, session, slices: int) -> Task:
        """A job of so many slices comes."""
        task = Task(self.queue, title, session)
        self.left[task] = slices
        come(self.queue, task)
        return task

    def turn(self) -> None:
        """One slice of the job that has the turn."""
        task = self.queue.holder
        self.now += 0.1
        self.turns.append(task.title)
        self.left[task] -= 1
        self.queue.give(task)
        if self.left[task]:
            self.queue.ask(task)
        else:
            self.queue.leave(task)

    def until_the_end_of(self, task: Task) -> list[str]:
        """The titles of those that have the turns until it ends."""
        before = len(self.turns)
        while self.left[task]:
            self.turn()
        return self.turns[before:]


def test_a_session_with_many_jobs_gets_no_more_than_one_with_a_single_job(monkeypatch):
    device = Played(monkeypatch)
    for _ in range(4):
        device.come("many", "greedy", 30)
    turns = device.until_the_end_of(device.come("single", "modest", 10))
    assert turns.count("single") == 10 and turns.count("many") < 20


def test_a_short_question_goes_before_many_long_ones(monkeypatch):
    """In turn with ten it would take ten times as long."""
    device = Played(monkeypatch)
    for number in range(10):
        device.come("long", number, 100)
    for _ in range(100):
        device.turn()
    assert device.until_the_end_of(device.come("short", "new", 5)).count("long") < 10


def test_a_short_job_does_not_wait_for_a_long_one(monkeypatch):
    device = Played(monkeypatch)
    long = device.come("long", "old", 50)
    device.turn()
    assert device.until_the_end_of(device.come("short", "new", 5)).count("long") < 8 and device.left[long]


def test_a_session_that_was_long_served_is_not_kept_waiting_for_ever(monkeypatch):
    monkeypatch.setattr(device_scheduler, "HALF_LIFE", 2.0)
    device = Played(monkeypatch)
    device.come("long", "old", 500)
    for _ in range(20):
        device.turn()
    for number in range(12):  # new sessions, one after the other
        device.until_the_end_of(device.come("short", number, 12))
    assert device.turns[20:].count("long") > 0.2 * device.turns.count("short")


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
