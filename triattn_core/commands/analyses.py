"""`triattn context`, `triattn heads`, `triattn faithful`: analyses of checkpoints over a file of rows."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.commands import engine
from triattn_core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.measures import Measure
    from triattn_core.analysis.mining.sources import Source
    from triattn_core.checkpoint.bundle import Bundle


def context_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn context`."""
    parser.add_argument("name", help="a Tri-Attention checkpoint, by name or folder")
    _data_arguments(parser)


def heads_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn heads`."""
    parser.add_argument("name", help="a checkpoint, by name or folder")
    parser.add_argument("--words", metavar="WORDS", help='their weight by head, such as "not, never, no"')
    parser.add_argument("--switch-off", action="store_true", help="each head in turn: what becomes of the answers")
    _data_arguments(parser)


def faithful_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn faithful`."""
    parser.add_argument("name", nargs="+", help="checkpoints, such as Bi, C-Bi and Tri, over the same rows")
    _data_arguments(parser)
    parser.add_argument("--methods", nargs="+", default=[], help="attributions; by default all")
    parser.add_argument("--draws", type=int, default=5, help="random rankings of each row, the control")
    parser.add_argument("--steps", type=int, default=16, help="of integrated gradients")
    parser.add_argument("--seed", type=int, default=0)


def _data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, help="JSON Lines, plain or .gz; rows that cannot be read are set aside")
    parser.add_argument("--rows", type=int, help="how many rows to take; by default all")
    parser.add_argument("--out", type=Path, required=True, help="where the table is stored (Parquet)")
    engine.arguments(parser)


def context(options: argparse.Namespace) -> int:
    """Store a row for each example, layer, direction and head; after Ctrl-C, the rows so far."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.maps import context_shares
    from triattn_core.checkpoint.bundle import load

    bundle = load(options.name, options.device)
    table, errors, stopped = _run(options, [bundle], measures.context)
    quartiles = context_shares.quartiles(table)
    summary = {
        layer: {name: quartiles.loc[layer, name].to_dict() for name in context_shares.MEASURES}
        for layer in quartiles.index
    }
    lines = [f"{'':22}{'25 %':>9}{'median':>9}{'75 %':>9}"]
    for layer, by_measure in summary.items():
        for name, values in by_measure.items():
            numbers = "".join(f"{value:9.3f}" for value in values.values())
            lines.append(f"{layer} {name:14}{numbers}" + (" bits" if name == "information" else ""))
    return _report(options, table, errors, stopped, {"layers": summary}, lines)


def heads(options: argparse.Namespace) -> int:
    """Store a row for each example, site and head; after Ctrl-C, the rows so far."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.intervention import head_ablation
    from triattn_core.analysis.maps import head_atlas, head_profiles, word_weights
    from triattn_core.checkpoint.bundle import load

    words = word_weights.split_words(options.words) if options.words else ()
    if words and engine.is_ray(options):
        raise DataError("--words needs the maps of all rows in one process: leave out --engine ray")
    bundle = load(options.name, options.device)
    measure = partial(measures.heads, profiles=bool(words), switch_off=options.switch_off)
    table, errors, stopped = _run(options, [bundle], measure, head_profiles.drop_profiles)
    means = head_atlas.summarize(table)
    names = [name for name in head_atlas.NUMBERS if name in means]
    fields, lines = {"heads": means.to_dict("records")}, _head_lines("mean over rows", means, names)
    if options.switch_off:
        without = head_ablation.summarize(table)
        fields["switched_off"] = without.to_dict("records")
        lines += _head_lines("switched off", without, ["points", "change", "lost", "won", "p"])
    if words:
        weights = word_weights.weigh_words(table, words)
        fields["words"] = weights.to_dict("records")
        for way, rows in weights[weights["feature"] < 0].groupby("way", sort=False):
            lines += _head_lines(f"{', '.join(words)}: {way.replace('_', ' ')}", rows, ["mean", "low", "high", "p"])
    return _report(options, table, errors, stopped, fields, lines)


def _head_lines(title: str, rows: pd.DataFrame, names: list[str]) -> list[str]:
    """A table with a line a head; heads count from 1."""
    wide = max(len(title), *map(len, rows["site"])) + 2
    lines = [f"{title:{wide}}head" + "".join(f"{name.replace('_', ' '):>21}" for name in names)]
    for head in rows.itertuples():
        values = (getattr(head, name) for name in names)
        numbers = (f"{value:21.4f}" if isinstance(value, float) else f"{value:21,}" for value in values)
        lines.append(f"{head.site:{wide}}{head.head + 1:4}{''.join(numbers)}")
    return lines


def faithful(options: argparse.Namespace) -> int:
    """Store a row for each checkpoint, example and method; after Ctrl-C, the rows so far."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.attribution import faithfulness
    from triattn_core.analysis.intervention.batched_variants import run_query
    from triattn_core.checkpoint.bundle import load
    from triattn_core.inference.predict import require_shared_encoder

    if options.draws < 1:
        raise DataError("--draws: the control needs one random ranking at least")
    bundles = [load(name, options.device) for name in options.name]
    require_shared_encoder(bundles)
    run_query(bundles[0], bundles[0].task.examples(bundles[0].config.language)[0])  # raises early if unsupported
    settings = {"methods": options.methods, "draws": options.draws, "seed": options.seed, "steps": options.steps}

    table, errors, stopped = _run(options, bundles, partial(measures.faithful, settings=settings))
    summary = faithfulness.summarize(table)
    names = [f"{row.checkpoint} {row.method}, {row.measure}" for row in summary.itertuples()]
    width = max(map(len, names), default=0) + 2
    lines = [f"{'':{width}}{'mean':>9}   95 % band        over random"]
    for who, row in zip(names, summary.itertuples()):
        band = f"{row.mean:9.4f}   {row.low:.4f} … {row.high:.4f}"
        lines.append(f"{who:{width}}{band}   {row.gain:+.4f} ({row.gain_low:+.4f} … {row.gain_high:+.4f})")
    return _report(options, table, errors, stopped, {"summary": summary.to_dict("records")}, lines)


