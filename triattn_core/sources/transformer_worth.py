"""What the attention of a model of others is worth over rows: one report, of a model of Hugging Face or one's own.

What counts as right is said in `sources.row_answers`.  *Reliance* is the score minus the score with the weights of
every head replaced, on the same rows: by even weights, by the model's own in a drawn order, by the mean row.  It
includes fragility: a model trained with such weights may do better.  *Sink* is the mean weight of the key that gets
most, *special* that of [CLS], [SEP] and their like.  A head switched off adds nothing; one that is not needed alone may
be needed where another is gone too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
import torch

from triattn_core.analysis.intervention import head_ablation
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.analysis.measures import measure_rows
from triattn_core.analysis.mining.failing_rows import measure_each
from triattn_core.analysis.significance import paired_p
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.own_text import names_of_labels
from triattn_core.sources.row_answers import ANSWERS, LABELS, AskedSpans, ask_row, metric_of, trace_row
from triattn_core.sources.transformer import Transformer
from triattn_core.sources.weight_change import WeightChange
from triattn_core.sources.written_bleu import BLEU, can_measure, corpus_score, count_written, is_translator
from triattn_core.trace.site import Site

AS_IT_IS, F1, COUNTS = "as it is", "f1", "counts"
REPLACED = ("even", "shuffled", "mean row")
MEASURES = ("sink", "special", "entropy")
LISTED = 5  # heads that the text names


Model = Transformer | OwnModule


def measure_worth(
    model: Model,
    rows: Iterable[tuple[int, Any]],
    ablate: bool = True,
    progress: Callable[[int], object] = lambda n: None,
) -> dict[str, Any]:
    """The report over rows (line, `TextRow` or the DataError that says why there is none).

    {"n", "metric", "score", "test", "reliance": {name: {"points", "p", "score"}}, "heads": [{"site", "head" from 0,
    MEASURES, and with `ablate` "points", "change", "p"}], "aside": messages on rows set aside}.
    Raises InputError for a model that predicts nothing that is right or wrong, DataError where no row can be asked.
    """
    metric = metric_of(model)
    table, aside = _over(lambda row: _measure(model, row, ablate), rows, progress)
    return _report(table, aside, ablate, metric)


def measure_score(
    model: Model, rows: Iterable[tuple[int, Any]], progress: Callable[[int], object] = lambda n: None
) -> dict[str, Any]:
    """How much of the rows is right, without any change: {"n", "metric", "score", "rows": {line: 0 to 1}, "aside"}, of
    a model that finds answers also "f1", of one that translates "bleu", in per cent, and what that is made of, "counts"
    by line, where sacrebleu is installed.  Raises as `measure_worth`."""
    metric, written = metric_of(model), is_translator(model) and can_measure()
    table, aside = _over(lambda row: pd.DataFrame([_scores(model, row, written)]), rows, progress)
    found = {int(row): float(value) for row, value in zip(table["row"], table[AS_IT_IS])}
    report = {"n": len(found), "metric": metric, "score": _per_cent(table[AS_IT_IS]), "rows": found}
    report |= {F1: _per_cent(table[F1])} if F1 in table else {}
    if written:
        report |= {BLEU: corpus_score(list(table[COUNTS])), COUNTS: dict(zip(found, table[COUNTS]))}
    return report | ({"aside": aside} if aside else {})


@torch.inference_mode()
def _scores(model: Model, row: TextRow, written: bool) -> dict[str, Any]:
    asked = ask_row(model, row)
    outputs = asked.asked.run()
    found: dict[str, Any] = {AS_IT_IS: float(asked.score(outputs)[0, 0])}
    if written:
        found[COUNTS] = count_written(cast(Transformer, model), row)
    return found | ({F1: asked.overlap(outputs)} if isinstance(asked, AskedSpans) else {})


def _per_cent(shares: pd.Series) -> float:
    return round(100 * float(shares.mean()), 2)


def _over(
    measure: Callable[[TextRow], pd.DataFrame], rows: Iterable[tuple[int, Any]], progress: Callable[[int], object]
) -> tuple[pd.DataFrame, list[str]]:
    parts = []
    for part in measure_rows(lambda some: measure_each(some, measure), rows):
        parts.append(part)
        progress(1)
    aside, tables = [text for part in parts for text in part.aside], [part.table for part in parts if len(part.table)]
    if not tables:
        raise DataError(aside[0] if aside else "no row has a label: nothing to measure")
    return pd.concat(tables, ignore_index=True), aside


def measure_reliance(model: Model, rows: Sequence[tuple[int, Any]]) -> pd.DataFrame:
    """Of each row `row`, and how much of it is right `as it is` and under each of REPLACED, 0 to 1.  Raises DataError
    for a row that cannot be asked."""
    return measure_each(rows, lambda row: pd.DataFrame([_right(model, row)]))


def measure_without(model: Model, rows: Sequence[tuple[int, Any]], heads: Sequence[head_ablation.Head]) -> pd.DataFrame:
    """Of each row and head `row`, `site`, `head`, `right` without it and `own`, how much is right as it is; `change`:
    of the log-odds of the label, or the mean log-probability of the words.  Raises as `ask_row`."""
    return measure_each(rows, lambda row: without_heads(model, row, heads).assign(id=""))


def without_heads(model: Model, row: TextRow, heads: Sequence[head_ablation.Head]) -> pd.DataFrame:
    """`measure_without` of one row, without `row`."""
    own, *others = ask_row(model, row).without(heads).tolist()
    sites, numbers = zip(*heads)
    right, change = [right for right, _ in others], [odds - own[1] for _, odds in others]
    return pd.DataFrame({"site": sites, "head": numbers, "right": right, "own": own[0], "change": change})


def _right(model: Model, row: TextRow) -> dict[str, float]:
    """How much of a row is right `as it is`, and under each of REPLACED."""
    found = ask_row(model, row).under([WeightChange(how) for how in REPLACED])
    return dict(zip((AS_IT_IS, *REPLACED), found[:, 0].tolist()))


def reliance(table: pd.DataFrame) -> tuple[float, dict[str, dict[str, float]], str]:
    """Of rows of `measure_reliance`: the score in per cent, and for each of REPLACED `points` less than that, `p` of
    `paired_p` and `score`; and the name of the test."""
    own = table[AS_IT_IS].astype(float).to_numpy()
    score, found, test = 100 * float(np.mean(own)), {}, ""
    for name in REPLACED:
        right = table[name].astype(float).to_numpy()
        p, test = paired_p(own, right)
        changed = 100 * float(np.mean(right))
        found[name] = {"points": round(score - changed, 2), "p": p, "score": round(changed, 2)}
    return round(score, 2), found, test


def _measure(model: Model, row: TextRow, ablate: bool) -> pd.DataFrame:
    """The heads of a row, with what `_right` says of the row."""
    right = _right(model, row)
    table = head_table(trace_row(model, row))
    if ablate:
        without = without_heads(model, row, list(zip(table["site"], table["head"])))
        table = table.merge(without, on=["site", "head"])
    return table.assign(**right)


def _report(table: pd.DataFrame, aside: list[str], ablate: bool, metric: str) -> dict[str, Any]:
    answers = table.drop_duplicates("row")
    score, relied, test = reliance(answers)
    report: dict[str, Any] = {"n": len(answers), "metric": metric, "score": score, "test": test, "reliance": relied}
    heads = table.groupby(["site", "head"], sort=False, as_index=False)[list(MEASURES)].mean()
    if ablate:
        summary = head_ablation.summarize(table)[["site", "head", "points", "change", "lost", "won", "p"]]
        heads = summary.merge(heads, on=["site", "head"])
    report["heads"] = heads.to_dict("records")
    return report | ({"aside": aside} if aside else {})


def describe_worth(report: Mapping[str, Any]) -> Iterator[str]:
    """The report as lines of text; heads count from 1."""
    yield f"attention over {report['n']:,} rows, {report['metric']} {report['score']:.2f} %"
    yield f"p: {report['test']}"
    for name, row in report["reliance"].items():
        with_it = f"{row['score']:.2f} % with such weights; p {row['p']:.3g}"
        yield f"reliance, {name}: {row['points']:+.2f} points ({with_it})"
    heads = pd.DataFrame(report["heads"])
    most = heads.loc[heads["sink"].idxmax()]
    sink = f"{heads['sink'].mean():.3f} of the weight on one key"
    yield f"sink: {sink}, mean of {len(heads)} heads; most in {_name(most)}, {most['sink']:.3f}"
    if heads["special"].notna().any():
        yield f"special tokens: {heads['special'].mean():.3f} of the weight, mean of {len(heads)} heads"
    whole = {LABELS: "log-odds of the label", ANSWERS: "log-odds of the answer"}
    what = whole.get(report["metric"], "log-probability of a word")
    if "points" in heads:
        for _, head in heads.head(LISTED).iterrows():
            numbers = f"{head['points']:+.2f} points, {what} {head['change']:+.3f}, p {head['p']:.3g}"
            yield f"without {_name(head)}: {numbers} (Holm)"


def _name(head: pd.Series) -> str:
    site = Site.of(str(head["site"]))
    role = "" if site.role == "attention" else f", {site.role}"
    return f"{site.layer_name}{role} head {head['head'] + 1}".strip(", ")


def misfit(model: Model, rows: Iterable[tuple[int, Any]]) -> str:
    """One line on why rows are of another task than a classifier's: labels that it does not know.  Empty where all
    labels are its own, or there are none."""
    labels = [row.label for _, row in rows if isinstance(row, TextRow) and row.label is not None]
    own = names_of_labels(model)
    if not labels or not own:
        return ""
    names = {str(name) for pair in own.items() for name in pair}
    unknown = [label for label in labels if str(label) not in names]
    if not unknown:
        return ""
    return (
        f"{len(unknown)} of {len(labels)} rows have labels that {model.name} does not know, such as "
        f"{unknown[0]!r}: they are of another task; its labels are {', '.join(map(str, own.values()))}"
    )
