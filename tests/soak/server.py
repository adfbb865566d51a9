"""The app as its command starts it, on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.soak.socket_client import Tab

ROOT = Path(__file__).parents[2]


@contextmanager
def serving(root: Path = ROOT, script: Path | None = None) -> Iterator[tuple[int, psutil.Process]]:
    """The port, and the process that was started.  root: the checkout whose app it is.  script: another app of
    Streamlit's, started by its own command."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "triattn_core", "app", "--no-browser", f"--port={port}"]
    if script:
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            str(script),
            "--server.headless=true",
            f"--server.port={port}",
        ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, **quiet)
    try:
        for _ in range(600):
            try:
                Tab(port).close()
                break
            except OSError:
                time.sleep(0.2)
        yield port, psutil.Process(running.pid)
    finally:
        running.terminate()
        try:
            running.wait(60)
        except subprocess.TimeoutExpired:
            running.kill()


def used(server: psutil.Process) -> tuple[float, float]:
    """Memory in MB and seconds of the processor of the server and its children."""
    every = [server, *server.children(recursive=True)]
    times = [one.cpu_times() for one in every]
    return sum(one.memory_info().rss for one in every) / 1e6, sum(one.user + one.system for one in times)
