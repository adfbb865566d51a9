"""What an array is read as where its row sums do not decide, and what of it is read: one example, rows of numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import array_trace as oracle
from tests.unit.test_trace_of import CUBES, DRAW, HEADS, I, J, N, weights, words
from triattn_core.errors import TraceError
from triattn_core.trace.array_axes import AxesError
from triattn_core.trace.array_rows import SelectError
from triattn_core.trace.from_array import notes_of, trace_of
from triattn_core.trace.quantity_check import QuantityError


def drop_out(given: np.ndarray) -> np.ndarray:
    """Weights as a layer in training has them."""
    return np.where(DRAW.random(given.shape) < 0.1, 0.0, given / 0.9)


UNDECIDED = {  # heads of maps, whose row sums miss one for a reason of their own
    "bfloat16": lambda: torch.from_numpy(weights(1, 8, 60, 60, over=1)).to(torch.bfloat16) * 0.97,
    "a learned sink, whose column is dropped": lambda: weights(1, 8, 12, 13, over=1)[..., :12],
    "dropout": lambda: drop_out(weights(1, 8, 12, 12, over=1)),
    "several texts": lambda: drop_out(weights(5, 8, 12, 12, over=1)),
    "cut keys": lambda: weights(3, 8, 12, 40, over=1)[..., :12],
    "scores": lambda: DRAW.normal(size=(HEADS, N, I, J)),
}


@pytest.mark.parametrize("quantity", [None, "weight", "relevance", "contribution"])
@pytest.mark.parametrize("name", UNDECIDED)
def test_axes_are_asked_for_where_sums_do_not_decide(name, quantity):
    with pytest.raises(AxesError, match="name the axes") as error:
        trace_of(UNDECIDED[name](), quantity=quantity)
    assert {" ".join(CUBES), "batch head query key"} <= set(error.value.readings)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("size", [7, 60, 250])
def test_rows_that_a_type_rounds_sum_to_one(dtype, size):
    maps = torch.from_numpy(weights(1, 8, size, size, over=1)).to(dtype)
    with pytest.raises(AxesError, match="the last axis alone sums to one"):
        trace_of(maps)
    trace = trace_of(maps, axes=("batch", "head", "query", "key"))
    assert notes_of(trace)[0].startswith("All rows sum to one over key")
    cube = torch.from_numpy(weights(N, I, J)).to(dtype)
    assert trace_of(cube).site("attention/weight").dims == ("query", "key", "context")
    with pytest.raises(QuantityError, match="do not sum to one"):  # a type's rounding is no excuse for more
        trace_of(maps * 0.95, axes=("batch", "head", "query", "key"))


def test_a_named_context_decides():
    given = weights(HEADS, N, I, J) * 0.5
    named = {"tokens": {"context": words(J)}}, {"names": {"context": "ligand"}}, {"sums_over": ["key", "context"]}
    for options in named:
        trace = trace_of(given, quantity="weight", **options)
        assert trace.site("attention/weight").dims == CUBES


def test_one_example_of_a_batch_is_selected():
    given = weights(16, HEADS, N, I, over=1)
    axes = "batch head query key".split()
    with pytest.raises(SelectError, match="batch has 16 examples: choose one, from batch=0 to batch=15") as error:
        trace_of(given, axes=axes)
    assert (error.value.axis, error.value.size) == ("batch", 16)
    for options in ({"select": {"batch": 3}}, {"crop": {"batch": (3, 4)}}):
        trace = trace_of(given, axes=axes, **options)
        np.testing.assert_allclose(trace.site("attention/weight").values, given[3], rtol=1e-6)
        assert notes_of(trace)[0] == "Selected: batch 3 of 16 (positions from 0)."
    layers = weights(2, 5, HEADS, N, I, over=1)
    trace = trace_of(layers, axes=("layer", *axes), select={"batch": 4, "layer": 1})
    np.testing.assert_allclose(trace.site("attention/weight").values, layers[1, 4], rtol=1e-6)
    cubes = weights(3, N, I, J)
    trace = trace_of(cubes, axes=("batch", *CUBES[1:]), select={"batch": 2}, crop={"key": (1, 3)})
    np.testing.assert_allclose(trace.site("attention/weight").values, cubes[2, :, 1:3], rtol=1e-6)
    for select, reason in (
        ({"batch": 16}, "batch 16 is not within 0:16"),
        ({"layer": 0}, "no axis 'layer'"),
        ({"batch": 0, "key": 1}, "an attention needs the axis key"),
    ):
        with pytest.raises(TraceError, match=reason):
            trace_of(given, axes=axes, select=select)


NAN_ROWS = {  # which rows of weights, scores or gates are of padding
    "the last two queries": (slice(None), slice(-2, None)),
    "one whole head": (0,),
    "one cell": (1, 2, 3),
    "a key of every query, as far as it is seen": (slice(None), slice(1, None), 0),
}


@pytest.mark.parametrize("quantity", ["weight", "relevance"])
@pytest.mark.parametrize("name", NAN_ROWS)
def test_rows_that_hold_no_number_are_said_and_shown_empty(name, quantity):
    given = weights(HEADS, N, I, over=1) if quantity == "weight" else DRAW.normal(size=(HEADS, N, I))
    given[NAN_ROWS[name]] = np.nan
    trace = trace_of(given, axes=("head", "query", "key"), quantity=quantity)
    shown, (empty, total, first) = trace.site("attention/weight").values, oracle.nan_rows(given)
    said = f"{empty} of {total} rows hold what is not a number, the first at head {first[0]}, query {first[1]} (from 0)"
    assert notes_of(trace)[0].startswith(said)
    expected = given if quantity == "weight" else oracle.softmax(given, (2,))
    for head, query in np.ndindex(HEADS, N):
        row = expected[head, query]
        np.testing.assert_allclose(shown[head, query], np.zeros(I) if np.isnan(row).any() else row, atol=1e-6)
    with pytest.raises(TraceError, match="none of its values is a number"):
        trace_of(np.full((HEADS, N, I), np.nan), axes=("head", "query", "key"), quantity=quantity)


def test_rows_of_which_all_is_masked_have_no_weights_and_are_said():
    given = DRAW.normal(size=(HEADS, N, I))
    for place in ((0, 1), (slice(None), -1), (slice(None), slice(None))):
        scores = given.copy()
        scores[place] = -np.inf
        rows = int(np.isneginf(scores).all(-1).sum())
        trace = trace_of(scores, axes=("head", "query", "key"), quantity="relevance")
        said = f"{rows} of {HEADS * N} rows have no softmax, since all of their relevances are −inf"
        assert any(note.startswith(said) for note in notes_of(trace))
        assert (trace.site("attention/weight").values.sum(-1) == 0).sum() == rows
    assert len(notes_of(trace_of(given, axes=("head", "query", "key"), quantity="relevance"))) == 1
