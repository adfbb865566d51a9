"""The example notebook: its cells run, and what is stored beside them is what they show."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from tests.support.notebook import ran
from triattn_core.checkpoint.registry import VARIABLE, root

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "triattn_core" / "example.ipynb"
DRAWING = "data:image/svg+xml;base64,"  # of a chart
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def text(outputs: list[dict]) -> str:
    """What a cell says in words and numbers."""
    return "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in outputs)


def payload(outputs: list[dict]) -> dict | None:
    """What a cell's canvas draws."""
    page = next(
        ("".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})), None
    )
    if page is None or DRAWING in page:
        return None
    inner = html.unescape(re.search(r'srcdoc="([^"]*)"', page)[1])
    return json.loads(re.search(r'<script id="payload"[^>]*>(.*?)</script>', inner, re.DOTALL)[1])


def test_it_is_small_and_tells_nothing_of_a_machine():
    assert NOTEBOOK.stat().st_size < 450_000
    stored = NOTEBOOK.read_text("utf-8")
    assert not re.search(r"/(?:home|root|tmp|Users|work|opt)/|[A-Z]:\\\\", stored) and str(ROOT) not in stored


@pytest.mark.slow
def test_its_cells_show_what_is_stored(monkeypatch):
    if not any(root().glob("*/quora-tri-published/model.safetensors")):
        pytest.skip("no quora-tri-published: copy the folder checkpoints/")
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    pictures = figures = charts = 0
    for cell, outputs in ran(json.loads(NOTEBOOK.read_text("utf-8"))):
        stored = cell["outputs"]
        assert [output["output_type"] for output in outputs] == [record["output_type"] for record in stored] and stored
        assert NUMBER.sub("#", text(outputs)) == NUMBER.sub("#", text(stored))
        numbers = [[float(number) for number in NUMBER.findall(text(some))] for some in (outputs, stored)]
        np.testing.assert_allclose(*numbers, atol=2e-4)
        assert [output.get("data", {}).keys() for output in outputs] == [
            record.get("data", {}).keys() for record in stored
        ]
        pictures += sum("image/png" in record.get("data", {}) for record in stored)
        charts += sum(DRAWING in "".join(record.get("data", {}).get("text/html", "")) for record in stored)
        if (now := payload(outputs)) is not None:
            then, figures = payload(stored), figures + 1
            assert now.keys() == then.keys() and now["axes"] == then["axes"] and now["caption"] == then["caption"]
            exact = [sent_array(one, 0, "weight") for one in (now, then)]
            np.testing.assert_allclose(*exact, atol=1e-5)
    assert (pictures, figures, charts) == (1, 1, 1)
