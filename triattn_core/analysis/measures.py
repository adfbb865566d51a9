"""What is measured of rows: one function a command, the same for one process and for many.

Each takes the loaded checkpoints and returns what measures rows with them, in whichever process it is called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pandas as pd

from triattn_core.analysis.mining.failing_rows import Over, Row, isolate_failures
from triattn_core.analysis.mining.miner import TablePart
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError

Measure = Callable[[Sequence[Bundle]], Over]
LINE = re.compile(r"line (\d+): ")


def measure_rows(over: Over, rows: Iterable[Row], size: int = 1) -> Iterator[TablePart]:
    """Yield a part for every `size` rows, in every process alike; see `measure_batch`.

    rows: (line, example, or the DataError that says why there is none), as `sources.read_examples` gives them.  Raises
    what concerns all rows, such as a ConfigError.
    """
    rows = iter(rows)
    while window := list(islice(rows, size)):
        table, aside = measure_batch(over, window)
        yield TablePart(table, tuple(aside[line] for line in sorted(aside)), window[-1][0])


def measure_batch(over: Over, rows: Sequence[Row]) -> tuple[pd.DataFrame, dict[int, str]]:
    """The table of rows, and why some were set aside, by line: a row that cannot be read, or on which the measure
    raises; the other rows are measured without it.  Raises what concerns all rows."""
    aside = {line: str(example) for line, example in rows if isinstance(example, DataError)}
    readable = [row for row in rows if row[0] not in aside]
    tables, failures = isolate_failures(over, readable) if readable else ([], {})
    tables = [table for table in tables if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame({"row": []}), aside | failures


def cases(bundles: Sequence[Bundle]) -> Over:
    """The table of `triattn cases`."""
    from triattn_core.analysis.mining.miner import mine

    return lambda rows: mine(bundles, rows)


def context(bundles: Sequence[Bundle]) -> Over:
    """The table of `triattn context`, of one checkpoint."""
    from triattn_core.analysis.maps import context_shares

    return lambda rows: context_shares.measure_rows(bundles[0], rows)


def heads(bundles: Sequence[Bundle], profiles: bool = False, ablate: bool = False, words: tuple[str, ...] = ()) -> Over:
    """The table of `triattn heads`, of one checkpoint.

    words: with the profiles of rows in which they stand, as text (`stored_profiles`), for another process to read.
    """
    from triattn_core.analysis.maps import head_atlas, stored_profiles

    if not words:
        return lambda rows: head_atlas.measure_rows(bundles[0], rows, profiles, ablate)
    return lambda rows: pd.concat(
        [
            stored_profiles.encode_profiles(head_atlas.measure_rows(bundles[0], [row], True, ablate), words)
            for row in rows
        ],
        ignore_index=True,
    )


def faithful(bundles: Sequence[Bundle], settings: Mapping[str, Any]) -> Over:
    """The table of `triattn faithful`."""
    from triattn_core.analysis.attribution import faithfulness

    return lambda rows: faithfulness.measure_rows(bundles, rows, **settings)


def verdicts(bundles: Sequence[Bundle], vote: bool = False) -> Over:
    """The verdicts of `triattn evaluate`: columns `row` and `verdicts`, the JSON of [bundles] tuples that each begin
    with whether the answer is right."""
    return lambda rows: verdict_table(bundles, rows, vote)


def verdict_table(bundles: Sequence[Bundle], rows: Sequence[Row], vote: bool) -> pd.DataFrame:
    """The table of `verdicts`; rows without a label have none."""
    from triattn_core.inference.evaluate import append_vote, judge

    labelled = [(line, example) for line, example in rows if example.label is not None]
    verdicts = judge(bundles, [example for _, example in labelled], combine=append_vote if vote else list)
    return pd.DataFrame(
        {"row": line, "verdicts": json.dumps(verdict)} for (line, _), verdict in zip(labelled, verdicts, strict=True)
    )
