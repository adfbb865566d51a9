"""The app as docs/deploy serves a team: behind TLS and a password, in a real proxy where there is one."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, serve

SITE = "triattn.localhost"
PASSWORD = "open sesame"
CADDY = shutil.which("caddy")
pytestmark = pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for app in serve("--site", SITE):
        secret = subprocess.run([CADDY, "hash-password", "--plaintext", PASSWORD], capture_output=True, text=True)
        names = {"SITE": f"https://{SITE}:{port}", "APP": app.removeprefix("http://"), "TEAM_NAME": "team"}
        names |= {"TEAM_PASSWORD_HASH": secret.stdout.strip(), "HOME": str(tmp_path_factory.mktemp("caddy"))}
        config = Path(ROOT, "docs/deploy/Caddyfile")
        command = [CADDY, "run", "--config", config, "--adapter", "caddyfile"]
        proxy = subprocess.Popen(command, env=names, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield f"https://{SITE}:{port}/"
        proxy.terminate()
        proxy.wait(20)


def test_a_password_is_asked_for_and_opens_the_pages(site, launch):
    assert status(site) == 401
    browser = launch(f"--host-resolver-rules=MAP {SITE} 127.0.0.1")
    credentials = {"username": "team", "password": PASSWORD}
    page = browser.new_context(ignore_https_errors=True, http_credentials=credentials).new_page()
    page.goto(site)
    page.get_by_role("heading", name="Which card is the fish?").wait_for(timeout=120_000)
    browser.close()


def status(site: str) -> int:
    """Of a request without a password, once the proxy has its certificate."""
    port = int(site.rstrip("/").rpartition(":")[2])
    for _ in range(100):
        try:
            unchecked = ssl._create_unverified_context()
            with (
                socket.create_connection(("127.0.0.1", port), 5) as plain,
                unchecked.wrap_socket(plain, server_hostname=SITE) as secure,
            ):
                secure.sendall(f"GET / HTTP/1.1\r\nHost: {SITE}:{port}\r\n\r\n".encode())
                return int(secure.recv(64).split()[1])
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the proxy does not answer")
