"""AttentionTrace: the attention of a model on one example, as labelled arrays; no torch, no batch axis."""

from __future__ import annotations

import json
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlencode

import xarray as xr

from triattn_core.errors import DataError, TraceError, cause, choices
from triattn_core.text.atomic_write import write_whole
from triattn_core.trace.aggregation import distribution_axes, fold, logsumexp
from triattn_core.trace.axes import AXES, MASKED, QUANTITIES
from triattn_core.trace.selection import select_sites
from triattn_core.trace.site import Site, Sites

NO_META: Mapping[str, str | int | float] = MappingProxyType({})
MOST_BYTES = 2 << 30  # of all unpacked arrays of a file
SHOWN = 3  # sites in a short text
_draw_html: Callable[[Any], str] | None = None  # this zone may not draw: who may sets it by `draw_with`


@dataclass(frozen=True, init=False, repr=False, eq=False)
class AttentionTrace:
    """The recorded arrays (sites) of one example.

    sites: DataArrays by `Site` or its text; dims are names of `axes.AXES`; the index of an axis is the position;
        other coords are named `<axis>_<name>` (see `axes.COORDINATES`), or `axes.MASKED`; attrs are `quantity` (of
        `axes.QUANTITIES`) and, for weights, `sums_over` (axes, comma-separated); `runs_over` where a sentinel has the
        rest of the weight.
    texts: the unchanged input texts by name; spans are offsets into these.
    meta: plain values: checkpoint, digest, mechanism, similarity, ….

    Iterating gives the sites; `trace["layer.0/a_over_b/weight"]` is an array, `trace["layer.0"]` the trace
    of all sites of that layer.

    >>> trace = trace_of([[0.75, 0.25], [0.0, 1.0]], tokens=["red", "car"])
    >>> trace
    AttentionTrace(array: attention/weight [query 2, key 2])
    >>> trace.sel(query="red")["attention/weight"].values.tolist()
    [[0.75, 0.25]]

    Raises TraceError for an axis or a quantity that is not in `axes`.
    """

    sites: Mapping[Site, xr.DataArray]
    texts: Mapping[str, str]
    meta: Mapping[str, str | int | float]

    def __init__(
        self,
        sites: Mapping[Site, xr.DataArray] | Mapping[str, xr.DataArray],
        texts: Mapping[str, str],
        meta: Mapping[str, str | int | float] = NO_META,
    ):
        for field, value in (("sites", Sites(sites)), ("texts", texts), ("meta", meta)):
            object.__setattr__(self, field, value)
        for name, array in self.sites.items():
            for axis in array.dims:
                if axis not in AXES:
                    raise TraceError(f"site {name}: unknown axis {axis!r}; {choices(str(axis), AXES)}")
            if array.attrs.get("quantity") not in QUANTITIES:
                raise TraceError(f"site {name}: unknown quantity {array.attrs.get('quantity')!r}")

    def __repr__(self) -> str:
        shown = [f"{name} {_sizes(array)}" for name, array in list(self.sites.items())[:SHOWN]]
        more = [f"{len(self.sites) - SHOWN} more"] if len(self.sites) > SHOWN else []
        return f"AttentionTrace({self.meta.get('checkpoint', 'trace')}: {'; '.join([*shown, *more]) or 'empty'})"

    def _repr_html_(self) -> str | None:
        """For notebooks: the figure, where `triattn_core` was asked for one of its names; else None."""
        return _draw_html(self) if _draw_html is not None and self.sites else None

    def __iter__(self) -> Iterator[Site]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def __contains__(self, name: object) -> bool:
        """Whether `trace[name]` is there: a site, its text, or a module, layer or attention that has sites."""
        if not isinstance(name, Site | str):
            return False
        site = Site.of(name)
        return site in self.sites or any(other.is_under(site) for other in self.sites)

    def keys(self) -> KeysView[Site]:
        """The sites."""
        return self.sites.keys()

    def items(self) -> ItemsView[Site, xr.DataArray]:
        """Sites and arrays."""
        return self.sites.items()

    def values(self) -> ValuesView[xr.DataArray]:
        """The arrays."""
        return self.sites.values()

    def __getitem__(self, site: Site | str) -> Any:
        """The array of a site or its text; of a module, a layer or an attention, such as `layer.0`, the trace of all
        sites there.  Raises TraceError that names the closest site."""
        site = Site.of(site)
        below = {other: array for other, array in self.sites.items() if other != site and other.is_under(site)}
        return replace(self, sites=below) if below else self.site(site)

    def sel(self, **positions: int | str | slice | Sequence[int]) -> AttentionTrace:
        """The trace with some positions of some axes, in all sites that have the axis: an index from 0, a slice,
        several indices, or a token, which keeps every position that has it, and no site that has none.

        An axis of one index is dropped.  Raises TraceError: no site has the axis, or the token; or there is no such
        position.
        """
        sites: Mapping[Site, xr.DataArray] = self.sites
        for axis, position in positions.items():
            sites = select_sites(sites, axis, position)
        return replace(self, sites=sites)

    def to_datatree(self) -> xr.DataTree:
        """A tree of xarray with a group for each site, its array named `value`; texts and meta are attributes, JSON."""
        root = xr.Dataset(attrs={"texts": json.dumps(dict(self.texts)), "meta": json.dumps(dict(self.meta))})
        groups = {str(site): array.to_dataset(name="value") for site, array in self.sites.items()}
        return xr.DataTree.from_dict({"/": root, **groups})

    def site(self, site: Site | str) -> xr.DataArray:
        """The array of a site, or of its text.  Raises TraceError that names the closest site."""
        array = self.sites.get(Site.of(site))
        if array is None:
            raise TraceError(f"no site {str(site)!r} in this trace; {choices(str(site), map(str, self.sites))}")
        return array

    def sum_axes(self, site: Site) -> list[str]:
        """The axes that a distribution of a site runs over: what its weights say, else what it says itself."""
        arrays = (self.sites.get(site.with_quantity("weight")), self.sites.get(site))
        return next((axes for array in arrays if array is not None and (axes := distribution_axes(array))), [])

    def pick(self, choice: Choice) -> xr.DataArray:
        """Index, then reduce the array of a choice, axis by axis."""
        array = self.site(choice.site)
        for axis, position in choice.index:
            self._need(array, axis, choice.site)
            if not 0 <= position < array.sizes[axis]:
                raise TraceError(f"{choice.site}: {axis} {position} is outside 0…{array.sizes[axis] - 1}")
            array = array.isel({axis: position})
        for axis, reduction in choice.reduce:
            self._need(array, axis, choice.site)
            array = reduce(array, axis, reduction)
        return array

    def fold(self, axis: str, groups: Callable[[xr.DataArray], Sequence[str]], labelled: bool = True) -> AttentionTrace:
        """Fold an axis of every site that has it (see `aggregation.fold`).  Gates, which have no sum, stay unchanged.

        groups: returns the group name of each position of an array.
        """

        def folds(array: xr.DataArray) -> bool:
            return axis in array.dims and array.attrs["quantity"] != "gate"

        sites = {
            site: fold(array, axis, groups(array), self.sum_axes(site), labelled, self.texts) if folds(array) else array
            for site, array in self.sites.items()
        }
        return replace(self, sites=sites)

    @staticmethod
    def _need(array: xr.DataArray, axis: str, site: Site) -> None:
        if axis not in array.dims:
            raise TraceError(f"{site} has no axis {axis!r} (it has {', '.join(map(str, array.dims))})")

    def save(self, path: Path) -> None:
        """Write a NetCDF-4 file: one group per site, texts and meta as attributes.  Raises TraceError if it cannot.

        The file is packed in memory, because the HDF5 library crashes on a full disk when it closes a file.
        """
        packed = {"zlib": True, "complevel": 1}
        compression = {
            f"/{site}": {name: packed for name in ("value", MASKED) if name == "value" or name in array.coords}
            for site, array in self.sites.items()
        }
        try:
            write_whole(path, self.to_datatree().to_netcdf(engine="h5netcdf", encoding=compression))
        except DataError as error:
            raise TraceError(str(error)) from None

    @classmethod
    def load(cls, path: Path) -> AttentionTrace:
        """Read a trace file.  Raises TraceError if it is not one, is damaged, or unpacks to more than `MOST_BYTES`."""
        from triattn_core.trace.netcdf import open_groups

        try:
            with open_groups(path) as groups:
                if (size := sum(dataset.nbytes for dataset in groups.values())) > MOST_BYTES:
                    raise ValueError(f"it unpacks to {size / 2**30:.1f} GiB, at most {MOST_BYTES >> 30} are read")
                sites = {
                    Site.parse(name): dataset["value"].load() for name, dataset in groups.items() if "value" in dataset
                }
                texts, meta = (json.loads(groups[""].attrs[name]) for name in ("texts", "meta"))
            return cls(sites, texts, meta)
        except Exception as error:  # h5py, h5netcdf and xarray have their own exceptions for damaged files
            reason = f" ({cause(error)[:160]})" if cause(error) else ""
            raise TraceError(f"{path}: not a trace file{reason}") from None


