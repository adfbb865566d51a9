"""A real browser, a page that must stay clean, and the app on a port of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
LONG = 240_000  # milliseconds: a busy machine loads torch and several models first
QUIET = """(least) => {
  const now = performance.now(), app = document.querySelector("[data-testid=stApp]");
  if (app?.dataset.testScriptState !== "notRunning") window.quietSince = now;
  return now - (window.quietSince ??= now) >= least;
}"""
LOCAL = ("file:", "data:", "blob:", "http://127.0.0.1", "ws://127.0.0.1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A busy machine can be slower than a page waits for: each test here has a second try, which pytest tells."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def launch(chromium):
    """Starts a browser with further arguments; a process has one Playwright, and a second one would refuse to start."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        yield lambda *further: started.chromium.launch(executable_path=chromium, args=[*ARGS, *further])


@pytest.fixture(scope="session")
def browser(launch):
    running = launch()
    yield running
    running.close()


@pytest.fixture
def page(browser):
    """A page that fails its test on any error of a script and any request that leaves this machine."""
    opened, wrong = browser.new_page(viewport={"width": 1280, "height": 900}), []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: None if request.url.startswith(LOCAL) else wrong.append(request.url))
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()
    assert not wrong


def serve(*options: str, **environment: str) -> Iterator[str]:
    """The address of the app on a free port, once its server answers; stopped afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "triattn_core", "app", "--no-browser", f"--port={port}", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, **quiet)
    try:
        for _ in range(600):
            try:
                urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:  # it is in the middle of a computation
            server.kill()


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """The app, shared by all tests."""
    yield from serve()


@pytest.fixture
def fresh_app() -> Iterator[str]:
    """The app just started: nothing is loaded yet."""
    yield from serve()


def rest(page, least: int = 700) -> None:
    """Until the page has run and runs no more for so many milliseconds: what figures send makes it run again."""
    page.evaluate("delete window.quietSince")
    page.wait_for_function(QUIET, arg=least, polling=50, timeout=LONG)


def opened(page, here: str, where: str) -> None:
    """Goes there, until it is drawn."""
    page.set_default_timeout(LONG)
    page.goto(f"{here}/{where}")
    page.wait_for_selector("h1")
    rest(page)
