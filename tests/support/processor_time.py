"""`python -m pytest -p tests.support.processor_time …`: the twenty tests that take most of the processor.

Seconds of the test's process and of its children that have ended, in setup, call and teardown: on a busy machine the
clock says more of the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

KEY, SHOWN = "processor seconds", 20


def _spent() -> float:
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def _measured(item: pytest.Item) -> Iterator[None]:
    before = _spent()
    try:
        return (yield)
    finally:
        item.user_properties.append((KEY, _spent() - before))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    return (yield from _measured(item))


def pytest_terminal_summary(terminalreporter) -> None:
    """The table, and the sum of all tests."""
    ended = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "teardown"
    ]
    seconds = {one.nodeid: sum(value for key, value in one.user_properties if key == KEY) for one in ended}
    terminalreporter.section(f"{sum(seconds.values()):.0f} processor seconds")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:SHOWN]:
        terminalreporter.line(f"{seconds[name]:8.1f}  {name}")
