"""`triattn evaluate` of a Hugging Face classifier: its accuracy over rows, and what its attention is worth."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import islice

from triattn_core.commands import engine, progress_line
from triattn_core.errors import DataError

LISTED = 20  # rows set aside that are named


def run(options: argparse.Namespace) -> int:
    """Print the report of `measure_worth`; without --attention the accuracy alone.  Raises DataError, InputError."""
    from triattn_core.analysis.mining.sources import file_source
    from triattn_core.importers.text_rows import read_texts
    from triattn_core.sources.transformer import load_transformer
    from triattn_core.sources.transformer_worth import describe_worth, measure_worth

    if len(options.name) > 1 or options.vote or options.record or options.exclude_overlap or engine.is_ray(options):
        raise DataError("a Hugging Face model is evaluated alone, without --vote, --record, --exclude-overlap or ray")
    if not options.data.is_file():
        raise DataError(f"{options.data}: no such file")
    source = file_source(options.data)
    model = load_transformer(options.name[0], options.device)
    total = min(options.rows or source.lines, source.lines)
    with progress_line.bar(f"attention of {model.name}", total) as bar:
        rows = islice(read_texts(source), options.rows)
        report = measure_worth(model, rows, ablate=options.attention, progress=bar.update)
    aside = report.pop("aside", [])
    for error in aside[:LISTED]:
        print(f"triattn: set aside: {error}", file=sys.stderr)
    if not options.attention:
        report = {name: report[name] for name in ("n", "metric", "score")}
    if options.json:
        print(json.dumps(report | ({"aside": len(aside)} if aside else {})))
    elif not options.attention:
        print(f"{report['n']:,} rows  accuracy {report['score']}")
    else:
        print("\n".join(describe_worth(report)))
    return 0
