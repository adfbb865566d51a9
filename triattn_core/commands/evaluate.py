"""`triattn evaluate`: metrics over a file of rows, and whether two checkpoints differ by more than noise."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.commands import engine, evaluate_laboratory, evaluate_transformer, set_aside
from triattn_core.commands.evaluate_laboratory import GENERATED, SET
from triattn_core.commands.evaluate_rows import Judged, judge, readable_examples
from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle

VOTE, VOTES = "majority vote", "vote"
LISTED = 20  # rows set aside that are named


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = (
        "one or more checkpoints, by name or folder; several encode the rows only once if they share an encoder; or "
        "models of others: folders of Hugging Face, or FILE.py:FUNCTION of a module of your own, whose file is run"
    )
    parser.add_argument("name", nargs="+", metavar="NAME", help=text)
    text = "a file of rows: JSON Lines, .csv or .tsv, plain or .gz, or Parquet; or laboratory:TASK for rows generated "
    text += "from --seed"
    parser.add_argument("data", type=Path, metavar="DATA", help=text)
    text = "seed of the generated laboratory rows (default: 1)"
    parser.add_argument("--seed", type=int, default=1, metavar="N", help=text)
    text = f"use the first N rows only (default: all); how many laboratory rows to generate (default: {GENERATED})"
    parser.add_argument("--rows", "--limit", type=engine.row_count, metavar="N", help=text)
    text = "DATA is the training set: use only the rows of it that the model was not trained on, which are its dev"
    parser.add_argument("--dev", action="store_true", help=text)
    text = "also evaluate the majority vote of the checkpoints (a tie goes to the higher mean probability)"
    parser.add_argument("--vote", action="store_true", help=text)
    text = (
        "also measure how much predictions rely on the attention weights (more of TANs and laboratory models); of a "
        "model of others also each head's sinks, and the answers without it"
    )
    parser.add_argument("--attention", action="store_true", help=text)
    text = (
        f"save the numbers: those of --vote in {VOTES}.jsonl among the records (page Results), those of --attention in "
        "the metrics.json of each checkpoint; without either the scores on a set that is neither dev nor test, there"
    )
    parser.add_argument("--record", action="store_true", help=text)
    text = "leave out rows whose texts also occur together in these files"
    parser.add_argument("--exclude-overlap", type=Path, nargs="+", default=[], metavar="FILE", help=text)
    engine.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print `{"task", "n", "metrics"}` of each checkpoint, and whether two differ significantly.

    A row that cannot be read is set aside; if the run is stopped, the numbers are those of the previous rows.
    """
    from triattn_core.checkpoint.bundle import load
    from triattn_core.inference.device import keep_freed_memory

    keep_freed_memory()
    others = any(map(evaluate_transformer.is_other, options.name))
    if options.dev and (others or options.record or str(options.data).startswith(SET)):
        raise DataError("--dev is for checkpoints that hold out part of their training set, without --record")
    if others:
        return evaluate_transformer.run(options)
    _check(options)
    if str(options.data).startswith(SET):
        return evaluate_laboratory.run(options)
    if not options.data.is_file():
        raise DataError(f"{options.data}: no such file")
    bundles = [load(name, engine.loading_device(options)) for name in options.name]
    bundles[0].kind.require_packages()
    split = split_of(bundles, options.data) if options.record and options.vote else ""
    if _records_scores(options):
        _require_elsewhere(bundles, options.data)
    judged = judge(bundles, options)
    if judged.errors and not (judged.rows or judged.unlabelled or judged.was_stopped):
        raise DataError(judged.errors[0])
    for error in judged.errors[:LISTED]:
        print(f"triattn: set aside: {error}", file=sys.stderr)
    if judged.errors:
        rows = "1 row" if len(judged.errors) == 1 else f"{len(judged.errors):,} rows"
        print(f"triattn: {rows} set aside", file=sys.stderr)
    if judged.rows and judged.unlabelled:
        total = judged.unlabelled + len(judged.rows)
        unlabelled = f"{judged.unlabelled:,} of {total:,} rows have no label, or no answer"
        print(f"triattn: {unlabelled}: they are left out", file=sys.stderr)
    if options.record and (judged.errors or judged.was_stopped):
        print("triattn: not recorded, for it is not the whole set", file=sys.stderr)
        options.record, split = False, ""
    if judged.rows or not judged.was_stopped:
        _print_results(bundles, judged, options, split)
    if judged.was_stopped:
        print(f"triattn: stopped after {len(judged.rows):,} rows", file=sys.stderr)
        return 130
    return set_aside.exit_status(len(judged.errors), len(judged.rows) + judged.unlabelled, judged.errors)


def _check(options: argparse.Namespace) -> None:
    if len(set(options.name)) < len(options.name):
        raise DataError("a checkpoint is named twice: name each once")
    if options.vote and len(options.name) < 3:
        raise DataError("a majority vote needs three checkpoints or more")
    if _records_scores(options):
        if str(options.data).startswith(SET):
            raise DataError("--record keeps what is measured of a laboratory model with --attention: add it")
        if options.rows or options.exclude_overlap:
            raise DataError("--record keeps the scores on a whole set: leave out --rows and --exclude-overlap")
    if engine.is_ray(options):
        _require_plain(options)


def _records_scores(options: argparse.Namespace) -> bool:
    return options.record and not (options.vote or options.attention)


def _require_elsewhere(bundles: Sequence[Bundle], file: Path) -> None:
    """Raises DataError for the dev or test set of a checkpoint."""
    for sets in (bundle.config.data for bundle in bundles):
        if set_name(file) in (getattr(sets, "dev", None), getattr(sets, "test", None)):
            raise DataError(f"--record: {file} was measured in training; with --vote or --attention more is recorded")


