"""The rows of `triattn evaluate`: judged in this process or on Ray, those that cannot be read set aside."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.commands import engine, set_aside
from triattn_core.commands.examples import warn_other_language
from triattn_core.errors import DataError
from triattn_core.tasks import TASKS

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.measures import Over
    from triattn_core.analysis.mining.sources import Source
    from triattn_core.checkpoint.bundle import Bundle

FIRST = 50  # rows by which the language is told


@dataclass
class Judged:
    """rows: [rows][checkpoints], verdicts on the labelled rows.  errors: why rows were set aside, by line."""

    rows: list[list[tuple]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unlabelled: int = 0
    was_stopped: bool = False


def judge(bundles: Sequence[Bundle], options: argparse.Namespace) -> Judged:
    """The verdicts on each row, in this process up to Ctrl-C or on Ray."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.mining import sources

    if bundles[0].task.NAME not in TASKS:
        return _judge_whole_file(bundles, options)
    if options.dev:
        bundles[0].kind.held_out(bundles[0].config, ())
    source = sources.file_source(options.data)
    first = islice(sources.read_examples(bundles[0].task.NAME, source), FIRST)
    warn_other_language(bundles[0], [example for _, example in first if not isinstance(example, DataError)])
    measure = partial(measures.verdicts, vote=options.vote)
    if engine.is_ray(options):
        job = engine.run(options, measure, bundles, source, options.rows)
        rows, errors = _verdicts(job.frame()), job.errors()
        set_aside.clear(job, len(errors))
        return Judged(rows, errors, unlabelled=job.rows - len(errors) - len(rows))
    return _judge_locally(bundles, options, source, measure(bundles))


def _judge_whole_file(bundles: Sequence[Bundle], options: argparse.Namespace) -> Judged:
    """Of a task that reads its file itself, since a line of it may be several examples: no row is set aside."""
    from triattn_core.commands import progress_line
    from triattn_core.inference import evaluate

    if engine.is_ray(options) or options.exclude_overlap:
        raise DataError(
            f"rows of {bundles[0].task.NAME} are read here and whole: without --engine and --exclude-overlap"
        )
    judged = Judged()
    combine = evaluate.append_vote if options.vote else list
    with progress_line.bar(" ".join(options.name), options.rows) as bar:
        judged.rows += evaluate.judge(bundles, examples_of_file(bundles[0], options), bar.update, combine)
    return judged


def examples_of_file(bundle: Bundle, options: argparse.Namespace) -> Iterator[Any]:
    """The first examples of a file that its task reads whole; with --dev those that are the model's dev."""
    examples = bundle.task.read(options.data)
    return islice(bundle.kind.held_out(bundle.config, list(examples)) if options.dev else examples, options.rows)


def _judge_locally(bundles: Sequence[Bundle], options: argparse.Namespace, source: Source, over: Over) -> Judged:
    from triattn_core.analysis import measures
    from triattn_core.analysis.mining import sources
    from triattn_core.commands import progress_line
    from triattn_core.inference import evaluate

    judged, count, task = Judged(), 0, bundles[0].task
    window = evaluate.WINDOW // (8 if task.OUTPUTS == 1 else 1)
    rows: Iterator[tuple[int, Any]] = islice(sources.read_examples(task.NAME, source), options.rows)
    if options.exclude_overlap:
        rows = evaluate.exclude_overlap(rows, _all_examples(task.NAME, options.exclude_overlap))

    def counted() -> Iterator[tuple[int, object]]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    total = min(filter(None, (options.rows, source.lines)), default=None)
    with progress_line.bar(" ".join(options.name), total) as bar:
        try:
            for part in measures.measure_rows(over, counted(), window):
                judged.rows += _verdicts(part.table)
                judged.errors += part.aside
                judged.unlabelled = count - len(judged.rows) - len(judged.errors)
                bar.update(count - bar.n)
        except KeyboardInterrupt:
            judged.was_stopped = True
    return judged


def _all_examples(task: str, files: Sequence[Path]) -> Iterator[object]:
    """The examples of all rows.  Raises DataError for a row that cannot be read."""
    from triattn_core.analysis.mining import sources

    for file in files:
        for _, example in sources.read_examples(task, sources.file_source(file)):
            if isinstance(example, DataError):
                raise example
            yield example


def _verdicts(table: pd.DataFrame) -> list[list[tuple]]:
    return [list(map(tuple, json.loads(verdicts))) for verdicts in table["verdicts"]] if len(table) else []


def readable_examples(bundle: Bundle, options: argparse.Namespace, judged: Judged) -> Iterator[object]:
    """The examples of the rows that were not set aside."""
    from triattn_core.analysis.measures import LINE
    from triattn_core.analysis.mining import sources

    task = bundle.task.NAME
    if task not in TASKS:
        yield from examples_of_file(bundle, options)
        return
    aside = {int(match[1]) for error in judged.errors if (match := LINE.match(error))}
    rows = sources.read_examples(task, sources.file_source(options.data))
    for line, example in islice(rows, options.rows):
        if not isinstance(example, DataError) and line not in aside:
            yield example
