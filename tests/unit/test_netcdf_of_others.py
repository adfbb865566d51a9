"""NetCDF files and xarray objects as others write them: groups, labels, attributes of any type, the older format."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from tests.unit.test_open_file import refused
from triattn_core.__main__ import main
from triattn_core.errors import TraceError
from triattn_core.importers.open_file import open_file
from triattn_core.trace.from_array import trace_of

DRAW = np.random.default_rng(4)
WORDS = ["the", "old", "cat", "[SEP]"]


def weights(*shape: int) -> np.ndarray:
    powers = np.exp(DRAW.normal(size=shape))
    return powers / powers.sum(-1, keepdims=True)


def labelled(dims=("head", "query", "key"), **attrs) -> xr.DataArray:
    labels = {dims[1]: WORDS, dims[2]: WORDS[::-1]}
    return xr.DataArray(weights(2, 4, 4), labels, dims, name="w", attrs=attrs)


def test_labels_of_the_dimensions_are_the_tokens(tmp_path):
    given = labelled()
    given.to_dataset().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    axes = ("head", "query", "key")
    for trace in (
        trace_of(given),
        open_file(tmp_path / "a.nc"),
        trace_of(labelled(("h", "from", "to")), axes=axes),
        trace_of(given.assign_coords(head=["a", "b"])),
    ):
        site = trace.site("attention/weight")
        assert site["query_token"].values.tolist() == WORDS and site["key_token"].values.tolist() == WORDS[::-1]
        assert site["key_special"].values.tolist() == [1, 0, 0, 0]
    cropped = trace_of(given, crop={"key": (1, 3)}).site("attention/weight")
    assert cropped["key_token"].values.tolist() == WORDS[::-1][1:3]
    own = trace_of(given, tokens={"key": list("abcd")}).site("attention/weight")
    assert own["key_token"].values.tolist() == list("abcd") and own["query_token"].values.tolist() == WORDS
    everywhere = trace_of(given, tokens=list("abcd")).site("attention/weight")
    assert everywhere["query_token"].values.tolist() == list("abcd")
    numbers = trace_of(given.assign_coords(query=[3, 4, 5, 6])).site("attention/weight")
    assert numbers["query_token"].values.tolist() == ["1", "2", "3", "4"]  # positions, as of any array


@pytest.mark.parametrize(
    "attrs", [{"sums_over": None}, {"sums_over": ["key"]}, {"quantity": 3}, {"quantity": None, "x": {"a": 1}}]
)
def test_attributes_of_any_type_do_no_harm(attrs):
    trace = trace_of(labelled(**attrs))
    assert trace.site("attention/weight").attrs["sums_over"] == "key"
    with pytest.raises(TraceError, match="unknown quantity 'mass'"):
        trace_of(labelled(quantity="mass"))


def test_arrays_in_groups_are_named_with_their_group(tmp_path, capsys):
    data, path = labelled().to_dataset(), tmp_path / "inference.nc"
    data.to_netcdf(path, engine="h5netcdf", group="posterior")
    site = open_file(path).site("attention/weight")
    np.testing.assert_allclose(site.values, data["w"].values, rtol=1e-6)
    assert site["query_token"].values.tolist() == WORDS
    data.to_netcdf(path, engine="h5netcdf", group="prior/draws", mode="a")
    assert "posterior/w (2 × 4 × 4), prior/draws/w (2 × 4 × 4)" in refused(capsys, path)
    assert main(["open", str(path), "--name", "prior/draws/w"]) == 0


def test_the_older_format_is_refused_with_its_name(tmp_path, capsys):
    path = tmp_path / "old.nc"
    labelled().to_dataset().to_netcdf(path, engine="scipy")
    assert "NetCDF 3, which is not read: save it as NetCDF 4" in refused(capsys, path)
