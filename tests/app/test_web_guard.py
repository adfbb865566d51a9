"""The app's server as strangers meet it: another origin, the metrics, a frame of another site."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from streamlit import config
from streamlit.web import skills

from triattn_core.commands.web_guard import same_origin

ROOT = Path(__file__).parents[2]
SOCKET = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
SOCKET |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
# Any connection that leaves this machine is written down; the server's code is the real one.
WATCH = """
import socket, sys
from triattn_core.commands.app import STREAMLIT
real = socket.socket.connect

def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and self.type == socket.SOCK_STREAM:
        if address[0] not in ("127.0.0.1", "::1", "localhost"):
            print("LEAVES", address, flush=True)
    return real(self, address)

socket.socket.connect = connect
lookup = socket.getaddrinfo

def getaddrinfo(host, *more, **options):
    if host not in (None, "127.0.0.1", "localhost", "::1"):
        print("LOOKS UP", host, flush=True)
    return lookup(host, *more, **options)

socket.getaddrinfo = getaddrinfo
exec(STREAMLIT)
"""


def test_nothing_is_advertised_where_a_coding_agent_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skills, "agent_harness_present", lambda: True)
    get = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: False if name == "server.headless" else get(name))
    assert skills.nudge_suppression_reason(str(ROOT)) == "welcome_hidden"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[int, Path]]:
    """Port of a server, and the file of what it looked up or connected to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-c", WATCH, "run", "app.py", "--server.port", str(port), "--server.headless", "true"]
    with open(log, "w") as file:
        running = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=file, env=dict(os.environ))
    try:
        for _ in range(300):
            assert running.poll() is None, log.read_text()
            try:
                if ask(port, "/_stcore/health")[0] == 200:
                    break
            except OSError:
                time.sleep(0.2)
        yield port, log
    finally:
        running.terminate()
        running.wait(20)


def ask(port: int, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    asked = HTTPConnection("127.0.0.1", port, timeout=20)
    asked.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = asked.getresponse()
    response = answer.status, {name.lower(): value for name, value in answer.getheaders()}
    asked.close()
    return response


def test_another_origin_gets_no_socket_and_nobody_is_asked_about_it(server):
    port, log = server
    for origin in ("https://example.org", f"http://127.0.0.1:{port + 1}", "http://localhost:1", "null", "x://["):
        assert ask(port, "/_stcore/stream", Origin=origin, **SOCKET)[0] == 403, origin
        assert ask(port, "/", Origin=origin)[0] == 403, origin
    assert "LEAVES" not in log.read_text() and "LOOKS UP" not in log.read_text()
    for own in ({"Origin": f"http://127.0.0.1:{port}"}, {}):
        assert ask(port, "/_stcore/stream", **own, **SOCKET)[0] == 101


def test_the_metrics_are_closed_and_pages_are_framed_by_nobody(server):
    port, _ = server
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/cube/_stcore/metrics"):
        status, headers = ask(port, path)
        assert status == 404 and headers["x-frame-options"] == "SAMEORIGIN"
    for path in ("/", "/cube", "/_stcore/health"):
        status, headers = ask(port, path)
        assert status == 200 and headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in headers["content-security-policy"]
        assert "http" not in headers["content-security-policy"] and headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [("http://127.0.0.1:8501", "127.0.0.1:8501", True), ("https://A.org", "a.org", True), ("null", "a.org", False),
     ("http://127.0.0.1:8502", "127.0.0.1:8501", False), ("", "", False), ("http://[", "[", False)],
)  # fmt: skip
def test_an_origin_is_host_and_port(origin, host, same):
    assert same_origin(origin, host) is same


def test_the_server_s_threads_sleep_while_they_wait(monkeypatch):
    from triattn_core.commands.app import server_environment

    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert server_environment()["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    assert server_environment()["OMP_WAIT_POLICY"] == "ACTIVE"


def test_tables_are_where_the_app_is_started(monkeypatch, tmp_path):
    from triattn_core.commands.app import server_environment

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIATTN_TABLES", raising=False)
    assert server_environment()["TRIATTN_TABLES"] == str(tmp_path / "tables")
    monkeypatch.setenv("TRIATTN_TABLES", "mine")
    assert server_environment()["TRIATTN_TABLES"] == str(tmp_path / "mine")