def _require_plain(options: argparse.Namespace) -> None:
    if str(options.data).startswith(SET) or options.attention or options.exclude_overlap:
        raise DataError("--engine ray takes a file of rows, without --attention or --exclude-overlap")


def _print_results(bundles: Sequence[Bundle], judged: Judged, options: argparse.Namespace, split: str) -> None:
    from triattn_core.analysis.maps.attention_report import describe
    from triattn_core.inference.evaluate import by_bundle, score_verdicts
    from triattn_core.training.metrics_writer import write_elsewhere

    try:
        verdicts = by_bundle(judged.rows)
    except DataError as error:
        raise DataError(f"{options.data}: {error}") from None
    reports, names = (
        [score_verdicts(bundles[0].task, bundle_rows) for bundle_rows in verdicts],
        [*options.name, *[VOTE] * options.vote],
    )
    differences = _differences(bundles, names, verdicts)
    if options.attention:
        reports = [
            *map(with_attention_measures, bundles, reports, repeat(options), repeat(judged)),
            *reports[len(bundles) :],
        ]
    if _records_scores(options):
        for bundle, report in zip(bundles, reports):
            write_elsewhere(bundle.path, {"set": set_name(options.data), **report["metrics"], "n": report["n"]})
    if split:
        append_record(bundles, split, reports[-1], options.command)
    if options.json:
        comparison = {
            "checkpoints": [{"name": name, **report} for name, report in zip(names, reports)],
            "differences": [vars(difference) for difference in differences],
        }
        output = comparison if len(reports) > 1 else reports[0]
        output |= {"aside": len(judged.errors)} if judged.errors else {}
        print(json.dumps(output | ({"stopped": True} if judged.was_stopped else {})))
        return
    for name, report in zip(names, reports):
        line = f"{report['n']} rows  " + "  ".join(f"{key} {value}" for key, value in report["metrics"].items())
        print(f"{name}  {line}" if len(reports) > 1 else line)
        for line in describe(report["attention"]) if "attention" in report else ():
            print(f"  {line}")
    for difference in differences:
        print(difference.describe())


def _differences(bundles: Sequence[Bundle], names: Sequence[str], verdicts: Sequence[Sequence[tuple]]) -> Sequence[Any]:
    """The tests of all pairs: of a score of the whole file, or of the rows that one alone has right."""
    from triattn_core.analysis.score_test import compare_scores
    from triattn_core.analysis.significance import mcnemar
    from triattn_core.results.run_records import config_variant
    from triattn_core.tasks.task import FileScoreTask

    task = bundles[0].task
    if not isinstance(task, FileScoreTask):
        return mcnemar(names, [[right for right, *_ in rows] for rows in verdicts])
    settings = [(config_variant(bundle.config), bundle.config.training.seed) for bundle in bundles]
    return compare_scores(task, names, verdicts, settings)


def with_attention_measures(bundle: Bundle, result: dict, options: argparse.Namespace, judged: Judged) -> dict:
    """A checkpoint's result with the measures of its attention; with --record they are stored in its metrics.json."""
    from triattn_core.commands import progress_line
    from triattn_core.training.metrics_writer import write_attention

    rows = list(readable_examples(bundle, options, judged))
    with progress_line.bar(f"attention of {bundle.name}", len(rows)) as bar:
        report = dict(bundle.kind.attention_report(bundle, rows, bar.update))
    if options.record:
        write_attention(bundle.path, report, set_name(options.data))
    return result | {"attention": report}


def set_name(file: Path) -> str:
    """`quora/dev` of `…/quora/dev.jsonl.gz`."""
    return f"{file.resolve().parent.name}/{file.name.partition('.')[0]}"


def split_of(bundles: Sequence[Bundle], file: Path) -> str:
    """The split that a file is for checkpoints that differ only in their seed: "dev" or "test".  Raises DataError
    otherwise."""
    from triattn_core.results.run_records import config_variant

    sets, name = bundles[0].config.data, set_name(file)
    if len({config_variant(bundle.config) for bundle in bundles}) > 1:
        raise DataError("--record: the checkpoints of an ensemble may differ only in their seed")
    if len({bundle.config.training.seed for bundle in bundles}) < len(bundles):
        raise DataError("--record: two of these checkpoints have the same seed; an ensemble needs different seeds")
    dev, test = getattr(sets, "dev", None), getattr(sets, "test", None)  # laboratory rows are generated
    if name not in (dev, test):
        raise DataError(f"--record: {file} is neither {dev} nor {test}, on which these are measured")
    return "test" if name == test else "dev"


def append_record(bundles: Sequence[Bundle], split: str, vote: dict, command: str) -> None:
    """Append a record: the metrics of a vote, and the number of parameters of all voters."""
    from triattn_core.results.run_records import append_record, describe_new_records, new_records_folder, today
    from triattn_core.training.metrics_writer import machine, run_record

    first, many = bundles[0], len(bundles)
    details: dict[str, Any] = {"date": today(), "machine": machine(), "command": command}
    details["voters"] = many
    details["parameters"] = sum(weight.numel() for bundle in bundles for weight in bundle.model.parameters())
    metrics = {"set": getattr(first.config.data, split), **vote["metrics"], "n": vote["n"]}
    seed_metrics = {"seed": f"vote of {many}", split: metrics}
    record = run_record(first.path, first.config, details, [seed_metrics])
    own_fields = {"name": f"vote of {many}", "digest": f"{record['digest']}-{many}"}  # other votes are other records
    append_record(new_records_folder() / f"{VOTES}.jsonl", record | own_fields)
    if line := describe_new_records():
        print(line, file=sys.stderr)
