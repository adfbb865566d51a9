"""A recorded cube with a mask, of the model's third layer, in a real browser: hatched cells are said to be masked."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tests.browser.conftest import rest, serve
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import MASKED

CUBE = "canvas[data-cell]"


def test_a_masked_cell_says_so_and_layers_have_the_numbers_of_the_model(page, tmp_path):
    later = np.arange(5) > np.arange(5)[:, None]
    masked = later[:, :, None] | later[:, None]
    weights = np.where(masked, 0, np.random.default_rng(0).uniform(0.1, 1, (2, 5, 5, 5)))
    weights /= weights.sum((2, 3), keepdims=True)
    attrs = {"quantity": "weight", "sums_over": "key,context", "mask": "causal"}
    dims = ("head", "query", "key", "context")
    cube = xr.DataArray(weights.astype(np.float32), {MASKED: (dims[1:], masked)}, dims, attrs=attrs)
    sites = {f"layer.{layer}/attention/weight": cube for layer in (2, 5)}
    AttentionTrace(sites, {}, {"checkpoint": "mine"}).save(tmp_path / "T.nc")
    for address in serve(TRIATTN_TRACES=str(tmp_path / "traces")):
        page.set_default_timeout(150_000)
        page.goto(f"{address}/open")
        page.get_by_label("or its path on this machine").fill(str(tmp_path / "T.nc"))
        page.keyboard.press("Enter")
        page.get_by_text("2 cubes in 2 layers: 2 heads × 5 queries × 5 keys × 5 contexts").wait_for()
        rest(page)  # what the example before drew goes when the run ends
        layers = page.get_by_role("radiogroup", name="Layer")
        assert layers.get_by_role("radio").all_inner_texts() == ["3", "6"]
        page.locator(CUBE).focus()
        for _ in range(4):
            page.keyboard.press("ArrowUp")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.locator(".sentence", has_text="may not attend to").wait_for()
        assert page.locator(".sentence").inner_text().endswith(": a mask leaves it out.")
