"""The cache of results: what counts, and what goes first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
import xarray as xr

from triattn_core.inference.result_cache import ResultCache, approximate_bytes


@dataclass(frozen=True)
class Pair:
    left: object
    right: object = None


def test_arrays_tables_and_texts_count_wherever_they_stand():
    array = np.zeros(1000)
    with_coordinates = xr.DataArray(np.zeros(500), {"query": np.zeros(500)}, "query")
    for value in (
        array, xr.DataArray(array), with_coordinates, torch.zeros(1000, dtype=torch.float64),
        pd.DataFrame({"x": array}), {"a": [array]}, (Pair({"b": (array, array)}),), "x" * 8000,
    ):  # fmt: skip
        assert 8000 <= approximate_bytes(value) < 9000, type(value)
    assert approximate_bytes(Pair(np.zeros(1000), np.ones(1000))) >= 16000


def test_the_least_recently_used_goes_first_and_the_newest_stays():
    cache = ResultCache(20_000)
    for key in "abc":
        cache.put(key, np.zeros(1000))
        cache.get("a")
    assert cache.get("b") is None and cache.get("a") is not None and cache.get("c") is not None
    assert 16_000 <= cache.bytes <= 20_000
    cache.put("large", np.zeros(10_000))
    assert len(cache) == 1 and cache.get("large") is not None


def test_a_result_under_two_keys_counts_once():
    cache, value = ResultCache(20_000), np.zeros(1500)
    cache.put("one", value)
    cache.put("two", value)
    assert len(cache) == 2 and cache.bytes == 12_000


def test_what_is_kept_for_nobody_can_be_made_less():
    cache = ResultCache(100_000)
    for key in "abc":
        cache.put(key, np.zeros(1000))
    cache.shrink(9_000)
    assert len(cache) == 1 and cache.get("c") is not None
    cache.shrink(0)
    assert len(cache) == 0 and cache.bytes == 0
