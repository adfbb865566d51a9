"""The columns of `head_profiles.profile_table` as one column of text, for tables that go from process to process.

Only what `word_weights.weigh_words` asks for is kept, and only of rows in which one of the words stands.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.analysis.maps.head_profiles import TOKEN_FIELDS, WAYS, drop_profiles
from triattn_core.analysis.maps.word_weights import find_words
from triattn_core.trace.axes import TOKEN_AXES

COLUMN = "profile"
TOKENS = [f"{field} of {axis}" for axis in TOKEN_AXES for field in TOKEN_FIELDS]


def encode_profiles(table: pd.DataFrame, words: Sequence[str]) -> pd.DataFrame:
    """The table of one row of a file with COLUMN, JSON, in place of its profiles; empty where none of the words
    stands."""
    if table.empty:
        return table
    sites: dict[str, bool] = {}
    texts = []
    for record in table.to_dict("records"):
        if record["site"] not in sites:
            sites[record["site"]] = any(_has_words(record, axis, words) for axis in TOKEN_AXES)
        texts.append(json.dumps(_encode(record), ensure_ascii=False) if sites[record["site"]] else "")
    return drop_profiles(table).assign(**{COLUMN: texts})


def decode_profiles(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its profiles again, None where they were not kept."""
    records = [json.loads(text) if text else {} for text in table[COLUMN]]
    columns = {way: _object_column([_array(record.get(way)) for record in records], table.index) for way in WAYS}
    columns |= {name: _object_column([record.get(name) for record in records], table.index) for name in TOKENS}
    return table.drop(columns=COLUMN).assign(**columns)


def _has_words(record: Mapping[Any, Any], axis: str, words: Sequence[str]) -> bool:
    tokens = record[f"tokens of {axis}"]
    return tokens is not None and bool(find_words(tokens, record[f"glued of {axis}"], words).any())


def _encode(record: Mapping[Any, Any]) -> dict[str, Any]:
    arrays = {way: np.asarray(record[way]) for way in WAYS if record[way] is not None}
    tokens = {name: record[name] for name in TOKENS if record[name] is not None}
    return {way: [str(array.dtype), array.tolist()] for way, array in arrays.items()} | tokens


def _array(stored: Sequence | None) -> np.ndarray | None:
    return None if stored is None else np.array(stored[1], stored[0])


def _object_column(values: list, index: pd.Index) -> pd.Series:
    column = pd.Series([None] * len(values), index, dtype=object)
    for i, value in enumerate(values):
        column.iat[i] = value
    return column
