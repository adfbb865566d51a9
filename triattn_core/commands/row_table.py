"""A table of rows that a command makes: its data, its place, where it runs, and what is said of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from triattn_core.analysis.mining.folder_path import out_path
from triattn_core.commands import engine, set_aside
from triattn_core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.measures import Measure
    from triattn_core.analysis.mining.sources import Source

OUT = "where to save the table: FILE.parquet, or a folder of Parquet parts: another name, or one that ends in a slash"
Read = Callable[["Source"], Iterator[tuple[int, object]]]


@runtime_checkable
class Model(Protocol):
    """What measures rows: a bundle, or a model of others."""

    @property
    def name(self) -> str:
        """Its name in the table."""

    @property
    def digest(self) -> str:
        """Of its tensors."""


def data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that makes such a table."""
    text = "a file of rows: JSON Lines, .csv or .tsv, plain or .gz, or Parquet; rows that cannot be read are set "
    text += "aside and counted"
    parser.add_argument("data", type=Path, metavar="DATA", help=text)
    parser.add_argument("--rows", type=engine.row_count, metavar="N", help="use the first N rows only (default: all)")
    parser.add_argument("--out", type=out_path, required=True, metavar="FILE", help=OUT)
    engine.arguments(parser)


def run(
    options: argparse.Namespace,
    models: Sequence[Model],
    measure: Measure,
    read: Read | None = None,
    columns: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
) -> tuple[pd.DataFrame, list[str], bool]:
    """Compute and store the table with its provenance; returns it, the errors, and whether it was stopped.

    read: returns the rows of a source; by default the examples of the first model's task.  columns: drops the columns
    that are not stored.
    """
    from triattn_core.analysis.mining import sources
    from triattn_core.analysis.mining.table_folder import require_place
    from triattn_core.analysis.mining.table_store import store_frame
    from triattn_core.inference.device import package_versions

    on_ray = engine.is_ray(options)
    require_place(options.out)
    source = sources.file_source(options.data)
    if options.out.resolve() == options.data.resolve():
        raise DataError(f"{options.out}: --out would overwrite the input; choose another file")
    if on_ray:
        from triattn_core.checkpoint.bundle import Bundle

        bundles = [model for model in models if isinstance(model, Bundle)]
        job = engine.run(options, measure, bundles, source, options.rows)
        table, errors, was_stopped, truncated = job.frame(), job.errors(), False, job.truncated
    else:
        reasons: list[str] = []
        read = read or partial(sources.read_examples, _task_name(models))
        watched = lambda source: sources.watch_truncation(read(source), reasons)  # noqa: E731
        table, errors, was_stopped = _run_locally(options, models, measure, source, watched)
        truncated = "".join(reasons)
    provenance = {"command": options.command, "data": source.name, "sha256": source.sha256}
    provenance |= {"whole": not was_stopped and not truncated, "truncated": truncated}
    provenance["versions"] = dict(package_versions())
    provenance["checkpoints"] = {model.name: model.digest for model in models}
    store_frame(options.out, columns(table), errors, provenance)
    if on_ray:
        set_aside.clear(job, len(errors))
    return table, errors, was_stopped


def _task_name(models: Sequence[Model]) -> str:
    from triattn_core.checkpoint.bundle import Bundle

    assert isinstance(models[0], Bundle), models[0].name  # models of others are given `read`
    return models[0].task.NAME


def _run_locally(
    options: argparse.Namespace, models: Sequence[Model], measure: Callable, source: Source, read: Read
) -> tuple[pd.DataFrame, list[str], bool]:
    """Computes the table in this process, up to Ctrl-C."""
    import pandas as pd

    from triattn_core.analysis.measures import measure_rows
    from triattn_core.commands import progress_line

    tables, was_stopped = [], False
    errors: list[str] = []
    rows, names = islice(read(source), options.rows), " ".join(model.name for model in models)
    total = min(filter(None, (options.rows, source.lines)), default=None)
    with progress_line.bar(names, total) as bar:
        try:
            for part in measure_rows(measure(models), rows):
                tables.append(part.table)
                errors += part.aside
                bar.update()
        except KeyboardInterrupt:
            was_stopped = True
    if not any(map(len, tables)):
        raise DataError(errors[0] if errors else f"{source.name}: no row in it")
    return pd.concat([table for table in tables if len(table)], ignore_index=True), errors, was_stopped


def report(
    options: argparse.Namespace,
    table: pd.DataFrame,
    errors: list[str],
    was_stopped: bool,
    fields: dict,
    lines: list[str],
) -> int:
    """Print what a command found, its fields as JSON or its lines; returns the exit status: 130 after a stop, 1 if most
    rows were set aside."""
    rows = table["row"].nunique()
    if options.json:
        print(json.dumps({"rows": rows, "aside": len(errors), "out": str(options.out), **fields}))
    else:
        print(f"{options.data}: {rows:,} rows, {len(errors):,} set aside", *errors[:20], *lines, sep="\n")
    if was_stopped:
        print(f"triattn: stopped; {options.out} holds the {rows:,} rows that were done", file=sys.stderr)
    status = set_aside.exit_status(len(errors), rows, errors)
    return 130 if was_stopped else status
