"""A picture read by a module of one's own: patches over what it saw."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from triattn_core.__main__ import main
from triattn_core.checkpoint import own_modules
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources import open_source
from triattn_core.sources.own_picture import patch_grid
from triattn_core.sources.own_text import probe
from triattn_core.trace import AttentionTrace

VISION = """
import numpy, torch

class Vision(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.cut, self.first = torch.nn.Conv2d(3, 8, 4, 4), torch.nn.Parameter(torch.randn(1, EXTRA, 8))

    def forward(self, pixels):
        states = torch.cat([self.first, self.cut(pixels).flatten(2).mT], 1)
        return torch.nn.functional.scaled_dot_product_attention(states, states, states)

def encode(picture):
    levels = torch.from_numpy(numpy.array(picture.resize((20, 12)))).float().permute(2, 0, 1)[None]
    return (levels / 255 - 0.5) / torch.tensor([0.2, 0.3, 0.4]).view(3, 1, 1), None

def build():
    return Vision(), encode
"""


@pytest.fixture
def picture(tmp_path):
    levels = np.random.default_rng(2).integers(0, 255, (12, 20, 3), dtype=np.uint8)
    Image.fromarray(levels).save(tmp_path / "seen.png")
    return tmp_path / "seen.png", levels


@pytest.mark.parametrize("extra", [0, 1, 3])
def test_its_patches_lie_over_what_it_saw(extra, picture, tmp_path, capsys):
    path, levels = picture
    (tmp_path / "mine.py").write_text(VISION.replace("EXTRA", str(extra)))
    assert main(["record", f"{tmp_path}/mine.py:build", str(path), "--out", str(tmp_path / "T.nc")]) == 0
    trace = AttentionTrace.load(tmp_path / "T.nc")
    (array,) = trace.sites.values()
    places = [(row, column) for row in range(3) for column in range(5)]
    for axis in ("query", "key"):
        found = list(zip(array[f"{axis}_patch_row"].values, array[f"{axis}_patch_column"].values))
        assert found == [(-1, -1)] * extra + places
        assert array[f"{axis}_token"].values[-1] == "3.5"
    png = base64.b64decode(str(trace.meta["picture"]).partition(",")[2])
    np.testing.assert_allclose(np.asarray(Image.open(io.BytesIO(png)), int), levels.astype(int), atol=1)


def test_a_picture_whose_patches_fit_no_axis_says_so(picture, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(VISION.replace("EXTRA", "9"))
    assert main(["record", f"{tmp_path}/mine.py:build", str(picture[0]), "--out", str(tmp_path / "T.nc")]) == 0
    trace = AttentionTrace.load(tmp_path / "T.nc")
    assert "picture" not in trace.meta and "No axis has as many positions" in str(trace.meta["notes"])
    (tmp_path / "bare.py").write_text("import torch\ndef build(): return torch.nn.Linear(1, 1)\n")
    assert main(["record", f"{tmp_path}/bare.py:build", str(picture[0])]) == 1
    assert "for a text or a picture" in capsys.readouterr().err


def test_the_grid_is_the_finest_that_fits():
    assert patch_grid(224, 224, 197) == (14, 14) and patch_grid(224, 224, 196) == (14, 14)
    assert patch_grid(12, 20, 15) == (3, 5) and patch_grid(12, 20, 24) is None and patch_grid(7, 11, 3) is None


def test_a_page_knows_that_it_reads_pictures(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(VISION.replace("EXTRA", "1"))
    build = f"{tmp_path / 'mine.py'}:build"
    monkeypatch.setenv(own_modules.VARIABLE, "[]")
    own_modules.offer([build], [probe(OwnModule.of(build))])
    (entry,) = own_modules.list_modules()
    assert entry.config["model"]["reads"] == "picture" and not open_source(entry).abilities
