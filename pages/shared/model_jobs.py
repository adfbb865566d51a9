"""Model work for a page: it runs as a job, the page says how far it is, and whoever leaves or cancels ends it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import escape
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from pages.shared.errors import escape_markdown
from triattn_core.inference.device import memory_guard
from triattn_core.inference.device_scheduler import Status, Task
from triattn_core.inference.jobs import JOBS, Job
from triattn_core.inference.memory import Housekeeper
from triattn_core.inference.result_cache import ResultCache

RESULT_BYTES = 400_000_000  # kept; the trace of two sentences of 20 tokens takes 7 MB, of 64 tokens 200 MB
LEFT_BYTES = 60_000_000  # kept where nobody is there: what the next visitor most likely asks for
QUICK = 0.3  # seconds of which nothing is said
CANCELLED = "cancelled jobs"
_NOTHING = object()
_sessions: set[str] = set()
_caches: list[ResultCache] = []


class Cancelled(StopException):
    """Ends the run of a page whose job was cancelled, once the page says so."""


@st.cache_resource
def results() -> ResultCache:
    """What was computed, for all sessions."""
    return session_bound_cache(ResultCache(RESULT_BYTES))


def session_bound_cache(cache: ResultCache) -> ResultCache:
    """A cache of which little is kept once no visitor is left."""
    _caches.append(cache)
    return cache


def kept_bytes() -> tuple[int, int]:
    """Bytes of the results and figures that are kept for all sessions, and how many may be."""
    results()
    return sum(cache.bytes for cache in _caches), sum(cache.limit for cache in _caches)


@st.cache_resource
def _housekeeper() -> Housekeeper:
    """Makes room once nobody is there."""
    return Housekeeper(lambda: bool(JOBS.running()), _anybody, _make_room)


def _make_room() -> None:
    for cache in _caches:
        cache.shrink(LEFT_BYTES)


def _anybody() -> bool:
    """Whether a session that has asked for anything is still connected."""
    if not runtime.exists():  # tests
        return True
    server = runtime.get_instance()
    _sessions.difference_update([session for session in list(_sessions) if not server.is_active_session(session)])
    return bool(_sessions)


def result(
    device: str,
    key: Hashable,
    title: str,
    run: Callable[[], Any],
    keep: Callable[[Any], None] | None = None,
    why: str = "these texts",
) -> Any:
    """The result of `run`: cached under `key`, or computed by a job that all sessions with this key share.

    title: what is being done.  keep: stores the result instead of `results`.  why: what needs the memory.
    Shared by all sessions: never write to it.  Raises TriattnError.
    """
    slot = st.empty() if get_script_run_ctx() else None
    _sessions.add(_session())
    _housekeeper().wake()
    cached = results().get(key, _NOTHING)
    if cached is not _NOTHING:
        return cached
    if slot is not None and key in st.session_state.get(CANCELLED, ()):
        _show_stopped(slot, key, title)

    def guarded() -> Any:
        with memory_guard(why):
            return run()

    keep = keep or (lambda value: results().put(key, value))
    job, number = JOBS.submit(device, key, title, guarded, _session(), keep)
    session_ended = False
    try:
        _follow(job, slot)
    except StopException:  # the session has ended; after a click the page asks again at once
        session_ended = True
        raise
    finally:
        job.unwatch(number, at_once=session_ended)
    return job.answer()


@contextmanager
def device_turn(device: str, title: str, uninterrupted: bool = False) -> Iterator[None]:
    """Context in which the page's thread takes turns with the jobs; a click or the end of the session ends the
    computation at its next pause point.  uninterrupted: without a pause and to the end, for measurements.
    """
    with _PageTask(JOBS.scheduler(device), title, _session(), uninterrupted).turn():
        yield


class _PageTask(Task):
    def check(self) -> None:
        if get_script_run_ctx() and not (self.uninterrupted and self.served):
            st.session_state.get(CANCELLED)  # raises where Streamlit wants this run to end


def _session() -> str:
    context = get_script_run_ctx()
    return context.session_id if context else "no page"


def _follow(job: Job, slot) -> None:
    """Until the job has ended; each message to the page also hears whether it has gone, or was clicked on."""
    if slot is None:  # a download, which is made where nothing can be shown
        while not job.wait(1.0):
            pass
        return
    if job.wait(QUICK):
        return
    with slot.container(horizontal=True, vertical_alignment="center"):
        bar, place = st.progress(0.0, _progress_text(job, job.status())), st.empty()
    button = False
    seconds = 0.0
    while not job.wait(min(1.0, max(0.2, seconds / 10))):  # those who wait long ask less often
        status = job.status()
        seconds = status.seconds
        bar.progress(status.done / max(1, status.total), _progress_text(job, status))
        if not button and status.seconds > 2:
            name = f"cancel-{sha256(repr(job.key).encode()).hexdigest()[:16]}"
            place.button("Cancel", key=name, width=84, on_click=_cancel, args=(job.key,))
            button = True
    slot.empty()


def _progress_text(job: Job, status: Status) -> str:
    return escape_markdown(describe(job.title, status))


def describe(title: str, status: Status) -> str:
    """A sentence: the job, its progress, and the other jobs."""
    if status.waiting and status.behind:
        first, num_others = status.behind[0], len(status.behind) - 1
        return f"Waiting behind {first}{f' and {num_others} more' if num_others else ''}"
    text = title
    if status.total:
        text += f": {status.done:,} of {status.total:,}"
    if status.remaining is not None and status.remaining >= 1:
        text += f", about {status.remaining:.0f} s left"
    if status.behind:
        other_jobs = f"{len(status.behind)} other jobs" if len(status.behind) > 1 else status.behind[0]
        text += f" (in turn with {other_jobs})"
    return text


def _cancel(key: Hashable) -> None:
    st.session_state[CANCELLED] = {*st.session_state.get(CANCELLED, ()), key}


def _resume(key: Hashable) -> None:
    st.session_state[CANCELLED] = st.session_state[CANCELLED] - {key}


def _show_stopped(slot, key: Hashable, title: str) -> None:
    """Says so, offers to run it after all, and ends the page here, with `Cancelled`."""
    with slot.container(horizontal=True, vertical_alignment="center"):
        st.html(f"Cancelled: {escape(title)}.")
        st.button("Run it", key=f"resume-{sha256(repr(key).encode()).hexdigest()[:16]}", on_click=_resume, args=(key,))
    raise Cancelled
