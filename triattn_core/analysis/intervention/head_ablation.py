"""One head ablated: how the answers over a file of rows change.

The head's output is set to zero, in every option and for every query; no other weight changes.  A head that is not
needed one at a time may still be needed where another is gone too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import torch

from triattn_core.analysis.intervention.batched_variants import log_odds
from triattn_core.analysis.mining.failing_rows import measure_each
from triattn_core.analysis.significance import holm, paired_p
from triattn_core.attention.weight_override import without_head
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError, InputError
from triattn_core.inference.batch import collate
from triattn_core.models import answers
from triattn_core.trace.site import Site

Head = tuple[str, int]  # the site of its weights, and its number from 0


def measure_rows(bundle: Bundle, rows: Sequence[tuple[int, Any]], heads: Sequence[Head]) -> pd.DataFrame:
    """`measure_labelled` of a checkpoint.  Raises InputError for a head whose output cannot be replaced."""
    return measure_labelled(
        rows, lambda example: measure_example(bundle, example, heads).assign(id=str(example.id)[:80])
    )


def measure_labelled(rows: Sequence[tuple[int, Any]], measure: Callable[[Any], pd.DataFrame]) -> pd.DataFrame:
    """Of each row (line, example) and head `row`, `site`, `head`, `right` without it and `own`, whether the whole model
    is right; `change`: of the log-odds of the label.  Raises DataError for a row without a label."""

    def labelled(example: Any) -> pd.DataFrame:
        if example.label is None:
            raise DataError("no label: whether the answer is right is not known")
        return measure(example)

    return measure_each(rows, labelled)


def measure_example(bundle: Bundle, example: Any, heads: Sequence[Head]) -> pd.DataFrame:
    """A row a head of one labelled example: as of `measure_rows`, without `row` and `id`."""
    (options,) = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)
    with torch.inference_mode():
        encoded = bundle.encoder(collate(list(options), bundle.tokenizer).to(bundle.device))
        is_right, own_odds = _answer(bundle, example, encoded, len(options))
        rows = []
        for site, head in heads:
            with without_head(Site.parse(site), head) as count:
                right, odds = _answer(bundle, example, encoded, len(options))
            if not count[0]:
                raise InputError(f"{bundle.name}: the head {head + 1} of {site} cannot be ablated")
            rows.append({"site": site, "head": head, "right": right, "own": is_right, "change": odds - own_odds})
    return pd.DataFrame(rows)


def _answer(bundle: Bundle, example: Any, encoded: Any, options: int) -> tuple[bool, float]:
    """Whether it is right, and the log-odds of the label."""
    outputs = bundle.model(encoded).float().cpu()
    (probabilities,) = answers.probabilities(outputs, [options])
    (scores,) = answers.scores(outputs, [options])
    return bool(bundle.task.verdict(example, probabilities)[0]), float(log_odds(scores[None].double(), example.label))


def summarize(table: pd.DataFrame) -> pd.DataFrame:
    """A row per head, the most important first: `accuracy` without it and `own`, in per cent; `points`, their
    difference; `lost` and `won` rows; `p` of `paired_p`, after Holm's correction over all heads; `change`,
    the mean of the log-odds; `rows`, those with a label.  Raises DataError where none has one."""
    rows, labelled = [], table.dropna(subset=["right", "own"]) if "right" in table else table[:0]
    if labelled.empty:
        raise DataError("no row has a label: the importance of a head cannot be measured")
    for (site, head), group in labelled.groupby(["site", "head"], sort=False):
        own, right = (group[name].astype(float).to_numpy() for name in ("own", "right"))
        accuracy, unablated = (100 * float(values.mean()) for values in (right, own))
        numbers = {
            "accuracy": accuracy,
            "own": unablated,
            "points": unablated - accuracy,
            "change": float(group["change"].mean()),
        }
        counts = {"lost": int((own > right).sum()), "won": int((right > own).sum()), "rows": len(group)}
        rows.append({"site": site, "head": head, **numbers, **counts, "p": paired_p(own, right)[0]})
    frame = pd.DataFrame(rows)
    frame["p"] = holm(frame["p"].tolist())
    return frame.sort_values(["points", "change"], ascending=[False, True], ignore_index=True)
