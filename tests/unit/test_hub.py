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

# The real commands, in a process that writes down each name that it looks up, as without a network none is found.
WATCH = """
import json, socket, sys

def getaddrinfo(host, *more, **options):
    print("LOOKS UP", host, file=sys.stderr, flush=True)
    raise socket.gaierror(-2, "Name or service not known")

socket.getaddrinfo = getaddrinfo
from triattn_core.__main__ import main
codes = []
for command in map(json.loads, sys.argv[1:]):
    codes.append(main(command))
    print("ENDS", flush=True)
    print("ENDS", file=sys.stderr, flush=True)
sys.exit(codes != [1] * len(codes))
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


def run(checkpoint_folder: Path, *commands: list[str], **more: str) -> list[tuple[str, str]]:
    """What each of the commands, all of which fail, says: output and errors."""
    new = {name: value for name, value in os.environ.items() if name not in ("HF_HUB_OFFLINE", "TRIATTN_HUB")}
    new |= {
        "PYTHONPATH": os.getcwd(),
        "TRIATTN_CHECKPOINTS": str(checkpoint_folder),
        "HF_HOME": str(checkpoint_folder / "cache"),
        **more,
    }
    command = [sys.executable, "-c", WATCH, *map(json.dumps, commands)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=new)
    said = list(zip(done.stdout.split("ENDS\n")[:-1], done.stderr.split("ENDS\n")[:-1], strict=True))
    assert done.returncode == 0 and len(said) == len(commands) and "Traceback" not in done.stderr, done.stderr[-1500:]
    return said


def test_an_unknown_name_is_told_without_asking_the_hub(checkpoint_folder):
    commands = [["verify", "lost"], ["verify", "odd"], ["import", "nobody/has-this-model", "a text"]]
    for output, errors in run(checkpoint_folder, *commands):
        assert "LOOKS UP" not in errors and "--hub" in output + errors, (output, errors)


def test_the_hub_is_asked_where_somebody_says_so(checkpoint_folder):
    seconds = {"HF_HUB_DOWNLOAD_TIMEOUT": "1", "HF_HUB_ETAG_TIMEOUT": "1"}
    ((_, errors),) = run(checkpoint_folder, ["verify", "lost", "--hub"], **seconds)
    assert "LOOKS UP huggingface.co" in errors
