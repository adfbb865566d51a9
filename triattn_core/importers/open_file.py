"""Open a file as a trace: an array from any source, or a saved trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from triattn_core.errors import TraceError
from triattn_core.importers.array_files import read_array
from triattn_core.importers.hdf5_check import require_readable
from triattn_core.trace import AttentionTrace
from triattn_core.trace.array_axes import AxesError
from triattn_core.trace.array_rows import SelectError, empty_unknown_rows
from triattn_core.trace.from_array import notes_of, trace_of
from triattn_core.trace.quantity_check import QuantityError


def open_file(
    path: str | Path,
    name: str | None = None,
    *,
    tokens: Mapping[str, Iterable] | None = None,
    quantity: str | None = None,
    axes: Sequence[str] | None = None,
    sums_over: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    crop: Mapping[str, tuple[int, int]] | None = None,
    select: Mapping[str, int] | None = None,
) -> AttentionTrace:
    """The trace of a file.  name: the array to read, if there are several.  tokens: as from `token_files.read_tokens`.
    Other arguments: see `trace_of`.  A .nc file that is a saved trace is loaded, and the other arguments are ignored.

    >>> import numpy, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "mine.npy")
    >>> numpy.save(path, [[0.75, 0.25], [0.0, 1.0]])
    >>> open_file(path)
    AttentionTrace(mine.npy: attention/weight [query 2, key 2])

    Raises DataError or TraceError, in one line.
    """
    path = Path(path)
    if path.suffix == ".nc" and path.is_file():
        require_readable(path)
        try:
            return _without_unknown_rows(AttentionTrace.load(path))
        except TraceError:
            pass  # an array in NetCDF
    array = read_array(path, name)
    by_axis = dict(tokens or {})
    options: dict[str, Any] = {"special": by_axis.pop("special", ()), "tokens": by_axis or None}
    options |= {"quantity": quantity, "axes": axes, "sums_over": sums_over}
    try:
        return trace_of(array, **options, names=names, crop=crop, select=select, source=path.name)
    except AxesError as error:
        raise AxesError(f"{path.name}: {error}", error.readings) from None
    except QuantityError as error:
        raise QuantityError(f"{path.name}: {error}", error.options) from None
    except SelectError as error:
        raise SelectError(f"{path.name}: {error}", error.axis, error.size) from None
    except TraceError as error:
        raise TraceError(f"{path.name}: {error}") from None


def _without_unknown_rows(trace: AttentionTrace) -> AttentionTrace:
    """The same with empty rows for those that hold what is no number, and a note, as of an array."""
    sites, notes = empty_unknown_rows(trace.sites)
    if not notes:
        return trace
    return replace(trace, sites=sites, meta={**trace.meta, "notes": "\n".join([*notes, *notes_of(trace)])})
