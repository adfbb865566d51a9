"""What is measured of rows: one function a command, the same for one process and for many.

Each takes the loaded checkpoints and returns what measures rows with them, in whichever process it is called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pandas as pd

from triattn_core.analysis.mining.failing_rows import isolate_failures
from triattn_core.analysis.mining.miner import TablePart
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError

Rows = Iterator[tuple[int, Any]]  # (line, example or the DataError that says why there is none)
Over = Callable[[Rows], Iterator[TablePart]]  # yields parts of the table of some rows; may be stopped between them
Measure = Callable[[Sequence[Bundle]], Over]
LINE = re.compile(r"line (\d+): ")


def measure_rows(over: Over, rows: Iterable[tuple[int, Any]], size: int = 1) -> Iterator[TablePart]:
    """Yield a part for every `size` rows, in every process alike: a row that cannot be read, or on which the measure
    raises, is set aside with its line and the reason, and the other rows are measured without it.

    Raises what concerns all rows, such as a ConfigError.
    """
    rows = iter(rows)
    while window := list(islice(rows, size)):
        results, failures = isolate_failures(lambda some: list(over(iter(some))), window)
        parts = [part for result in results for part in result]
        tables = [part.table for part in parts if len(part.table)]
        aside = failures | aside_by_line(window, [text for part in parts for text in part.aside])
        table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame({"row": []})
        yield TablePart(table, tuple(aside[line] for line in sorted(aside)), window[-1][0])


def aside_by_line(rows: Iterable[tuple[int, Any]], texts: Iterable[str]) -> dict[int, str]:
    """Why rows were set aside, by line; texts: the `aside` of their parts."""
    unreadable = {line: str(row) for line, row in rows if isinstance(row, DataError)}
    return unreadable | {int(match[1]): text for text in texts if (match := LINE.match(text))}


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
    return lambda rows: (
        replace(part, table=stored_profiles.encode_profiles(part.table, words))
        for part in head_atlas.measure_rows(bundles[0], rows, True, ablate)
    )


def faithful(bundles: Sequence[Bundle], settings: Mapping[str, Any]) -> Over:
    """The table of `triattn faithful`."""
    from triattn_core.analysis.attribution import faithfulness

    return lambda rows: faithfulness.measure_checkpoints(bundles, rows, **settings)


def verdicts(bundles: Sequence[Bundle], vote: bool = False) -> Over:
    """The verdicts of `triattn evaluate`: columns `row` and `verdicts`, the JSON of [bundles] tuples that each begin
    with whether the answer is right."""
    return lambda rows: _verdict_parts(bundles, list(rows), vote)


def _verdict_parts(bundles: Sequence[Bundle], rows: list[tuple[int, Any]], vote: bool) -> Iterator[TablePart]:
    from triattn_core.inference.evaluate import append_vote, judge

    readable = [(line, example) for line, example in rows if not isinstance(example, DataError)]
    labelled = [(line, example) for line, example in readable if example.label is not None]
    unreadable: dict[int, str] = {}

    def judge_labelled() -> list[list[tuple]]:
        return list(judge(bundles, [example for _, example in labelled], combine=append_vote if vote else list))

    try:
        verdicts = judge_labelled()
    except DataError:  # of a row at least; it is not judged
        labelled, unreadable = _of_bundle(bundles[0], labelled)
        verdicts = judge_labelled()
    table = pd.DataFrame(
        {"row": line, "verdicts": json.dumps(verdict)} for (line, _), verdict in zip(labelled, verdicts, strict=True)
    )
    aside = (str(example) for _, example in rows if isinstance(example, DataError))
    yield TablePart(table, (*aside, *unreadable.values()), rows[-1][0] if rows else 0)


def _of_bundle(bundle: Bundle, rows: Sequence[tuple[int, Any]]) -> tuple[list[tuple[int, Any]], dict[int, str]]:
    """The rows whose texts a checkpoint can read, and why not the others, by line."""

    def read(part: Sequence[tuple]) -> Sequence[tuple]:
        bundle.task.roles([example for _, example in part], bundle.tokenizer, bundle.config.limits)
        return part

    parts, failures = isolate_failures(read, rows)
    return [row for part in parts for row in part], failures
