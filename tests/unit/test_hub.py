"""Nothing is asked of the hub unless somebody says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiny import make_checkpoint, make_encoder

pytestmark = pytest.mark.slow

# The real command, in a process that writes down each name that it looks up, as without a network none is found.
WATCH = """
import socket, sys

def getaddrinfo(host, *more, **options):
    print("LOOKS UP", host, file=sys.stderr, flush=True)
    raise socket.gaierror(-2, "Name or service not known")

socket.getaddrinfo = getaddrinfo
from triattn_core.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def checkpoint_folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    for name, encoder in (("lost", "nobody/has-this-encoder"), ("odd", "../../../:no name at all:/..")):
        folder = make_checkpoint(root, name, "bi", 1)
        config = json.loads((folder / "config.json").read_text("utf-8")) | {"encoder": encoder}
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return root / "checkpoints"


def run(checkpoint_folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess:
    new = {name: value for name, value in os.environ.items() if name not in ("HF_HUB_OFFLINE", "TRIATTN_HUB")}
    new |= {
        "PYTHONPATH": os.getcwd(),
        "TRIATTN_CHECKPOINTS": str(checkpoint_folder),
        "HF_HOME": str(checkpoint_folder / "cache"),
        **more,
    }
    return subprocess.run([sys.executable, "-c", WATCH, *command], capture_output=True, text=True, timeout=200, env=new)


@pytest.mark.parametrize(
    "command", [["verify", "lost"], ["verify", "odd"], ["import", "nobody/has-this-model", "a text"]], ids=" ".join
)
def test_an_unknown_name_is_told_without_asking_the_hub(checkpoint_folder, command):
    done = run(checkpoint_folder, *command)
    assert done.returncode == 1 and "LOOKS UP" not in done.stderr, done.stderr[-1500:]
    assert "--hub" in done.stdout + done.stderr and "Traceback" not in done.stderr


def test_the_hub_is_asked_where_somebody_says_so(checkpoint_folder):
    done = run(checkpoint_folder, "verify", "lost", "--hub", HF_HUB_DOWNLOAD_TIMEOUT="1", HF_HUB_ETAG_TIMEOUT="1")
    assert done.returncode == 1 and "LOOKS UP huggingface.co" in done.stderr and "Traceback" not in done.stderr
