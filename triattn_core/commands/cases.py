"""`triattn cases`: run several checkpoints over the same rows, and store which is right where."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.analysis.mining.folder_path import out_path
from triattn_core.commands import engine, set_aside
from triattn_core.commands.row_table import OUT
from triattn_core.errors import ConfigError, DataError

if TYPE_CHECKING:
    from triattn_core.analysis.mining.case_table import Cases
    from triattn_core.analysis.mining.runs import Run
    from triattn_core.analysis.mining.sources import Source
    from triattn_core.checkpoint.bundle import Bundle


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "two to four checkpoints of one task and language, by name or folder; of pairs also Hugging Face classifiers"
    parser.add_argument("name", nargs="+", metavar="NAME", help=text)
    text = (
        "a file of rows: JSON Lines, .csv, .tsv or SQuAD's .json, plain or .gz, or Parquet; rows that cannot be read "
    )
    text += "are set aside and counted"
    parser.add_argument("data", type=Path, metavar="DATA", help=text)
    parser.add_argument("--out", type=out_path, required=True, metavar="FILE", help=OUT)
    engine.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Mine, store and print cases; after Ctrl-C, the rows so far."""
    from triattn_core.analysis.mining import sources
    from triattn_core.analysis.mining.other_answers import OtherModel, load_row_models
    from triattn_core.analysis.mining.table_folder import require_place
    from triattn_core.inference.device import keep_freed_memory

    on_ray = engine.is_ray(options)
    require_place(options.out)
    source = sources.file_source(options.data)
    if options.out.resolve() == options.data.resolve():
        raise DataError(f"{options.out}: --out would overwrite the input; choose another file")
    keep_freed_memory()
    bundles = load_row_models(options.name, engine.loading_device(options))
    if on_ray and any(isinstance(bundle, OtherModel) for bundle in bundles):
        raise ConfigError("workers take checkpoints of ours alone: leave out --engine ray")
    if on_ray:
        return _on_ray(options, bundles, source)
    return _locally(options, bundles, source)


def _locally(options: argparse.Namespace, bundles: Sequence[Bundle], source: Source) -> int:
    """Mine in this process, up to Ctrl-C; rows go to a file as they come, so that memory does not grow with them."""
    from triattn_core.analysis.mining.case_columns import column_types
    from triattn_core.analysis.mining.case_spill import spilling
    from triattn_core.analysis.mining.case_table import StoredCases
    from triattn_core.analysis.mining.runs import Run
    from triattn_core.analysis.mining.table_store import store_cases

    checkpoints = [(bundle.name, bundle.config.model.mechanism) for bundle in bundles]
    with spilling(options.out, column_types(checkpoints, bundles[0].task.NAME)) as spill:
        mining = Run(bundles, source, options.command, sink=spill.append)
        was_stopped = not _mine(mining, options.name)
        spill.finish()
        about = mining.table_info()
        store_cases(options.out, spill.tables(), about)
        table = StoredCases(spill.case_rows(), about)
        print(json.dumps(_json(table, options.out)) if options.json else "\n".join(_lines(table)))
    if was_stopped:
        print(f"triattn: stopped; {options.out} holds the {spill.rows:,} rows that were mined", file=sys.stderr)
    status = set_aside.exit_status(about.aside, spill.rows, about.complaints)
    return 130 if was_stopped else status


def _on_ray(options: argparse.Namespace, bundles: Sequence[Bundle], source: Source) -> int:
    """Mine with Ray; the table is written as it is read, so that memory does not grow with it."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.mining import case_table
    from triattn_core.analysis.mining.runs import table_info
    from triattn_core.analysis.mining.table_store import store_cases

    job = engine.run(options, measures.cases, bundles, source)
    errors = job.errors()
    about = table_info(
        *(bundles, source, job.last_line, True, errors, job.seconds, options.command, job.truncated, job.work.device)
    )
    store_cases(options.out, job.tables(), about)
    table = case_table.open_cases(options.out)  # aggregated from the file, however many rows it has
    print(json.dumps(_json(table, options.out)) if options.json else "\n".join(_lines(table)))
    set_aside.clear(job, len(errors))
    return set_aside.exit_status(len(errors), len(table.rows), errors)


def _mine(mining: Run, names: list[str]) -> bool:
    """Mine to the end of the file; False if stopped."""
    from triattn_core.commands import progress_line

    try:
        with progress_line.bar(" ".join(names), mining.lines) as bar:
            while mining.step():
                bar.update(mining.line - bar.n)
                bar.set_postfix(aside=mining.aside, refresh=False)
    except KeyboardInterrupt:
        return False
    return True


def _lines(cases: Cases) -> list[str]:
    """The table as lines of text."""
    from triattn_core.analysis.mining import agreement

    about = cases.about
    lines = [f"{about.data}: {len(cases.rows):,} rows in {about.seconds:.0f} s, {about.aside:,} set aside"]
    lines += [f"not read to its end: {about.truncated}"] if about.truncated else []
    lines += [f"  {complaint}" for complaint in about.complaints]
    lines += [f"  and {about.aside - len(about.complaints):,} more"] if about.aside > len(about.complaints) else []
    if not cases.num_labelled:
        return [*lines, "no row has a label: nobody knows who is right"]
    lines += [f"right: {', '.join(f'{name} {share:.2f} %' for name, share in agreement.accuracy(cases).items())}"]
    table = agreement.right_combinations(cases)
    lines += table[[column for column in table if table[column].dtype != bool]].to_string().splitlines()
    return [*lines, *(difference.describe() for difference in agreement.mcnemar_tests(cases))]


def _json(cases: Cases, out: Path) -> dict:
    """The table as JSON."""
    from triattn_core.analysis.mining import agreement

    table = agreement.right_combinations(cases).reset_index(names="right")
    return {
        **cases.about.model_dump(mode="json"),
        "rows": len(cases.rows),
        "out": str(out),
        "accuracy": agreement.accuracy(cases) if cases.num_labelled else {},
        "agreement": table[[column for column in table if table[column].dtype != bool]].to_dict("records"),
        "differences": [vars(test) for test in agreement.mcnemar_tests(cases)],
    }
