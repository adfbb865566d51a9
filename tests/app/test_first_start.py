"""`triattn app` on an account that has never started Streamlit."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen


def test_a_first_start_asks_nothing(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    new = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "BROWSER": "true"}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    root = Path(__file__).parents[2]
    app = subprocess.Popen(
        [sys.executable, "-m", "triattn_core", "app", "--port", str(port)], cwd=root, env=new, **quiet
    )
    try:
        for _ in range(300):
            assert app.poll() is None, app.stdout.read()
            try:
                assert urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).status == 200
                break
            except URLError:
                time.sleep(0.2)
        else:
            raise AssertionError("it does not answer")
    finally:
        app.terminate()
        app.wait(20)
