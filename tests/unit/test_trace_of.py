"""`trace_of`: arrays of any library, their axes, tokens, quantity and crop."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import xarray as xr

import triattn_core
from tests.oracles import array_trace as oracle
from triattn_core.errors import ConfigError, TraceError
from triattn_core.trace.array_axes import AxesError
from triattn_core.trace.axis_labels import count
from triattn_core.trace.from_array import notes_of, trace_of
from triattn_core.trace.quantity_check import row_notes, softmax
from triattn_core.trace.token_lists import join_tokens

HEADS, N, I, J = 2, 3, 5, 7
CUBES = ("head", "query", "key", "context")
DRAW = np.random.default_rng(5)


def weights(*sizes: int, over: int = 2) -> np.ndarray:
    values = DRAW.random(sizes or (HEADS, N, I, J))
    return values / values.sum(tuple(range(-over, 0)), keepdims=True)


def words(count: int, of: str = "w") -> list[str]:
    return [f"{of}{i}" for i in range(count)]


def test_axes_go_where_they_belong():
    given = weights()
    trace = trace_of(given, tokens={"query": words(N), "key": words(I), "context": words(J)}).site("attention/weight")
    assert trace.dims == ("head", "query", "key", "context") and trace.attrs["sums_over"] == "key,context"
    np.testing.assert_allclose(trace.values, given, rtol=1e-6)
    turned = trace_of(given.transpose(3, 0, 2, 1), axes=("context", "head", "key", "query"))
    np.testing.assert_array_equal(turned.site("attention/weight").values, trace.values)
    assert trace["context_token"].values.tolist() == words(J)


def test_two_axes_and_a_cube_need_no_names_and_three_do():
    assert trace_of(weights(N, I, over=1)).site("attention/weight").dims == ("query", "key")
    cube = trace_of(weights(N, I, J), tokens={"context": words(J)}).site("attention/weight")
    assert cube.dims == ("query", "key", "context")
    assert trace_of(weights(N, I, J)).site("attention/weight").dims == ("query", "key", "context")
    with pytest.raises(AxesError, match="can be read in more than one way") as error:
        trace_of(DRAW.random((N, I, J)))
    assert error.value.readings[:2] == ("query key context", "head query key")
    for given, first in (
        (weights(2, HEADS, N, I, over=1), "layer head query key"),
        (DRAW.random((2, HEADS, N, N)), "layer head query key"),  # maps of one text, in training
        (DRAW.random((2, 1, HEADS, N, N)), "layer batch head query key"),
        (weights(2, HEADS, N, I, J), "layer head query key context"),
        (DRAW.random((2, HEADS, N, I, J)), "layer head query key context"),
    ):
        with pytest.raises(AxesError) as error:
            trace_of(given)
        assert error.value.readings[0] == first
    with pytest.raises(TraceError, match="name the axes, such as head query key"):
        trace_of(weights(HEADS, N, I, over=1))
    with pytest.raises(TraceError, match="last axis alone sums to one, as of batch head query key") as error:
        trace_of(weights(1, HEADS, N, I, over=1))
    assert error.value.readings[0] == "batch head query key"


def test_layers_are_sites_and_a_batch_of_one_is_dropped():
    given = weights(4, 1, HEADS, N, I, over=1)
    trace = trace_of(given, axes="layer batch head query key".split())
    assert list(map(str, trace.sites)) == [f"layer.{i}/attention/weight" for i in range(4)]
    np.testing.assert_allclose(trace.site("layer.2/attention/weight").values, given[2, 0], rtol=1e-6)
    with pytest.raises(TraceError, match="batch has 4 examples"):
        trace_of(given, axes="batch layer head query key".split())


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        torch.from_numpy,
        lambda one: torch.from_numpy(one).requires_grad_(),
        lambda one: xr.DataArray(one, dims=("head", "query", "key", "context")),
        lambda one: type("JaxLike", (), {"__array__": lambda self, dtype=None, copy=None: one})(),
    ],
    ids=["fortran", "torch", "torch with gradient", "xarray", "__array__, as JAX has"],
)
def test_any_library(convert):
    given = weights()
    trace = trace_of(convert(given)).site("attention/weight")
    np.testing.assert_array_equal(trace.values, given.astype(np.float32))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype):
    trace = trace_of(torch.from_numpy(weights(N, I, over=1)).to(dtype), quantity="weight")
    assert trace.site("attention/weight").dtype == np.float32


def test_an_xarray_brings_its_names():
    given = xr.DataArray(weights(I, N, over=1).T, dims=("key", "query"), attrs={"quantity": "weight"})
    trace = trace_of(given)
    assert trace.site("attention/weight").dims == ("query", "key")
    np.testing.assert_allclose(trace.site("attention/weight").values, given.values.T, rtol=1e-6)
    other = given.rename(key="ligand", query="residue")
    assert trace_of(other, axes=("key", "query")).site("attention/weight").sizes == {"query": I, "key": N}


def test_rows_are_those_of_the_loop():
    given = weights()
    given[1, 2] *= 0.25
    given[0, 1] = 0
    place, total = oracle.worst_row(given, (2, 3))
    off, empty = row_notes(given, ("head", "query", "key", "context"), ("key", "context"))
    assert off.startswith("1 of 6 rows do not sum to one over key × context; the worst, ")
    assert f"head {place[0]}, query {place[1]} (from 0), sums to {total:.6g}" in off
    assert off.endswith("Nothing is normalised.") and empty == "1 of 6 rows are all zero."
    trace = trace_of(given, quantity="weight", axes=CUBES)
    np.testing.assert_allclose(trace.site("attention/weight").values, given, rtol=1e-6)
    assert notes_of(trace) == [off, empty]


def test_softmax_is_that_of_the_loop():
    scores = DRAW.normal(0, 40, (HEADS, N, I, J))
    scores[0, 1], scores[1, :, 2] = -np.inf, -np.inf
    expected = oracle.softmax(scores, (2, 3))
    np.testing.assert_allclose(softmax(scores, (2, 3)), expected, atol=1e-12)
    trace = trace_of(scores, quantity="relevance", axes=CUBES)
    np.testing.assert_allclose(trace.site("attention/weight").values, expected, atol=2e-6)
    masked = "1 of 6 rows have no softmax, since all of their relevances are −inf: their weights are zero."
    assert notes_of(trace) == ["Weights are the softmax of the relevance over key × context.", masked]
    over_key = trace_of(scores, quantity="relevance", sums_over=["key"], axes=CUBES).site("attention/weight")
    np.testing.assert_allclose(over_key.values, oracle.softmax(scores, (2,)), atol=2e-6)


def test_what_numbers_are_is_asked_where_it_is_not_plain():
    assert "attention/weight" in trace_of(weights()).sites
    with pytest.raises(TraceError, match="what are these numbers, from .*name the quantity, one of relevance, weight"):
        trace_of(weights() * 0.5, axes=CUBES)
    with pytest.raises(TraceError, match="over key they do"):
        trace_of(weights(N, J, I, over=1), axes=("query", "context", "key"))
    with pytest.raises(TraceError, match=r"a weight is not negative; there is -0\.5 at query 1, key 2 \(from 0\)"):
        trace_of(np.where(np.arange(N * I).reshape(N, I) == 7, -0.5, 0.3), quantity="weight")
    with pytest.raises(TraceError, match="a gate is between 0 and 1; these numbers go from 0 to 2"):
        trace_of(np.array([[0, 2.0]]), quantity="gate")
    with pytest.raises(TraceError, match="only a masked relevance may be −inf"):
        trace_of(np.array([[0.5, -np.inf]]), quantity="contribution")
    with pytest.raises(TraceError, match="infinite at query 0, key 1"):
        trace_of(np.array([[0.5, np.inf]]), quantity="relevance")
    with pytest.raises(TraceError, match="unknown quantity 'wait'"):
        trace_of(weights(), quantity="wait")


def test_sums_over_one_axis_of_a_cube():
    """Triangle attention: a row runs over one axis alone."""
    given = weights(N, I, J, over=1)
    trace = trace_of(given, axes=("query", "key", "context"), sums_over=["context"])
    assert trace.site("attention/weight").attrs["sums_over"] == "context"
    assert notes_of(trace)[0].startswith("All rows sum to one over context")


def test_tokens_share_a_text_where_they_are_the_same():
    square = weights(4, 4, over=1)
    trace = trace_of(square, tokens=["[CLS]", "un", "##happy", "cat"])
    site = trace.site("attention/weight")
    assert trace.texts == {"tokens": "unhappy cat"}
    assert site["query_special"].values.tolist() == [1, 0, 0, 0] and site["key_text"].values[0] == ""
    spans = zip(site["key_start"].values.tolist(), site["key_end"].values.tolist())
    assert [trace.texts["tokens"][a:b] for a, b in spans] == ["", "un", "happy", "cat"]
    apart = trace_of(weights(N, I, over=1), tokens={"query": words(N), "key": words(I)}, names={"query": "residue i"})
    assert apart.texts == {"residue i": "w0 w1 w2", "key": "w0 w1 w2 w3 w4"}
    assert apart.meta["query_name"] == "residue i"
    assert join_tokens(["##a", "##"]) == ("##a ##", [(0, 3), (4, 6)])


def test_tokens_that_do_not_fit():
    given = weights(N, I, over=1)
    with pytest.raises(TraceError, match="tokens of key: 4 for 5 positions"):
        trace_of(given, tokens={"key": words(4)})
    with pytest.raises(TraceError, match="4 tokens fit no axis: query 3, key 5"):
        trace_of(given, tokens=words(4))
    with pytest.raises(TraceError, match="tokens of context: there is no such axis"):
        trace_of(given, tokens={"context": words(4)})
    with pytest.raises(TraceError, match="tokens of key: expected strings, got int 3"):
        trace_of(given, tokens={"key": [3] * I})


def test_it_is_saved_and_loaded(tmp_path):
    before = trace_of(weights(), tokens={"query": words(N)}, source="mine.npy")
    before.save(tmp_path / "t.nc")
    after = triattn_core.AttentionTrace.load(tmp_path / "t.nc")
    assert after.meta == before.meta and after.texts == before.texts
    np.testing.assert_array_equal(after.site("attention/weight").values, before.site("attention/weight").values)


def test_a_notebook_draws_it():
    given = weights()
    view = triattn_core.draw("cube", trace_of(given, tokens={"query": words(N)}, source="mine.npy"), head=2)
    strongest = np.unravel_index(given[1].argmax(), given[1].shape)
    assert view.settings.cell == strongest and view.table["weight"].iloc[0] == pytest.approx(given[1].max())
    assert "<iframe" in view._repr_html_() and view.picture().svg().startswith(b"<?xml")
    assert "mine.npy" in view.figure.payload["caption"]
    with pytest.raises(TraceError, match="no site of 3 axes in this trace: it has query × key"):
        triattn_core.draw("cube", trace_of(weights(N, I, over=1)))
    with pytest.raises(ConfigError, match="no view 'cubes'; did you mean 'cube'"):
        triattn_core.draw("cubes", trace_of(given))


def test_a_trace_is_equal_to_itself_alone():
    one, other = (trace_of([[0.5, 0.5], [1.0, 0.0]]) for _ in range(2))
    assert one == one and one != other and hash(one) != hash(other)


def test_positions_are_counted_in_words():
    said = [count(*case) for case in ((1, "head"), (5, "witness"), (5, "query"), (5, "key"), (1200, "box"))]
    assert said == ["1 head", "5 witnesses", "5 queries", "5 keys", "1,200 boxes"]
