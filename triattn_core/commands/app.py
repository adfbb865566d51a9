"""`triattn app`: the app's server."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from triattn_core.commands import listing, web_guard
from triattn_core.errors import TriattnError

# Streamlit takes a folder named `pages` for its older kind of app until `st.navigation` has run once, and tells the
# first visitor of a link that there is no such page.
STREAMLIT = f"""{web_guard.LAUNCH}
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

PagesManager.uses_pages_directory = False
main()
"""


OWN_HOSTS = ("localhost", "127.0.0.1")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    listing.folders(parser)
    parser.add_argument("--port", type=int, default=8501, help="port to listen on (default: 8501)")
    parser.add_argument("--address", help="address to listen on (default: this machine only)")
    parser.add_argument(
        "--site", default="", metavar="HOST", help="host name of a proxy that forwards requests, see docs/deploy.md"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")


def server_environment() -> dict[str, str]:
    """The environment of the app's server; what is set already stays.

    Threads of torch that wait for each other sleep: each job has threads of its own, and where other programs run too,
    those that spin take several times the CPU time of the work.  Fewer heaps give more memory back.  Tables are where
    the app is started, which is not where the server runs.
    """
    tables = os.path.abspath(os.environ.get("TRIATTN_TABLES", "tables"))
    return {"OMP_WAIT_POLICY": "PASSIVE", "MALLOC_ARENA_MAX": "2", **os.environ, "TRIATTN_TABLES": tables}


def run(options: argparse.Namespace) -> int:
    """Starts Streamlit, on loopback unless another address is asked for."""
    root = Path(__file__).parents[2]
    if not (root / "app.py").is_file():
        raise TriattnError(f"{root / 'app.py'}: no such file; the app is in the repository alone: there, `make app`")
    listing.add_folders(options)
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    command = [sys.executable, "-c", STREAMLIT, "run", str(root / "app.py"), "--server.port", str(options.port)]
    command += ["--server.headless", "true" if options.no_browser else "false"]
    if options.address:
        command += ["--server.address", options.address]
    for host in (options.site, *OWN_HOSTS) if options.site else ():
        command += ["--server.allowedHosts", host]
    print(f"triattn is at http://{options.address or '127.0.0.1'}:{options.port} (Ctrl-C ends it)", flush=True)
    with subprocess.Popen(command, cwd=root, env=server_environment()) as running:
        signal.signal(signal.SIGTERM, lambda *_: running.terminate())  # who stops this stops the app
        return running.wait()
