"""What all tests share: no network, and a plain word on the tests that are left out without a browser."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

# Compiled files are kept, whatever the environment says: else pytest makes the asserts of 400 files anew in each of its
# processes, and each interpreter that a test starts compiles all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.disable()  # until all tests are collected: what they import stays, and a walk over it finds nothing
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the server: torch's threads do not spin beside other programs
if "PYTEST_XDIST_WORKER" in os.environ:  # as many processes as cores, each with one thread
    os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("STREAMLIT_BROWSER_GATHER_USAGE_STATS", "false")

VARIABLE = "TRIATTN_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER_TESTS = "tests/browser/"
LONG = 30  # tests of the usual length that one is worth which is slow or has a timeout of its own
WITHOUT = f"no Chromium: install Debian's chromium, or set {VARIABLE} to one"


def chromium_path() -> str | None:
    """The browser of the page tests: TRIATTN_CHROMIUM, or the first Chromium or Chrome of the system."""
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser; the test is left out where there is none."""
    path = chromium_path()
    if path is None:
        pytest.skip(WITHOUT)
    return path


@pytest.fixture(scope="session", autouse=True)
def book_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test writes into the case book of whoever runs it."""
    os.environ["TRIATTN_CASES"] = str(tmp_path_factory.mktemp("book") / "cases.sqlite")


@pytest.fixture(scope="module", autouse=True)
def caches_of_its_own() -> None:
    """No file of tests is answered from what another left: small models of one name differ in their encoder."""
    if "streamlit" in sys.modules:
        sys.modules["streamlit"].cache_resource.clear()
        sys.modules["streamlit"].cache_data.clear()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """A million imported objects are left out of every later walk for garbage, which takes half a second with them."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Everything under tests/browser needs the browser; and one of several processes begins with the longest files."""
    for item in items:
        if item.nodeid.startswith(BROWSER_TESTS):
            item.add_marker("browser")
        if item.get_closest_marker("browser") and chromium_path() is None:
            item.add_marker(pytest.mark.skip(reason=WITHOUT))
    result = yield
    if hasattr(config, "workerinput"):
        length: Counter[str] = Counter()
        for item in items:
            is_long = any(map(item.get_closest_marker, ("slow", "timeout")))
            length[file_of(item)] += LONG if is_long else 1
        items.sort(key=lambda item: -length[file_of(item)])
    return result


def file_of(item: pytest.Item) -> str:
    return item.nodeid.split("::")[0]


def pytest_terminal_summary(terminalreporter) -> None:
    """Names what was left out for want of a browser."""
    left_out = [r.nodeid for r in terminalreporter.stats.get("skipped", []) if WITHOUT in str(r.longrepr)]
    if left_out:
        terminalreporter.section("left out")
        terminalreporter.line(f"{len(left_out)} tests, {WITHOUT}:")
        for name in left_out:
            terminalreporter.line(f"  {name}")
