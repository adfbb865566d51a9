"""`triattn context`, `triattn faithful`: analyses of checkpoints over a file of rows."""

from __future__ import annotations

import argparse
from functools import partial

from triattn_core.analysis.catalogue import METHODS
from triattn_core.commands import engine, row_table
from triattn_core.errors import DataError


def context_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn context`."""
    parser.add_argument("name", metavar="NAME", help="a Tri-Attention checkpoint, by name or folder")
    row_table.data_arguments(parser)


def faithful_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn faithful`."""
    text = "one or more checkpoints, by name or folder, measured on the same rows"
    parser.add_argument("name", nargs="+", metavar="NAME", help=text)
    row_table.data_arguments(parser)
    text = f"attribution methods: {', '.join(METHODS)} (default: all)"
    parser.add_argument("--methods", nargs="+", default=[], metavar="METHOD", help=text)
    text = "number of random rankings per row, the baseline (default: 5)"
    parser.add_argument("--draws", type=int, default=5, metavar="N", help=text)
    text = "number of steps of integrated gradients (default: 16)"
    parser.add_argument("--steps", type=int, default=16, metavar="N", help=text)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random rankings (default: 0)")


def context(options: argparse.Namespace) -> int:
    """Store a row for each example, layer, direction and head; after Ctrl-C, the rows so far."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.maps import context_shares
    from triattn_core.checkpoint.bundle import load

    bundle = load(options.name, engine.loading_device(options))
    table, errors, was_stopped = row_table.run(options, [bundle], measures.context)
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
    return row_table.report(options, table, errors, was_stopped, {"layers": summary}, lines)


def faithful(options: argparse.Namespace) -> int:
    """Store a row for each checkpoint, example and method; after Ctrl-C, the rows so far."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.attribution import faithfulness
    from triattn_core.analysis.intervention.batched_variants import run_query
    from triattn_core.checkpoint.bundle import load
    from triattn_core.inference.predict import require_shared_encoder

    if options.draws < 1:
        raise DataError("--draws: the control needs one random ranking at least")
    bundles = [load(name, engine.loading_device(options)) for name in options.name]
    require_shared_encoder(bundles)
    run_query(bundles[0], bundles[0].task.examples(bundles[0].config.language)[0])  # raises early if unsupported
    settings = {"methods": options.methods, "draws": options.draws, "seed": options.seed, "steps": options.steps}

    table, errors, was_stopped = row_table.run(options, bundles, partial(measures.faithful, settings=settings))
    summary = faithfulness.summarize(table)
    names = [f"{row.checkpoint} {row.method}, {row.measure}" for row in summary.itertuples()]
    width = max(map(len, names), default=0) + 2
    lines = [f"{'':{width}}{'mean':>9}   95 % band        over random"]
    for row_name, row in zip(names, summary.itertuples()):
        band = f"{row.mean:9.4f}   {row.low:.4f} … {row.high:.4f}"
        lines.append(f"{row_name:{width}}{band}   {row.gain:+.4f} ({row.gain_low:+.4f} … {row.gain_high:+.4f})")
    return row_table.report(options, table, errors, was_stopped, {"summary": summary.to_dict("records")}, lines)
