"""Models that are stored in half precision: what is rounding is no doubt about their weights, and what is not, is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
import xarray as xr

from tests.support.tiny_transformers import make, make_type
from triattn_core.recording.arrays import describe_arrays
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.trace.from_array import notes_of

TEXT = "unhappy cats sat on mats"
HALF = [torch.bfloat16, torch.float16]


def halved(path, dtype) -> str:
    kind = transformers.AutoConfig.from_pretrained(path).architectures[0]
    getattr(transformers, kind).from_pretrained(path, dtype=dtype).save_pretrained(path)
    return str(path)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("family", ["bert", "gpt2", "deberta", "llama", "t5", "qwen3_next"])
def test_a_model_in_half_precision_is_proved_within_its_rounding(family, dtype, tmp_path):
    path = make(family, tmp_path) if family in ("bert", "gpt2", "deberta") else make_type(family, tmp_path)
    whole = trace_transformer(load_transformer(str(path)), TEXT)
    model = load_transformer(halved(path, dtype))
    assert model.model.dtype == dtype
    trace = trace_transformer(model, TEXT)
    assert not any("Not proved" in note or "do not sum to one" in note for note in notes_of(trace)), notes_of(trace)
    assert list(trace.sites) == list(whole.sites)
    for site, array in trace.sites.items():
        assert array.attrs["sums_over"] == whole.sites[site].attrs["sums_over"]
        assert abs(array.sum("key") - 1).max() <= torch.finfo(dtype).eps


class Bent(torch.nn.Module):
    """Attention whose output is changed by a share within the product: the weights do not make it."""

    def __init__(self, share: float):
        super().__init__()
        self.share = share

    def forward(self, x):
        weights = (x @ x.mT).softmax(-1)
        weights = torch.where(torch.eye(len(x), dtype=torch.bool), weights * (1 + self.share), weights)
        return weights @ x


@pytest.mark.parametrize("dtype", HALF)
def test_what_is_more_than_rounding_is_still_said(dtype):
    torch.manual_seed(0)
    states = torch.randn(6, 4).to(dtype)
    for share, said in ((0.0, False), (0.1, True)):
        with record(Bent(share)) as tape:
            tape.model(states)
        notes = tape.trace(tokens=list("abcdef")).meta["notes"]
        assert ("Rows do not sum to one" in notes) == said, notes


@pytest.mark.parametrize(
    ("precision", "error", "note"),
    [
        ("bfloat16", 0.05, "Not proved: in layer, weights times values differ from what the model computed by 0.05."),
        ("bfloat16", 0.003, "rebuild what the model computed, to 0.003, which is within the rounding of bfloat16."),
        ("float16", 0.003, "Not proved: in layer, weights times values differ from what the model computed by 0.003."),
        ("float32", 0.003, "Not proved: in layer, weights times values differ from what the model computed by 0.003."),
        ("float32", 3e-7, "rebuild what the model computed, to 3e-07."),
        ("float32", 0.0, "rebuild what the model computed, to the bit."),
    ],
)
def test_an_error_is_judged_by_the_type_that_the_model_computes_in(precision, error, note):
    attrs = {"rebuilt": error, "precision": precision, "module": "layer", "kind": "softmax", "reaches": ""}
    array = xr.DataArray(
        np.eye(3)[None], dims=("head", "query", "key"), attrs=attrs | {"quantity": "weight", "columns": 3}
    )
    assert note in describe_arrays({"a": array})[0]
