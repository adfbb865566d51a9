"""Whoever clones the project downloads its checkpoints: together at most 250 MB."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT, MOST = Path(__file__).resolve().parents[2], 250_000_000  # bytes


def test_checkpoints_are_small_enough() -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "checkpoints"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a clone")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert sum(path.stat().st_size for path in files if path.is_file()) <= MOST
