"""One checkpoint and one example: `triattn explain` and `triattn verify`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.checkpoint import Bundle
    from triattn_core.trace import AttentionTrace

ROWS = (
    '{"text_a", "text_b"}, {"history", "candidates"}, {"passage", "question", "options"}, {"context", "question"} '
    'or {"text"}'
)


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """What `triattn explain` takes."""
    parser.add_argument("name", help="a checkpoint, by name or folder")
    parser.add_argument("input", type=Path, help=f"a JSON file with one row of its task: {ROWS}")
    parser.add_argument("--out", type=Path, help="where to save the trace (NetCDF)")
    parser.add_argument("--cell", metavar="P.Q", help="of a reader: the terms of this score, such as 13.6")
    parser.add_argument("--part", type=int, help="of a long passage: which window is traced, from 1")


def explain(options: argparse.Namespace) -> None:
    """Prints the prediction; saves the trace where asked."""
    from triattn_core.checkpoint import load
    from triattn_core.explain import explain as explain_one
    from triattn_core.text.rows import read_json

    if options.out and not options.out.parent.is_dir():
        raise DataError(f"{options.out.parent}: no such folder to save the trace in")
    bundle = load(options.name, options.device)
    example = bundle.task.Example.from_row(read_json(options.input), str(options.input))
    example.check()
    heard(bundle, [example])
    prediction, trace = explain_one(bundle, example, option=options.part - 1 if options.part else None)
    cell = _cell(options.cell, bundle, example, trace) if options.cell else {}
    if options.out:
        trace.save(options.out)
    if options.json:
        told = {**vars(prediction), "meta": dict(trace.meta), "sites": sorted(trace.sites)}
        print(json.dumps(told | ({"cell": cell} if cell else {}), indent=1))
        return
    for label, probability in zip(prediction.labels, prediction.probabilities):
        print(f"{probability:.4f}  {label}")
    for note in prediction.notes:
        print(note)
    if len(prediction.labels) > 1 and "option" in trace.meta:
        print(f"traced: {prediction.labels[prediction.option]}")
    if cell:
        for name, value in cell["terms"]:
            print(f"{value:+.6g}  {name}")
        print("{score:.6g}  score of {words}\n{weight:.6g}  weight, rank {rank} of {of}".format(**cell))
        return
    for site in sorted(trace.sites):
        array = trace.sites[site]
        print(f"{site}  {' x '.join(f'{axis} {size}' for axis, size in array.sizes.items())}")


def _cell(asked: str, bundle: Bundle, example, trace: AttentionTrace) -> dict:
    """The exact numbers of a cell such as 13.6, which count words from 0."""
    from triattn_core import spans

    at = [int(one) for one in asked.split(".") if one.isdecimal()]
    if bundle.config.kind != "reader" or len(at) != 2:
        raise DataError(f"--cell {asked}: expected two numbers such as 13.6, of a reader's passage and question")
    spans.inside(trace, *at)
    found = spans.facts(trace, spans.terms(bundle, example, *at, trace.meta.get("option", 0)), *at)
    words = [trace.site("attention/weight")[f"{axis}_token"].values[i] for axis, i in zip(("query", "key"), at)]
    return {**found, "words": " x ".join(map(str, words))}


def heard(bundle: Bundle, examples: Iterable) -> None:
    """Says, where it is so, that the texts are in a language that the checkpoint does not read."""
    from triattn_core.records import spoken
    from triattn_core.text.language import other_than

    reads = bundle.config.language
    other = other_than(reads, (text for one in examples for text in bundle.task.texts(one, 0).values()))
    if reads and other:
        print(f"triattn: the texts look {spoken(other)}: {bundle.name} reads {spoken(reads)}", file=sys.stderr)


def verify(options: argparse.Namespace) -> int:
    """Prints each check; 1 where one fails."""
    from triattn_core.verify import verify as verify_one

    checks = verify_one(options.name, options.device)
    if options.json:
        print(json.dumps([vars(check) for check in checks], indent=1))
    else:
        for check in checks:
            print(f"{'ok    ' if check.good else 'FAILED'}  {check.name}: {check.found} (recorded: {check.expected})")
    return 0 if all(check.good for check in checks) else 1
