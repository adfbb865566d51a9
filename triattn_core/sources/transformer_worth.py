"""What the attention of a Hugging Face classifier is worth over labelled rows: one report.

*Reliance* is the accuracy minus the accuracy with the weights of every head replaced, on the same rows: by even
weights, by the model's own in a drawn order, by the mean row.  It includes fragility: a model trained with such weights
may do better.  *Sink* is the mean weight of the key that gets most, *special* that of [CLS], [SEP] and their like.  A
head switched off adds nothing; one that is not needed alone may be needed where another is gone too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.analysis.intervention import head_ablation
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.analysis.mining.miner import TablePart
from triattn_core.analysis.significance import mcnemar
from triattn_core.errors import DataError, InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.sources.transformer import Transformer
from triattn_core.sources.transformer_heads import check_labels, label_of, measure_text
from triattn_core.sources.transformer_replace import Asked, replaced
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.sources.weight_change import WeightChange
from triattn_core.trace.site import Site

REPLACED = ("even", "shuffled", "mean row")
MEASURES = ("sink", "special", "entropy")
LISTED = 5  # heads that the text names


@dataclass
class Rows:
    """What was found so far: of each text a table of heads, and whether it is right as it is and replaced."""

    heads: list[pd.DataFrame] = field(default_factory=list)
    right: list[list[bool]] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)


def measure_worth(
    transformer: Transformer,
    rows: Iterable[tuple[int, Any]],
    ablate: bool = True,
    progress: Callable[[int], object] = lambda n: None,
) -> dict[str, Any]:
    """The report over rows (line, `TextRow` or the DataError that says why there is none).

    {"n", "metric", "score", "reliance": {name: {"points", "p", "score"}}, "heads": [{"site", "head" from 0, MEASURES,
    and with `ablate` "points", "change", "p"}], "aside": messages on rows set aside}.
    Raises InputError for a model that is no classifier, DataError where no row has a label.
    """
    check_labels(transformer)
    found = Rows()
    for line, row in rows:
        try:
            _measure_row(transformer, row, found, ablate, line)
        except DataError as error:
            found.aside.append(str(error) if error is row else f"line {line}: {error}")
        except InputError as error:
            found.aside.append(f"line {line}: {error}")
        progress(1)
    if not found.right:
        raise DataError(found.aside[0] if found.aside else "no row has a label: nothing to measure")
    return _report(found, ablate)


def measure_reliance(transformer: Transformer, rows: Iterable[tuple[int, Any]]) -> Iterator[TablePart]:
    """Yields a part for each labelled row: `row`, and whether it is right `as it is` and under each of REPLACED.
    Rows without a label are set aside."""
    check_labels(transformer)
    for line, row in rows:
        try:
            table = pd.DataFrame([dict(zip(("as it is", *REPLACED), _right(transformer, row)))])
            yield TablePart(table.assign(row=line), (), line)
        except (DataError, InputError) as error:
            message = str(error) if error is row else f"line {line}: {error}"
            yield TablePart(pd.DataFrame(), (message,), line)


def _right(transformer: Transformer, row: Any) -> list[bool]:
    """Whether the answer to a labelled row is right as it is, and under each of REPLACED."""
    if isinstance(row, DataError):
        raise row
    if row.label is None:
        raise DataError("no label: whether the answer is right is not known")
    label = label_of(transformer, row.label)
    answers, _ = replaced(Asked.put(transformer, *row.texts), [WeightChange(how) for how in REPLACED], [None] * 3)
    return [best == label for best in answers.logits.argmax(-1).tolist()]


def reliance(table: pd.DataFrame) -> tuple[float, dict[str, dict[str, float]]]:
    """Of rows of `measure_reliance`: the accuracy in per cent, and for each of REPLACED `points` less than that, `p` of
    McNemar's exact test and `score`."""
    own = table["as it is"].astype(bool).tolist()
    score, found = 100 * float(np.mean(own)), {}
    for name in REPLACED:
        right = table[name].astype(bool).tolist()
        (test,) = mcnemar([name, "own"], [right, own])
        changed = 100 * float(np.mean(right))
        found[name] = {"points": round(score - changed, 2), "p": test.p, "score": round(changed, 2)}
    return round(score, 2), found


def _measure_row(transformer: Transformer, row: Any, found: Rows, ablate: bool, line: int) -> None:
    right = _right(transformer, row)
    table = head_table(trace_transformer(transformer, *row.texts))
    if ablate:
        without = measure_text(transformer, row, list(zip(table["site"], table["head"])))
        table = table.merge(without, on=["site", "head"])
    found.heads.append(table.assign(row=line))
    found.right.append(right)


def _report(found: Rows, ablate: bool) -> dict[str, Any]:
    table = pd.concat(found.heads, ignore_index=True)
    score, relied = reliance(pd.DataFrame(found.right, columns=["as it is", *REPLACED]))
    report: dict[str, Any] = {"n": len(found.right), "metric": "accuracy", "score": score, "reliance": relied}
    heads = table.groupby(["site", "head"], sort=False, as_index=False)[list(MEASURES)].mean()
    if ablate:
        summary = head_ablation.summarize(table)[["site", "head", "points", "change", "lost", "won", "p"]]
        heads = summary.merge(heads, on=["site", "head"])
    report["heads"] = heads.to_dict("records")
    return report | ({"aside": found.aside} if found.aside else {})


def describe_worth(report: Mapping[str, Any]) -> Iterator[str]:
    """The report as lines of text; heads count from 1."""
    yield f"attention over {report['n']:,} rows, {report['metric']} {report['score']:.2f} %"
    for name, row in report["reliance"].items():
        with_it = f"{row['score']:.2f} % with such weights; McNemar p {row['p']:.3g}"
        yield f"reliance, {name}: {row['points']:+.2f} points ({with_it})"
    heads = pd.DataFrame(report["heads"])
    most = heads.loc[heads["sink"].idxmax()]
    sink = f"{heads['sink'].mean():.3f} of the weight on one key"
    yield f"sink: {sink}, mean of {len(heads)} heads; most in {_name(most)}, {most['sink']:.3f}"
    if heads["special"].notna().any():
        yield f"special tokens: {heads['special'].mean():.3f} of the weight, mean of {len(heads)} heads"
    if "points" in heads:
        for _, head in heads.head(LISTED).iterrows():
            numbers = f"{head['points']:+.2f} points, log-odds of the label {head['change']:+.3f}, p {head['p']:.3g}"
            yield f"without {_name(head)}: {numbers} (Holm)"


def _name(head: pd.Series) -> str:
    site = Site.of(str(head["site"]))
    role = "" if site.role == "attention" else f", {site.role}"
    return f"{site.layer_name}{role} head {head['head'] + 1}".strip(", ")


def misfit(transformer: Transformer, rows: Iterable[tuple[int, Any]]) -> str:
    """One line on why rows are of another task than a classifier's: labels that it does not know.  Empty where all
    labels are its own, or there are none."""
    labels = [row.label for _, row in rows if isinstance(row, TextRow) and row.label is not None]
    if not labels or transformer.head != "labels":
        return ""
    names = {str(name) for pair in transformer.model.config.id2label.items() for name in pair}
    unknown = [label for label in labels if str(label) not in names]
    if not unknown:
        return ""
    own = ", ".join(map(str, transformer.model.config.id2label.values()))
    return (
        f"{len(unknown)} of {len(labels)} rows have labels that {transformer.name} does not know, such as "
        f"{unknown[0]!r}: they are of another task; its labels are {own}"
    )
