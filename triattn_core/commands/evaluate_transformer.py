"""`triattn evaluate` of models of others: how much of the rows is right, and what their attention is worth."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations, islice
from typing import Any

from triattn_core.commands import engine, progress_line
from triattn_core.errors import DataError

LISTED = 20  # rows set aside that are named
SHOWN = 3  # rows that one model alone has right, or has more of


def is_other(name: str) -> bool:
    """Whether it names a folder of Hugging Face, or a function of a Python file."""
    from triattn_core.sources.transformer import is_transformer_folder

    return name.rpartition(":")[0].endswith(".py") or is_transformer_folder(name)


def load_other(name: str, device: str | None) -> Any:
    """Loads such a model.  Raises CheckpointError, or ConfigError."""
    from triattn_core.inference.device import choose_device
    from triattn_core.recording.own_module import OwnModule
    from triattn_core.sources.transformer import load_transformer

    if not name.rpartition(":")[0].endswith(".py"):
        return load_transformer(name, device)
    own = OwnModule.of(name)
    own.module.to(choose_device(device))
    return own


def run(options: argparse.Namespace) -> int:
    """Print the report of `measure_worth`; of several models, or without --attention, what they have right.  Raises
    DataError, InputError."""
    if options.vote or options.record or options.exclude_overlap or engine.is_ray(options):
        raise DataError("models of others are evaluated without --vote, --record, --exclude-overlap or ray")
    if len(options.name) > 1 and options.attention:
        raise DataError("--attention takes one model of others at a time")
    if not all(map(is_other, options.name)):
        raise DataError("checkpoints of ours beside models of others: `triattn cases` compares them")
    if not options.data.is_file():
        raise DataError(f"{options.data}: no such file")
    reports = [_report(name, options) for name in options.name]
    for error in reports[0].get("aside", [])[:LISTED]:
        print(f"triattn: set aside: {error}", file=sys.stderr)
    aside = len(reports[0].pop("aside", []))
    if options.attention:
        _print_worth(reports[0] | ({"aside": aside} if aside else {}), options)
    else:
        _print_scores(options, reports)
    return 0


def _report(name: str, options: argparse.Namespace) -> dict[str, Any]:
    from triattn_core.analysis.mining.sources import file_source
    from triattn_core.importers.text_rows import read_texts
    from triattn_core.sources.transformer_worth import measure_score, measure_worth
    from triattn_core.tasks.squad_file import is_squad

    source, model = file_source(options.data), load_other(name, options.device)
    total = None if is_squad(source.name) else min(options.rows or source.lines, source.lines)
    measure = measure_worth if options.attention else measure_score
    with saying_label_order(model) as noting:
        rows = noting(islice(read_texts(source), options.rows))
        with progress_line.bar(f"{'attention of ' * options.attention}{model.name}", total) as bar:
            return measure(model, rows, progress=bar.update)


@contextmanager
def saying_label_order(model: Any) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    """Yields what numbered rows are to pass through; after the block, says how labels among them that are numbers were
    read: by the model's own order of its classes."""
    numbered: set[int] = set()
    yield lambda rows: _noting_numbers(rows, numbered)
    if numbered and (names := _label_names(model)):
        order = ", ".join(f"{number} is {label}" for number, label in list(names.items())[:LISTED])
        print(f"triattn: labels that are numbers are read as {model.name} has them: {order}", file=sys.stderr)


def _noting_numbers(rows: Iterable[Any], numbered: set[int]) -> Iterator[Any]:
    """The numbered rows as they are; the labels among them that are numbers are kept."""
    for line, row in rows:
        if isinstance(label := getattr(row, "label", None), int):
            numbered.add(label)
        yield line, row


def _label_names(model: Any) -> dict[int, str]:
    """The names of a classifier's labels by number: data sets number the same names in other orders, as those of
    inference do.  None of a model whose names are numbers."""
    if getattr(model, "head", "labels") != "labels":
        return {}
    config = getattr(getattr(model, "model", None), "config", None)
    names = dict(enumerate(getattr(model, "names", None) or ())) if config is None else config.id2label
    return {number: str(name) for number, name in names.items() if str(name) != f"LABEL_{number}"}


def _print_worth(report: Mapping[str, Any], options: argparse.Namespace) -> None:
    from triattn_core.sources.transformer_worth import describe_worth

    print(json.dumps(report) if options.json else "\n".join(describe_worth(report)))


def _print_scores(options: argparse.Namespace, reports: Sequence[Mapping[str, Any]]) -> None:
    """What each model has right and, of each two, the difference and the rows on which they are furthest apart."""
    differences = [_difference(*pair) for pair in combinations(zip(options.name, reports), 2)]
    if options.json:
        kept = ("n", "metric", "score", "f1", "bleu", *["rows"] * (len(reports) > 1))
        models = [
            {"name": name} | {key: report[key] for key in kept if key in report}
            for name, report in zip(options.name, reports)
        ]
        print(json.dumps({"models": models, "differences": differences} if len(reports) > 1 else models[0]))
        return
    for name, report in zip(options.name, reports):
        line = f"{report['n']:,} rows  {report['metric']} {report['score']} %"
        line += f"  F1 {report['f1']} %" if "f1" in report else ""
        line += f"  BLEU {report['bleu']}" if "bleu" in report else ""
        print(f"{name}  {line}" if len(reports) > 1 else line)
    for found in differences:
        print(f"{found['b']} less {found['a']}: {found['points']:+.2f} points, p {found['p']:.3g} ({found['test']})")
        if bleu := found.get("bleu"):
            gain = f"{bleu['points']:+.2f} BLEU (95 % {bleu['low']:+.2f} to {bleu['high']:+.2f})"
            print(f"{found['b']} less {found['a']}: {gain}, p {bleu['p']:.3g} (approximate randomisation)")
        for name, lines in found["more"].items():
            listed = ", ".join(map(str, lines[:SHOWN])) + (" …" if len(lines) > SHOWN else "")
            print(f"  more right in {name}: {len(lines):,} rows" + f", such as lines {listed}" * bool(lines))


def _difference(a: tuple[str, Mapping[str, Any]], b: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The difference of two models on the rows that both were asked; see `RowDifference`.  Raises DataError where they
    are asked for different things."""
    from triattn_core.sources.two_models import compare_rows
    from triattn_core.sources.written_bleu import BLEU, compare_bleu

    (first, one), (second, other) = a, b
    if one["metric"] != other["metric"]:
        raise DataError(f"{first} is asked for labels or words, {second} for the other: they cannot be compared")
    found = compare_rows(one["rows"], other["rows"])
    more = {name: list(lines) for name, lines in zip((first, second), found.more)}
    written = {BLEU: compare_bleu(one["counts"], other["counts"])} if BLEU in one and BLEU in other else {}
    return written | {
        "a": first,
        "b": second,
        "rows": found.rows,
        "points": found.points,
        "p": found.p,
        "test": found.test,
        "more": more,
    }
