"""`triattn app`: the app's server."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
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
    listing.modules(parser)
    parser.add_argument("--port", type=int, default=8501, help="port to listen on (default: 8501)")
    parser.add_argument("--address", help="address to listen on (default: this machine only)")
    parser.add_argument(
        "--site", default="", metavar="HOST", help="host name of a proxy that forwards requests, see docs/deploy.md"
    )
    text = "open this file of attention, as `triattn record`, `import` and `open` save it"
    parser.add_argument("--open", type=Path, metavar="FILE", help=text)
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
    listing.add_modules(options)
    if options.device:
        os.environ["TRIATTN_DEVICE"] = options.device
    command = [sys.executable, "-c", STREAMLIT, "run", str(root / "app.py"), "--server.port", str(options.port)]
    command += ["--server.headless", "true" if options.no_browser else "false"]
    if options.address:
        command += ["--server.address", options.address]
    for host in (options.site, *OWN_HOSTS) if options.site else ():
        command += ["--server.allowedHosts", host]
    address = f"http://{options.address or '127.0.0.1'}:{options.port}"
    if options.open:
        command += ["--server.headless", "true"]  # Streamlit can open its first page alone
        address += f"/open?trace={store_trace(options.open, root)}"
    print(f"triattn is at {address} (Ctrl-C ends it)", flush=True)
    with subprocess.Popen(command, cwd=root, env=server_environment()) as running:
        if options.open and not options.no_browser:
            threading.Thread(target=_open_browser, args=(address, options.port), daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: running.terminate())  # who stops this stops the app
        return running.wait()


def store_trace(file: Path, root: Path) -> str:
    """The name under which the app's server keeps the trace of a file.  Raises DataError or TraceError."""
    from triattn_core.importers import trace_store
    from triattn_core.importers.open_file import open_file

    os.environ[trace_store.VARIABLE] = os.path.abspath(os.environ.get(trace_store.VARIABLE, root / trace_store.FOLDER))
    return trace_store.store(open_file(file))


def _open_browser(address: str, port: int) -> None:
    """Opens the address once something listens there, within a minute."""
    for _ in range(120):
        with socket.socket() as probe:
            if probe.connect_ex((address.split("/")[2].rpartition(":")[0], port)) == 0:
                webbrowser.open(address)
                return
        time.sleep(0.5)