@dataclass(frozen=True, init=False)
class Choice:
    """What a view shows: a site, an index for some axes, a reduction for others.  Hashable; `query` makes it a URL.

    Positions count from 0.

    >>> choice = Choice("attention/weight", index=(("query", 0),))
    >>> trace_of([[0.75, 0.25], [0.0, 1.0]]).pick(choice).values.tolist()
    [0.75, 0.25]
    >>> Choice.from_query(choice.query()) == choice
    True

    site: a `Site`; its text is read as one.
    """

    site: Site
    index: tuple[tuple[str, int], ...]
    reduce: tuple[tuple[str, str], ...]

    def __init__(
        self, site: Site | str, index: tuple[tuple[str, int], ...] = (), reduce: tuple[tuple[str, str], ...] = ()
    ):
        for name, value in (("site", Site.of(site)), ("index", index), ("reduce", reduce)):
            object.__setattr__(self, name, value)

    def query(self) -> str:
        """The choice as a URL's query string."""
        parts = [("site", str(self.site)), *(("at." + a, str(i)) for a, i in self.index)]
        return urlencode([*parts, *(("by." + a, reduction) for a, reduction in self.reduce)])

    @classmethod
    def from_query(cls, query: str) -> Choice:
        """The choice that `query` wrote.  Raises TraceError if the string is not one."""
        try:
            parts = {name: values[-1] for name, values in parse_qs(query, strict_parsing=True).items()}
            index = tuple((n[3:], int(v)) for n, v in parts.items() if n.startswith("at."))
            reductions = tuple((n[3:], v) for n, v in parts.items() if n.startswith("by."))
            return cls(parts["site"], index, reductions)
        except (KeyError, ValueError):
            raise TraceError(f"not a choice: {query!r}") from None


