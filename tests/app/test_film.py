"""A text that a model writes, token after token, on Your model: against generation and eager attentions by hand."""

from __future__ import annotations

import re

import pytest
import torch
import transformers
import xarray as xr

from pages.open import film_part
from tests.app.test_pages import opened, sound, texts
from tests.support.tiny_transformers import make
from triattn_core.scenes.two_way_map import Settings
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import GENERATED
from triattn_core.trace.site import Site

TEXT, WRITTEN = "unhappy cats sat", 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(make("gpt2", tmp_path_factory.mktemp("film") / "gpt2"))


def test_each_written_token_shows_what_it_looked_at(folder) -> None:
    query = {"from": "From a model", "model": folder, "text": TEXT, "write": str(WRITTEN), "at-head": "2.3"}
    app = sound(opened("open", **query))
    assert not app.toggle(key="play").value
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        written = model.generate(ids, max_new_tokens=WRITTEN, do_sample=False)
        maps = model(written[:, :-1], output_attentions=True).attentions[1][0, 2]
    for step in (0, WRITTEN - 1):
        page_text = texts(app.number_input(key="token").set_value(step + 1).run())
        (film,) = re.findall(r'<p class="t-film">.*?</p>', page_text)
        row = maps[ids.shape[1] - 1 + step, : ids.shape[1] + step]
        shown = [float(number) for number in re.findall(r'title=".*?: (\d\.\d{3})"', film)]
        assert shown == [pytest.approx(float(weight), abs=6e-4) for weight in row]


@pytest.mark.parametrize(("role", "shown"), [("cross", True), ("decoder", True), ("encoder", False)])
def test_what_was_read_is_no_film(role: str, shown: bool) -> None:
    """An encoder may read as many tokens as are written."""
    site = Site(layer=0, role=role, quantity="weight")
    weights = xr.DataArray([[[0.5, 0.5], [0.5, 0.5]]], dims=("head", "query", "key"), attrs={"quantity": "weight"})
    trace = AttentionTrace({site: weights}, {}, {GENERATED: 2})
    assert film_part.is_shown(trace, Settings(site=site)) is shown


def test_a_written_text_opens_on_what_it_read_of_the_source() -> None:
    sites = [Site(layer=layer, role=role) for layer in (0, 1) for role in ("encoder", "decoder", "cross")]
    weights = xr.DataArray([[[0.5, 0.5], [0.5, 0.5]]], dims=("head", "query", "key"), attrs={"quantity": "weight"})
    trace = AttentionTrace({site.with_quantity("weight"): weights for site in sites}, {}, {GENERATED: 2})
    assert film_part.opening(trace, sites) == 5
    assert (
        film_part.opening(trace, sites[:2]) == 1 and film_part.opening(AttentionTrace(trace.sites, {}, {}), sites) == 0
    )
