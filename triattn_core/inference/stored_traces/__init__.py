"""Stored traces: what shipped checkpoints make of the examples that pages open with, computed beforehand.

A stored trace belongs to one checkpoint, by its digests, and one example; whatever else is asked is computed.
`python -m triattn_core.inference.stored_traces` computes them again; `tests/unit/test_stored_traces.py` compares each
with its model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from triattn_core.inference.predictions import Prediction, read_prediction
from triattn_core.text.atomic_write import write_whole
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    from triattn_core.checkpoint.registry import Entry

FOLDER = Path(__file__).parent
DATE = "computed_on"  # in the meta of a stored trace: YYYY-MM-DD
ABOUT = "about"  # the array that holds everything but numbers, as JSON


def key(entry: Entry, example: Any, option: int | None = None) -> str:
    """The SHA-256 of what a trace depends on: digests of checkpoint and encoder, the example, the option asked for."""
    kind = type(example)
    encoder = entry.config.get("encoder_digest")
    parts = (entry.name, entry.digest, encoder, f"{kind.__module__}.{kind.__qualname__}", repr(example), option)
    return sha256(json.dumps(parts).encode()).hexdigest()


def path(entry: Entry, example: Any, option: int | None = None, folder: Path = FOLDER) -> Path:
    """Where the trace is stored, if it is."""
    return folder / f"{entry.name}-{key(entry, example, option)[:12]}.npz"


def find(
    entry: Entry, example: Any, option: int | None = None, folder: Path = FOLDER
) -> tuple[Prediction, AttentionTrace] | None:
    """The stored prediction and trace, or None.  option: the one asked for, as in `explain`."""
    file = path(entry, example, option, folder)
    if not file.is_file():
        return None
    stored_key, prediction, trace = read(file)
    return (prediction, trace) if stored_key == key(entry, example, option) else None


def read(file: Path) -> tuple[str, Prediction, AttentionTrace]:
    """The key, prediction and trace of a file that `write` wrote."""
    with np.load(file, allow_pickle=False) as arrays:
        about = json.loads(arrays[ABOUT].tobytes())
        sites = {
            Site.parse(name): read_array(described, arrays[name], about["coordinates"])
            for name, described in about["sites"].items()
        }
    return about["key"], read_prediction(about["prediction"]), AttentionTrace(sites, about["texts"], about["meta"])


def find_costs(
    entry: Entry, example: Any, site: Site, head: int | None, folder: Path = FOLDER
) -> Mapping[tuple[int, ...], float]:
    """Of the strongest cells of a site of a stored trace what the answer loses without each, by cell; empty where none
    are stored.  head: from 0, None is all."""
    return dict(_costs(entry, example, folder).get((site, head), {}))


def costliest(
    entry: Entry, example: Any, layer: int, role: str | None = None, folder: Path = FOLDER
) -> tuple[Site, int | None] | None:
    """The site and head of the weight in a layer whose removal moves the answer most; None where no costs are stored.

    role: of that site, None for any.  head: from 0, None is all.
    """
    sizes = {
        (site, head): max(map(abs, costs.values()))
        for (site, head), costs in _costs(entry, example, folder).items()
        if site.layer == layer and role in (None, site.role)
    }
    return max(sizes, key=lambda place: sizes[place], default=None)


def _costs(entry: Entry, example: Any, folder: Path) -> dict[tuple[Site, int | None], dict[tuple[int, ...], float]]:
    """All stored costs, by site and head, then by cell."""
    file = path(entry, example, None, folder)
    if not file.is_file():
        return {}
    with np.load(file, allow_pickle=False) as arrays:
        about = json.loads(arrays[ABOUT].tobytes())
    if about["key"] != key(entry, example):
        return {}
    found = {}
    for place, costs in about.get("costs", {}).items():
        site, _, head = place.rpartition(" ")
        found[Site.parse(site), None if head == "None" else int(head)] = {tuple(cell): cost for cell, cost in costs}
    return found


def write(
    file: Path,
    stored_key: str,
    prediction: Prediction,
    trace: AttentionTrace,
    date: str,
    costs: Mapping[str, Sequence] = MappingProxyType({}),
) -> None:
    """Writes a compressed .npz: an array per site as it is, all else as JSON.  date: see DATE.

    costs: by site and head pairs of a cell and what the answer loses without it, see `find_costs`.
    """
    coordinates: list = []  # each once: the sites share most of them
    sites = {str(site): describe_array(array, coordinates) for site, array in trace.sites.items()}
    about = {
        "key": stored_key,
        "prediction": asdict(prediction),
        "texts": dict(trace.texts),
        "meta": {**trace.meta, DATE: date},
        "sites": sites,
        "coordinates": coordinates,
        **({"costs": dict(costs)} if costs else {}),
    }
    packed = BytesIO()
    arrays: dict[str, Any] = {ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)}
    arrays |= {str(site): array.values for site, array in trace.sites.items()}
    np.savez_compressed(packed, **arrays)
    write_whole(file, packed.getvalue())


def describe_array(array: xr.DataArray, coordinates: list) -> dict:
    """Dims, attributes and coordinates of an array; coordinates are positions in the list, which is extended."""
    positions = {}
    for name, values in array.coords.items():
        item = [list(values.dims), values.values.tolist()]
        if item not in coordinates:
            coordinates.append(item)
        positions[str(name)] = coordinates.index(item)
    return {"dims": list(array.dims), "attrs": dict(array.attrs), "coords": positions}


def read_array(site: Mapping, values: np.ndarray, coordinates: Sequence) -> xr.DataArray:
    """An array from its values and what `describe_array` returned of it."""
    coords = {name: tuple(coordinates[position]) for name, position in site["coords"].items()}
    return xr.DataArray(values, coords, site["dims"], attrs=site["attrs"])
