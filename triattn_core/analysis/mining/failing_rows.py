"""Rows on which a computation fails: found by halves, so that one of them ends neither its batch nor the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pandas as pd

from triattn_core.errors import CheckpointError, ConfigError, DataError, InputError, TraceError, is_machine_failure
from triattn_core.inference.jobs import JobStopped

T = TypeVar("T")
Row = tuple[int, Any]  # its line and its example
Over = Callable[[Sequence[Row]], pd.DataFrame]  # the table of rows that can be read; raises what a row raises
OF_ALL_ROWS = (ConfigError, CheckpointError, TraceError, JobStopped)  # a wrong setting or a stop, not a bad row


def isolate_failures(compute: Callable[[Sequence[Any]], T], rows: Sequence[tuple]) -> tuple[list[T], dict[int, str]]:
    """Return the results of `compute` over all rows at once or, where it raises, over halves of them and so on, in
    order, and for each row on which it raises alone the reason by its line.

    rows: tuples that begin with the line.  Raises what concerns all rows: OF_ALL_ROWS, and failures of the machine
    (`errors.is_machine_failure`), for which no row is to blame.
    """
    try:
        return [compute(rows)], {}
    except OF_ALL_ROWS:
        raise
    except Exception as error:
        if not rows or is_machine_failure(error):
            raise
        if len(rows) == 1:
            return [], {rows[0][0]: describe_failure(rows[0][0], error)}
    results, failures = isolate_failures(compute, rows[: len(rows) // 2])
    more_results, more_failures = isolate_failures(compute, rows[len(rows) // 2 :])
    return results + more_results, failures | more_failures


def describe_failure(line: int, error: Exception) -> str:
    """`line 3: the reason`, in one line; an error that is not meant for users with its type."""
    text = " ".join(str(error).split()) or "no reason given"
    return f"line {line}: {text if isinstance(error, (DataError, InputError)) else f'{type(error).__name__}: {text}'}"


def measure_each(rows: Iterable[Row], measure: Callable[[Any], pd.DataFrame]) -> pd.DataFrame:
    """The tables of single examples, one below the other, with a column `row`: their lines."""
    return pd.concat([measure(example).assign(row=line) for line, example in rows], ignore_index=True)