def _run(
    options: argparse.Namespace,
    bundles: list[Bundle],
    measure: Measure,
    columns: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
) -> tuple[pd.DataFrame, list[str], bool]:
    """Compute and store the table with its provenance; returns it, the errors, and whether it was stopped.

    columns: takes what is not stored out of the table.
    """
    from triattn_core.analysis.mining import sources
    from triattn_core.text.atomic_write import replacing, require_room

    on_ray = engine.is_ray(options)
    require_room(options.out, "store the table")
    source = sources.file_source(options.data)
    if options.out.resolve() == options.data.resolve():
        raise DataError(f"{options.out}: that is the data; name another file with --out")
    if on_ray:
        job = engine.run(options, measure, bundles, source, options.rows)
        table, errors, stopped = job.frame(), job.errors(), False
    else:
        table, errors, stopped = _here(options, bundles, measure, source)
    provenance = {"command": options.command, "data": source.name, "sha256": source.sha256, "whole": not stopped}
    table.attrs = {"triattn": provenance | {"checkpoints": {bundle.name: bundle.digest for bundle in bundles}}}
    with replacing(options.out) as part:
        columns(table).to_parquet(part)
    if on_ray:
        job.clear()
    return table, errors, stopped


def _here(
    options: argparse.Namespace, bundles: list[Bundle], measure: Measure, source: Source
) -> tuple[pd.DataFrame, list[str], bool]:
    """The table in this process, up to Ctrl-C."""
    import pandas as pd
    from tqdm import tqdm

    from triattn_core.analysis.mining import sources

    names, tables, errors, stopped = [bundle.name for bundle in bundles], [], [], False
    rows = islice(sources.read_examples(bundles[0].task.NAME, source), options.rows)
    with tqdm(total=options.rows or source.lines, unit="row", desc=" ".join(names), disable=None) as bar:
        try:
            for part in measure(bundles)(rows):
                tables.append(part.table)
                errors += part.aside
                bar.update()
        except KeyboardInterrupt:
            stopped = True
    if not any(map(len, tables)):
        raise DataError(errors[0] if errors else f"{source.name}: no row in it")
    return pd.concat(tables, ignore_index=True), errors, stopped


def _report(
    options: argparse.Namespace, table: pd.DataFrame, errors: list[str], stopped: bool, fields: dict, lines: list[str]
) -> int:
    rows = table["row"].nunique()
    if options.json:
        print(json.dumps({"rows": rows, "aside": len(errors), "out": str(options.out), **fields}))
    else:
        print(f"{options.data}: {rows:,} rows, {len(errors):,} set aside", *errors[:20], *lines, sep="\n")
    if stopped:
        print(f"triattn: stopped; {options.out} holds the {rows:,} rows that were done", file=sys.stderr)
    return 130 if stopped else 0
