"""The columns of a table of cases, and a frame that has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pyarrow as pa

from triattn_core.tasks import InputForm, form


def make_frame(values: Mapping[str, Sequence], checkpoints: Sequence[tuple[str, str]], task: str = "") -> pd.DataFrame:
    """A data frame of these columns; missing ones are empty.  checkpoints: (name, mechanism)."""
    kinds = column_types(checkpoints, task).items()
    return pd.DataFrame({name: pd.Series(values.get(name, ()), dtype=_pandas_dtype(kind)) for name, kind in kinds})


def column_types(checkpoints: Sequence[tuple[str, str]], task: str = "") -> dict[str, pa.DataType]:
    """Column → type for (name, mechanism) of each checkpoint; questions have more columns."""
    types = {"row": pa.int32(), "id": pa.string(), "label": pa.int16(), "tokens": pa.int32()}
    for name, mechanism in checkpoints:
        types |= {f"{name} answer": pa.int16(), f"{name} confidence": pa.float32(), f"{name} right": pa.bool_()}
        if form(task) is InputForm.PASSAGE:
            types |= {f"{name} start": pa.int32(), f"{name} end": pa.int32(), f"{name} f1": pa.float32()}
        if mechanism == "tri":
            types |= {f"{name} moved": pa.float32(), f"{name} moved at": pa.list_(pa.float32())}
    return types


def _pandas_dtype(kind: pa.DataType) -> object:
    """The pandas dtype for a type of `column_types`."""
    return "str" if kind == pa.string() else kind.to_pandas_dtype()
