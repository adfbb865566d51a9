"""`triattn heads`: every head of a model over a file of rows."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from triattn_core.commands import engine, evaluate_transformer, row_table
from triattn_core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

UNITS = dict.fromkeys(("entropy", "query_information", "context_information"), " (bits)") | {"distance": " (tokens)"}
WORD_MEANS = {  # what the mean, and low and high of its band, are of, by `head_profiles.WAYS`
    "to_key": "mean weight as key",
    "to_context": "mean weight as context",
    "from_query": "mean KL of query (bits)",
    "by_feature": "mean weight as key",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn heads`."""
    text = "a checkpoint, by name or folder; or a folder of Hugging Face, or FILE.py:FUNCTION of a module of your own"
    parser.add_argument("name", metavar="NAME", help=text)
    text = 'also measure the attention weight on these words, such as "not, never, no"'
    parser.add_argument("--words", metavar="WORDS", help=text)
    text = "also ablate each head in turn and measure how the predictions change"
    parser.add_argument("--ablate", action="store_true", help=text)
    row_table.data_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Store a row for each example, site and head; after Ctrl-C, the rows so far."""
    from triattn_core.analysis import measures
    from triattn_core.analysis.intervention import head_ablation
    from triattn_core.analysis.maps import head_atlas, head_profiles, word_weights
    from triattn_core.analysis.maps.stored_profiles import decode_profiles
    from triattn_core.checkpoint.bundle import load

    words = word_weights.split_words(options.words) if options.words else ()
    if evaluate_transformer.is_other(options.name):
        table, errors, was_stopped = _of_transformer(options, bool(words))
    else:
        as_text = bool(words) and engine.is_ray(options)
        settings = {"words": words} if as_text else {"profiles": bool(words)}
        measure = partial(measures.heads, ablate=options.ablate, **settings)
        bundles = [load(options.name, engine.loading_device(options))]
        table, errors, was_stopped = row_table.run(options, bundles, measure, columns=head_profiles.drop_profiles)
        table = decode_profiles(table) if as_text else table
    means = head_atlas.summarize(table)
    names = [name for name in head_atlas.NUMBERS if name in means]
    fields, lines = {"heads": means.to_dict("records")}, _head_lines("mean over rows", means, names)
    if options.ablate:
        without = head_ablation.summarize(table)
        fields["ablated"] = without.to_dict("records")
        lines += _head_lines("ablated", without, ["own", "accuracy", "points", "change", "lost", "won", "p"])
    if words:
        weights = word_weights.weigh_words(table, words)
        fields["words"] = weights.to_dict("records")
        for axis, rows in weights[weights["feature"] < 0].groupby("way", sort=False):
            word_rows = rows.rename(columns={"mean": WORD_MEANS[str(axis)]})
            title = f"{', '.join(words)}: {str(axis).replace('_', ' ')}"
            lines += _head_lines(title, word_rows, [WORD_MEANS[str(axis)], "low", "high", "p"])
    return row_table.report(options, table, errors, was_stopped, fields, lines)


def _of_transformer(options: argparse.Namespace, words: bool) -> tuple[pd.DataFrame, list[str], bool]:
    """The table of a model of others, over rows of a text or a pair.  Raises DataError for what asks ours alone."""
    from triattn_core.analysis.maps import head_atlas, head_profiles
    from triattn_core.importers.text_rows import read_texts
    from triattn_core.sources.row_answers import WORDS, metric_of, trace_row
    from triattn_core.sources.transformer_worth import without_heads

    if engine.is_ray(options):
        raise DataError(f"--engine ray is for checkpoints of this project, {options.name} is a model of others")
    model = evaluate_transformer.load_other(options.name, options.device)
    metric = metric_of(model) if options.ablate else ""

    def measure(models):
        def without(row, heads):
            unanswerable = metric != WORDS and row.label is None and not row.answers
            return None if unanswerable else without_heads(models[0], row, heads)

        return lambda rows: head_atlas.measure_texts(
            partial(trace_row, models[0]), rows, words, without if options.ablate else None
        )

    with evaluate_transformer.saying_label_order(model) as noting:
        read = (lambda source: noting(read_texts(source))) if options.ablate else read_texts
        return row_table.run(options, [model], measure, read, head_profiles.drop_profiles)


def _head_lines(title: str, rows: pd.DataFrame, names: list[str]) -> list[str]:
    """A table with a line a head; heads count from 1, a column says its unit."""
    title_width = max(len(title), *map(len, rows["site"])) + 9
    titles = [f"{name.replace('_', ' ')}{UNITS.get(name, '')}" for name in names]
    widths = [max(21, len(column) + 2) for column in titles]
    lines = [f"{title:{title_width}}head, from 1" + "".join(f"{name:>{width}}" for name, width in zip(titles, widths))]
    for head in rows.to_dict("records"):
        values = [head[name] for name in names]
        cells = [f"{value:.4f}" if isinstance(value, float) else f"{value:,}" for value in values]
        numbers = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths))
        lines.append(f"{head['site']:{title_width}}{head['head'] + 1:12}{numbers}")
    return lines
