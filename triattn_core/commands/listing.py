"""Checkpoints and their records: `triattn list`, `triattn seeds` and `triattn results`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triattn_core.results.run_records import Record


def folders(parser: argparse.ArgumentParser) -> None:
    """Add the argument of commands that list checkpoints."""
    text = "your own checkpoints, or folders that contain them; their encoders are looked up in `encoders` there"
    parser.add_argument("--checkpoints", nargs="+", type=Path, default=[], metavar="FOLDER", help=text)


def modules(parser: argparse.ArgumentParser) -> None:
    """Add the argument of commands that take modules of one's own by name."""
    text = "a module of your own: a Python file and its function, which are run; the model has the file's name"
    parser.add_argument("--model", nargs="+", default=[], metavar="FILE.py:FUNCTION", help=text)


def add_folders(options: argparse.Namespace) -> None:
    """Add the given folders to the roots.  Raises CheckpointError if one has no checkpoint."""
    from triattn_core.checkpoint.registry import add_roots

    add_roots(options.checkpoints)


def add_modules(options: argparse.Namespace) -> None:
    """Run the given files, and offer their modules to this process and its children.  Raises ConfigError in one line:
    no such file or function, whatever a file raises."""
    if not options.model:
        return
    from triattn_core.checkpoint import own_modules
    from triattn_core.recording.own_module import OwnModule
    from triattn_core.sources.own_text import probe

    builds = []
    for text in options.model:
        file, mark, function = text.rpartition(":")
        builds.append(f"{Path(file).expanduser().resolve()}:{function}" if mark else text)
    own_modules.offer(builds, [probe(OwnModule.of(build)) for build in builds])


def list_(options: argparse.Namespace) -> None:
    """List the checkpoints, one per line."""
    from triattn_core.checkpoint import metadata
    from triattn_core.checkpoint.registry import list_checkpoints

    add_folders(options)
    rows = [
        {
            "name": entry.name,
            "task": entry.config.get("task"),
            "mechanism": metadata.model_setting(entry, "mechanism"),
            "similarity": metadata.model_setting(entry, "similarity"),
            "data": metadata.data_folder(entry),
            "dev": metadata.main_score(entry, "dev"),
            "test": metadata.main_score(entry),
            "digest": entry.digest[:12],
            "problem": entry.problem,
        }
        for entry in list_checkpoints()
    ]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    if not rows:
        print("there is no checkpoint")
        return
    columns = [key for key in rows[0] if key != "problem"]
    lines = [columns, *([_format(row[key]) for key in columns] for row in rows if not row["problem"])]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines[: 1 + len(rows)]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    for row in rows:
        if row["problem"]:
            print(f"{row['name']}: {row['problem']}")


def _format(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value or "-")


def seeds(options: argparse.Namespace) -> None:
    """Mean and spread over seeds or folds, from the records, and tests between comparable models.

    Of models with controls also what attention and its third order are worth on dev.
    """
    from triattn_core.analysis.significance import paired_over_folds, welch_over_seeds
    from triattn_core.checkpoint.metadata import seed_scores, seed_scores_of
    from triattn_core.checkpoint.registry import list_checkpoints
    from triattn_core.results import folds, run_records, worth

    records = run_records.all_records()[0]

    entries = list_checkpoints()
    read = [entry for entry in entries if entry.problem is None and entry.metrics]
    tans = {entry.name: entry for entry in read if entry.kind.compares_forms}
    controlled = {entry.name: entry for entry in read if entry.kind.has_controls}

    def scores_of(entry):
        """Its own seeds, plus those of recorded sweeps."""
        return worth.seed_scores(entry, "test", records) if entry.name in tans else seed_scores_of(entry)

    groups = seed_scores(entries, scores_of)
    for group, trained in _not_shipped(records, {entry.name for entry in entries if entry.metrics}).items():
        groups.setdefault(group, {}).update(trained)
    rows = [_compared(data, similarity, "seeds", runs, welch_over_seeds) for (data, similarity), runs in groups.items()]
    for row in rows:
        row["dev"] = {name: worth.seed_scores(tans[name], "dev", records) for name in row["test"] if name in tans}
        row["worth"] = {name: worth.worth_of(controlled[name], records) for name in row["test"] if name in controlled}
    for data, runs in folds.fold_scores(records):
        rows.append(_compared(data, "", "folds", runs, paired_over_folds))
    if options.json:
        print(json.dumps(rows))
    elif not rows:
        print("no checkpoint was trained with several seeds: name more_seeds in its config.json")
    for row in [] if options.json else rows:
        _print_seeds(row)