def draw_with(function: Callable[[Any], str]) -> None:
    """Sets what draws a trace in a notebook as HTML."""
    global _draw_html
    _draw_html = function


def _sizes(array: xr.DataArray) -> str:
    return f"[{', '.join(f'{axis} {size}' for axis, size in array.sizes.items())}]"


def reduce(array: xr.DataArray, axis: str, reduction: str) -> xr.DataArray:
    """Reduce one axis by `sum`, `mean`, `max` or `logsumexp`.

    `sums_over` stays true: a sum over one of its axes leaves the others, a mean over any other axis leaves all, and
    every other reduction leaves none.

    Raises TraceError for a reduction that does not fit the quantity: relevances are joined by log-sum-exp, never
    summed.
    """
    quantity = array.attrs["quantity"]
    if reduction == "sum" and quantity == "relevance" or reduction == "logsumexp" and quantity != "relevance":
        alternative = {"sum": "logsumexp", "logsumexp": "sum"}[reduction]
        raise TraceError(f"a {quantity} has no {reduction} over {axis}: use {alternative}")
    if axis not in array.dims:
        raise TraceError(f"no axis {axis!r} here (there are {', '.join(map(str, array.dims))})")
    reductions: dict[str, Callable[..., xr.DataArray]] = {
        "sum": xr.DataArray.sum,
        "mean": xr.DataArray.mean,
        "max": xr.DataArray.max,
        "logsumexp": logsumexp,
    }
    if reduction not in reductions:
        raise TraceError(f"unknown reduction {reduction!r}; {choices(reduction, reductions)}")
    result = reductions[reduction](array, axis)
    sum_axes = [name for name in array.attrs.get("sums_over", "").split(",") if name]
    if reduction != ("sum" if axis in sum_axes else "mean"):
        sum_axes = []
    sum_axes = [name for name in sum_axes if name != axis]
    return result.assign_attrs({**array.attrs, "sums_over": ",".join(sum_axes)})
