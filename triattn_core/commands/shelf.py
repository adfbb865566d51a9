"""What stands in the records: `triattn list`, `triattn seeds` and `triattn results`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import mean, stdev


def folders(parser: argparse.ArgumentParser) -> None:
    """What a command takes that shows the shelf."""
    said = "folders with checkpoints of your own, or such folders themselves; `encoders` in them is found too"
    parser.add_argument("--checkpoints", nargs="+", type=Path, default=[], metavar="DIR", help=said)


def added(options: argparse.Namespace) -> None:
    """Puts these folders beside the shelf.  Raises CheckpointError where one holds no checkpoint."""
    from triattn_core.shelf import add

    add(options.checkpoints)


def list_(options: argparse.Namespace) -> None:
    """The shelf, a line a checkpoint."""
    from triattn_core import records
    from triattn_core.shelf import shelf

    added(options)
    rows = [
        {
            "name": card.name,
            "task": card.config.get("task"),
            "mechanism": records.model(card, "mechanism"),
            "similarity": records.model(card, "similarity"),
            "data": records.data_folder(card),
            "dev": records.score(card, "dev"),
            "test": records.score(card),
            "digest": card.digest[:12],
            "problem": card.problem,
        }
        for card in shelf()
    ]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    if not rows:
        print("no checkpoint is on the shelf")
        return
    columns = [key for key in rows[0] if key != "problem"]
    lines = [columns, *([_shown(row[key]) for key in columns] for row in rows if not row["problem"])]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines[: 1 + len(rows)]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    for row in rows:
        if row["problem"]:
            print(f"{row['name']}: {row['problem']}")


def _shown(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value or "-")


def seeds(options: argparse.Namespace) -> None:
    """Mean and spread over seeds on test, from the records, and Welch's test between what may be compared."""
    from triattn_core.analysis.significance import over_seeds
    from triattn_core.records import seed_scores
    from triattn_core.shelf import shelf

    groups = seed_scores(shelf())
    rows = []
    for (data, similarity), scores in groups.items():
        tests = over_seeds(scores)
        rows.append({"data": data, "similarity": similarity, "test": scores, "differences": [vars(t) for t in tests]})
        if not options.json:
            print(f"{data}, {similarity}")
            for name, values in scores.items():
                print(f"  {name}  {mean(values):.2f} ± {stdev(values):.2f} over {len(values)} seeds")
            for one in tests:
                print(f"  {one.b} less {one.a}: {one.gain:+.2f}; Welch p {one.p:.3g}, after Holm {one.adjusted:.3g}")
    if options.json:
        print(json.dumps(rows))
    elif not rows:
        print("no checkpoint was trained with several seeds: name more_seeds in its config.json")


def results(options: argparse.Namespace) -> None:
    """Prints Markdown; with --json every cell of every table.

    Of a paper that orders mechanisms of ours a line a similarity, of another its tables.
    """
    from triattn_core.results import beside, notes, order, ours, published

    papers, (found, problems) = published.papers(), ours.everything()
    for said in (*(one for paper in papers for one in paper.problems), *problems):
        print(said, file=sys.stderr)
    if options.json:
        cells = [(one.paper.name, table, beside.filled(table, found)) for one in papers for table in one.tables]
        print(json.dumps([row for one in cells for row in beside.rows(*one)], ensure_ascii=False, indent=1))
        return
    for one in papers:
        rows = order.compared(one.tables, found)
        filled = [] if rows else [(table, beside.filled(table, found)) for table in one.tables]
        told = [beside.markdown(*both) + notes.rows(both[1]) for both in filled] or [order.markdown(rows)]
        print("\n\n".join([one.paper.name, *told]), end="\n\n")
