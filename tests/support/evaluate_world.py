"""Checkpoints with drawn weights on one encoder, and the rows that they are evaluated on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.tiny import make_checkpoint, make_encoder, make_rows, make_world

NAMES = ("bi", "cbi", "tri", "tri-again")


@contextmanager
def use_world(root: Path) -> Iterator[Path]:
    """The folder with `checkpoints`, which TRIATTN_CHECKPOINTS names, and `rows.jsonl` with 75 rows."""
    make_world(root, ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        for seed, name in enumerate(NAMES, 3):
            make_checkpoint(root, name, name.partition("-")[0], seed)
        make_rows(root / "rows.jsonl", 75, seed=9)
        yield root


def make_stranger(world: Path) -> Path:
    """A checkpoint on another encoder."""
    encoder = world / "checkpoints" / "encoders" / "other"
    if not encoder.is_dir():
        make_encoder(encoder, seed=6)
    return make_checkpoint(world, "stranger", "bi", 3, encoder="other")
