"""AttentionTrace: its glossary, its reductions, its choices as URLs, and its file."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp as scipy_logsumexp

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace, Choice, reduce
from triattn_core.trace.aggregation import logsumexp

SIZES = {"head": 2, "query": 3, "key": 5, "context": 7}
# A repeated word, an empty string, Chinese, an emoji of several code points, right-to-left script, and a tag.
TOKENS = ["the", "the", "", "浏览器", "👩‍🚀", "שלום", "<script>"]


def cube(seed: int = 1, quantity: str = "weight") -> xr.DataArray:
    values = np.random.default_rng(seed).random(tuple(SIZES.values())).astype(np.float32)
    if quantity == "weight":
        values /= values.sum((-1, -2), keepdims=True)
    coords = {}
    for axis in ("query", "key", "context"):
        rows = range(SIZES[axis])
        coords |= {
            f"{axis}_token": (axis, [TOKENS[row] for row in rows]),
            f"{axis}_text": (axis, ["a"] * SIZES[axis]),
            f"{axis}_start": (axis, list(rows)),
            f"{axis}_end": (axis, [row + 1 for row in rows]),
            f"{axis}_special": (axis, [int(row == 0) for row in rows]),
        }
    attrs = {"quantity": quantity, "sums_over": "key,context" if quantity == "weight" else ""}
    return xr.DataArray(values, coords, tuple(SIZES), attrs=attrs)


def trace() -> AttentionTrace:
    sites = {f"layer.0/a_over_b/{quantity}": cube(quantity=quantity) for quantity in ("relevance", "weight")}
    return AttentionTrace(
        sites, {"a": "the the 浏览器 👩‍🚀", "b": ""}, {"checkpoint": "x", "layers": 2, "seconds": 0.25}
    )


def test_a_trace_speaks_the_glossary():
    with pytest.raises(TraceError, match=r"site here: unknown axis 'querry'; did you mean 'query'\?"):
        AttentionTrace({"here": cube().rename(query="querry")}, {})
    with pytest.raises(TraceError, match="site here: unknown quantity 'wait'"):
        AttentionTrace({"here": cube().assign_attrs(quantity="wait")}, {})
    with pytest.raises(TraceError, match=r"no site 'layer.0/a_over_b/wait' in this trace; did you mean"):
        trace().site("layer.0/a_over_b/wait")


def test_saving_and_loading_changes_nothing(tmp_path):
    before = trace()
    before.save(tmp_path / "one.nc")
    after = AttentionTrace.load(tmp_path / "one.nc")
    assert after.texts == before.texts
    assert after.meta == before.meta
    assert set(after.sites) == set(before.sites)
    for name, array in before.sites.items():
        xr.testing.assert_identical(after.sites[name].rename(None), array)
        assert after.sites[name].dtype == array.dtype
        for axis in ("query", "key", "context"):
            assert list(after.sites[name][f"{axis}_token"].values) == list(array[f"{axis}_token"].values)


def test_a_site_changed_by_a_hair_is_not_the_same(tmp_path):
    """Twin of the above: the comparison sees the smallest change."""
    before = trace()
    name, array = next(iter(before.sites.items()))
    array = array.copy()
    array.values[0, 0, 0, 0] = np.nextafter(array.values[0, 0, 0, 0], np.float32(1))
    AttentionTrace({name: array}, {}).save(tmp_path / "one.nc")
    after = AttentionTrace.load(tmp_path / "one.nc").sites[name].rename(None)
    with pytest.raises(AssertionError):
        xr.testing.assert_identical(after, before.sites[name])


@pytest.mark.parametrize("content", [b"", b"not a trace", b"\x89HDF\r\n\x1a\n" + b"\0" * 64, b"CDF\x01" + b"\0" * 64])
def test_a_file_that_is_no_trace_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "broken.nc"
    path.write_bytes(content)
    with pytest.raises(TraceError, match="broken.nc: not a trace file") as caught:
        AttentionTrace.load(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_cut_or_another_thing_is_refused(tmp_path):
    with pytest.raises(TraceError, match="none.nc"):
        AttentionTrace.load(tmp_path / "none.nc")
    trace().save(tmp_path / "whole.nc")
    whole = (tmp_path / "whole.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TraceError, match="cut.nc"):
        AttentionTrace.load(tmp_path / "cut.nc")
    xr.Dataset({"value": ("time", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(TraceError, match="other.nc"):
        AttentionTrace.load(tmp_path / "other.nc")


def test_log_sum_exp_is_scipys_and_stays_finite():
    array = cube(quantity="relevance").astype(np.float64) * 3
    for scale in (1.0, 1e4, -1e4):
        sums = logsumexp(array * scale, "context")
        np.testing.assert_allclose(sums.values, scipy_logsumexp(array.values * scale, axis=-1), rtol=1e-12)
    nothing = xr.full_like(array, -np.inf)
    with np.errstate(divide="ignore"):
        assert np.isneginf(logsumexp(nothing, "context").values).all()  # nothing to sum, and no NaN


def test_softmax_of_the_reduced_relevance_is_the_key_marginal():
    """The reason why Bi and Tri can be compared as relevance too."""
    relevance = cube(quantity="relevance").astype(np.float64)
    weight = np.exp(relevance) / np.exp(relevance).sum(("key", "context"))
    joined = reduce(relevance, "context", "logsumexp")
    softmax = np.exp(joined) / np.exp(joined).sum("key")
    np.testing.assert_allclose(softmax.values, weight.sum("context").values, rtol=1e-12)


def test_reductions_keep_coords_and_say_what_still_sums():
    weight = cube()
    over_context = reduce(weight, "context", "sum")
    assert over_context.attrs == {"quantity": "weight", "sums_over": "key"}
    np.testing.assert_allclose(over_context.sum("key"), 1, rtol=1e-6)
    assert list(over_context["key_token"].values) == TOKENS[: SIZES["key"]]
    assert "context_token" not in over_context.coords
    assert reduce(weight, "head", "mean").attrs["sums_over"] == "key,context"
    assert reduce(over_context, "key", "sum").attrs["sums_over"] == ""


def test_reductions_without_meaning_are_refused():
    with pytest.raises(TraceError, match="a relevance has no sum over context"):
        reduce(cube(quantity="relevance"), "context", "sum")
    with pytest.raises(TraceError, match="a weight has no logsumexp over key"):
        reduce(cube(), "key", "logsumexp")
    with pytest.raises(TraceError, match="unknown reduction 'men'; did you mean 'mean'"):
        reduce(cube(), "head", "men")


def test_picking_indexes_first_then_reduces():
    selection = trace().pick(Choice("layer.0/a_over_b/weight", index=(("head", 1),), reduce=(("context", "sum"),)))
    expected = cube().isel(head=1).sum("context")
    assert selection.dims == ("query", "key")
    np.testing.assert_array_equal(selection.values, expected.values)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice("layer.0/a_over_b/weight", index=(("head", 2),)), "head 2 is outside 0…1"),
        (Choice("layer.0/a_over_b/weight", index=(("head", -1),)), "head -1 is outside 0…1"),
        (Choice("layer.0/a_over_b/weight", index=(("feature", 0),)), "has no axis 'feature'"),
        (Choice("layer.0/a_over_b/weight", index=(("head", 0),), reduce=(("head", "sum"),)), "has no axis 'head'"),
        (Choice("layer.9/a_over_b/weight"), "no site 'layer.9/a_over_b/weight'"),
    ],
)
def test_a_choice_that_does_not_fit_is_refused(choice, message):
    with pytest.raises(TraceError, match=message):
        trace().pick(choice)


@pytest.mark.parametrize(
    "choice",
    [
        Choice("layer.0/a_over_b/weight"),
        Choice("layer.1/b_over_a/relevance", (("head", 3), ("query", 0)), (("context", "logsumexp"),)),
        Choice("a&b=c/ü #浏览器", (), (("head", "mean"),)),
    ],
)
def test_a_choice_is_hashable_and_a_url(choice):
    assert Choice.from_query(choice.query()) == choice
    assert hash(Choice.from_query(choice.query())) == hash(choice)


@pytest.mark.parametrize("query", ["", "nothing", "at.head=1", "site=x&at.head=one", "site"])
def test_a_query_that_is_no_choice_is_refused(query):
    with pytest.raises(TraceError, match="not a choice"):
        Choice.from_query(query)


def test_a_file_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    array = xr.DataArray(np.zeros((64, 64), np.float32), dims=("query", "key"), attrs={"quantity": "weight"})
    AttentionTrace({"a/weight": array}, {}).save(tmp_path / "t.nc")
    assert (tmp_path / "t.nc").stat().st_size < 30_000
    assert AttentionTrace.load(tmp_path / "t.nc").site("a/weight").shape == (64, 64)
    monkeypatch.setattr("triattn_core.trace.trace.MOST_BYTES", 10_000)
    with pytest.raises(TraceError, match="unpacks to"):
        AttentionTrace.load(tmp_path / "t.nc")
