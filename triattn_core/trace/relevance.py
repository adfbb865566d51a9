"""Relevance scores as they may be compared: within a distribution alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from triattn_core.trace.axes import NOT_SHARED


def centred(relevance: xr.DataArray, axes: Sequence[str] = ()) -> xr.DataArray:
    """Relevance minus its mean over each distribution's cells.

    axes: those that a distribution runs over; by default key, context and those of a higher order.

    The softmax of a query does not change when all its scores move together, so only differences within a distribution
    mean anything; raw scores often turn one-sided and would draw in one colour.  Attrs say `centred = "query"`.
    """
    over = [axis for axis in relevance.dims if (axis in axes if axes else axis not in NOT_SHARED)]
    mean = relevance.where(np.isfinite(relevance)).mean(over)
    return (relevance - mean).transpose(*relevance.dims).assign_attrs({**relevance.attrs, "centred": "query"})
