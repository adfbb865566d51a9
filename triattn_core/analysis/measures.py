"""What is measured of rows: one function a command, the same for one process and for many.

Each takes the loaded checkpoints and returns what measures rows with them, in whichever process it is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from triattn_core.analysis.mining.miner import TablePart
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError, InputError

Rows = Iterable[tuple[int, Any]]  # (line, example or the DataError that says why there is none)


Over = Callable[[Rows], Iterator[TablePart]]  # yields parts of the table of some rows; may be stopped between them
Measure = Callable[[Sequence[Bundle]], Over]


def cases(bundles: Sequence[Bundle]) -> Over:
    """The table of `triattn cases`."""
    from triattn_core.analysis.mining.miner import mine

    return lambda rows: mine(bundles, rows)


def context(bundles: Sequence[Bundle]) -> Over:
    """The table of `triattn context`, of one checkpoint."""
    from triattn_core.analysis.maps import context_shares

    return lambda rows: context_shares.measure_rows(bundles[0], rows)


def heads(bundles: Sequence[Bundle], profiles: bool = False, ablate: bool = False) -> Over:
    """The table of `triattn heads`, of one checkpoint."""
    from triattn_core.analysis.maps import head_atlas

    return lambda rows: head_atlas.measure_rows(bundles[0], rows, profiles, ablate)


def faithful(bundles: Sequence[Bundle], settings: Mapping[str, Any]) -> Over:
    """The table of `triattn faithful`."""
    from triattn_core.analysis.attribution import faithfulness

    return lambda rows: faithfulness.measure_checkpoints(bundles, rows, **settings)


def verdicts(bundles: Sequence[Bundle], vote: bool = False) -> Over:
    """The verdicts of `triattn evaluate`: columns `row` and `verdicts`, the JSON of [bundles] tuples that each begin
    with whether the answer is right."""
    return lambda rows: _verdict_parts(bundles, rows, vote)


def _verdict_parts(bundles: Sequence[Bundle], rows: Rows, vote: bool) -> Iterator[TablePart]:
    from triattn_core.inference.evaluate import append_vote, judge

    rows = list(rows)
    labelled, aside = [], []
    for line, example in rows:
        try:
            if isinstance(example, DataError):
                raise example
            if example.label is not None:
                bundles[0].task.roles([example], bundles[0].tokenizer, bundles[0].config.limits)
                labelled.append((line, example))
        except (DataError, InputError) as error:
            aside.append(str(error) if error is example else f"line {line}: {error}")
    verdicts = judge(bundles, [example for _, example in labelled], combine=append_vote if vote else list)
    table = pd.DataFrame(
        {"row": line, "verdicts": json.dumps(verdict)} for (line, _), verdict in zip(labelled, verdicts, strict=True)
    )
    yield TablePart(table, tuple(aside), rows[-1][0] if rows else 0)
