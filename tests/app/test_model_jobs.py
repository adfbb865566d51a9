"""Model work of pages: shared, counted, cancelled, and never in the way of another session's."""

from __future__ import annotations

import time
from threading import Event

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import checkpoint_html, model_jobs
from triattn_core.inference.device import describe_device
from triattn_core.inference.device_scheduler import Status
from triattn_core.inference.jobs import JOBS, JobStopped


def page() -> None:
    """A page that asks for something long."""
    import time

    import streamlit as st

    from pages.shared import model_jobs
    from tests.app.test_model_jobs import LOG
    from triattn_core.inference.pause import progress

    def work():
        LOG.append("began")
        for done in range(4000):
            time.sleep(0.005)
            progress(done, 4000)
        return "the answer"

    st.write("above")
    st.write(model_jobs.result("cpu", ("test", "long"), "Counting sheep", work))


LOG: list[str] = []


def running() -> list:
    return [task for task in JOBS.scheduler("cpu").tasks if task.title == "Counting sheep"]


@pytest.fixture(autouse=True)
def clean():
    LOG.clear()
    yield
    for job in running():
        job.stopped = True
        assert job.wait(5.0)


def test_a_page_that_is_left_ends_its_job_and_a_cancelled_one_says_so():
    app = AppTest.from_function(page, default_timeout=3)
    with pytest.raises(RuntimeError, match="timed out"):
        app.run()
    assert LOG == ["began"]  # AppTest has asked the run to stop, as a closed tab does
    until = time.monotonic() + 3
    while running() and time.monotonic() < until:
        time.sleep(0.02)
    assert not running()
    app = AppTest.from_function(page, default_timeout=20)
    app.session_state[model_jobs.CANCELLED] = {("test", "long")}
    app.run()
    assert "Cancelled: Counting sheep." in app.get("html")[0].proto.body
    assert [button.label for button in app.button] == ["Run it"] and LOG == ["began"] and len(app.markdown) == 1


def test_two_sessions_share_one_run_and_one_that_leaves_stops_nothing():
    go, runs = Event(), []
    ask = lambda: JOBS.submit("cpu", "shared", "x", lambda: runs.append(1) or go.wait(5), object())  # noqa: E731
    (job, first), (same, _) = ask(), ask()
    job.unwatch(first, at_once=True)
    go.set()
    assert same.wait(5.0) and same.answer() and runs == [1]
    assert not isinstance(job.error, JobStopped)


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (Status(True, ("Attribution", "Cube"), 0, 0, 1.0, None), "Waiting behind Attribution and 1 more"),
        (Status(False, (), 3, 64, 1.0, 20.4), "Reading: 3 of 64, about 20 s left"),
        (Status(False, ("Attribution",), 0, 0, 1.0, None), "Reading (in turn with Attribution)"),
        (Status(False, ("a", "b"), 0, 0, 1.0, None), "Reading (in turn with 2 other jobs)"),
    ],
)
def test_what_is_said(status: Status, sentence: str):
    assert model_jobs.describe("Reading", status) == sentence


def test_what_is_kept_is_counted_and_shown_on_studies():
    before, limit = model_jobs.kept_bytes()
    model_jobs.results().put(("test", "large"), np.zeros(3_000_000, np.uint8))
    after, _ = model_jobs.kept_bytes()
    assert after - before >= 3_000_000 and after <= limit
    assert f"{after / 1e6:.0f} of at most" in checkpoint_html.machine(describe_device("cpu"), (after, limit))