def _not_shipped(records: Sequence[Record], listed: set[str]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """As `metadata.seed_scores`, of models that were trained here and are on record alone."""
    from triattn_core.checkpoint.metadata import main_metric, seed_scores
    from triattn_core.results.run_records import TRAINED

    trained = {one.entry.name: one for one in records if one.file == TRAINED and not one.folds}
    entries = [one.entry for name, one in trained.items() if name not in listed]
    return seed_scores(entries, lambda entry: list(trained[entry.name].values("test", main_metric(entry))))


def _print_seeds(row: dict) -> None:
    """One data set and similarity of `seeds`."""
    test = "Welch" if row["over"] == "seeds" else "paired t, corrected for folds,"
    print(", ".join(filter(None, (row["data"], row["similarity"]))))
    for name, values in row["test"].items():
        dev = row.get("dev", {}).get(name, ())
        on_dev = f"; dev {mean(dev):.2f} ± {stdev(dev):.2f}" if len(dev) > 1 else ""
        print(f"  {name}  {mean(values):.2f} ± {stdev(values):.2f} over {len(values)} {row['over']}{on_dev}")
    for difference in row["differences"]:
        gain = f"{difference['b']} less {difference['a']}: {difference['gain']:+.2f}"
        print(f"  {gain}; {test} p {difference['p']:.3g}, after Holm {difference['adjusted']:.3g}")
    for name, gains in row.get("worth", {}).items():
        for control, gain in gains.items():
            print(f"  {_worth_line(name, control, gain)}")


def _worth_line(name: str, control: str, gain: dict) -> str:
    """What attention, or its third order, is worth beside a control that was trained."""
    what = "third order" if control == "strassen" else "attention"
    form = ", in its form with the scaled dot" if gain.get("of") else ""
    spread = "" if gain["spread"] is None else f" ± {gain['spread']:.1f}"
    seeds_text = f"{gain['seeds']} seed{'s' * (gain['seeds'] != 1)}"
    return f"{name}: {what} worth {gain['points']:+.1f}{spread} points on dev over {control} ({seeds_text}{form})"


def _compared(data: str, similarity: str, over: str, runs: dict, test: Callable[[dict], list]) -> dict:
    """Models that differ in the mechanism, and the test of each pair."""
    differences = [vars(difference) for difference in test(runs)]
    return {"data": data, "similarity": similarity, "over": over, "test": runs, "differences": differences}


def results(options: argparse.Namespace) -> None:
    """Print tables as Markdown; with --json, every cell of every table.

    For papers that compare mechanisms of ours, one line per similarity; for others, their tables.
    """
    from triattn_core.results import mechanism_order, notes, paper_comparison, paper_results, run_records

    papers, (records, problems) = paper_results.load_papers(), run_records.all_records()
    for problem in (*(problem for paper in papers for problem in paper.problems), *problems):
        print(problem, file=sys.stderr)
    if options.json:
        rows = [
            row
            for paper in papers
            for table in paper.tables
            for row in paper_comparison.export_rows(
                paper.paper.name, table, paper_comparison.fill_table(table, records)
            )
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for paper in papers:
        rankings = mechanism_order.rank_mechanisms(paper.tables, records)
        filled = [] if rankings else [(table, paper_comparison.fill_table(table, records)) for table in paper.tables]
        tables = [paper_comparison.markdown(*pair) + notes.training_rows_note(pair[1]) for pair in filled] or [
            mechanism_order.markdown(rankings)
        ]
        print("\n\n".join([paper.paper.name, *tables]), end="\n\n")
