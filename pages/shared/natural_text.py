"""What the third order is worth on natural text, in a sentence made of the numbers on record."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import mean, stdev

import streamlit as st

from pages.shared import attention_worth, checkpoint_html, seeds
from pages.shared.record_stamp import checkpoint_stamp, record_stamp
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.listing import listing
from triattn_core.views.lib.number_format import minus

TWO_WAY = ("bi", "bi_joint", "cbi")
REFUTED = (
    "A data set of natural text on which Tri beats the same form, trained with pairwise scores, by more than the SD "
    "over seeds."
)


def sentence(entries: Sequence[Entry]) -> str:
    """How Tri stands against the best two-way attention (on dev) of each data set, and what its third order is worth;
    empty where there is no such pair.  The living form is taken where a data set has it."""
    return _sentence(record_stamp(), checkpoint_stamp(entries), entries)


@st.cache_resource(max_entries=8, show_spinner=False)
def _sentence(stamp: tuple, names: tuple, _entries: Sequence[Entry]) -> str:
    entries = _entries
    pairs = list(filter(None, map(_best_models, _by_data(entries))))
    if not pairs:
        return ""
    scores = [f"{_name(tri)} {_score(two_way)} ({_two_way(two_way, tri)}) and {_score(tri)}" for two_way, tri in pairs]
    ahead = [metadata.dataset_name(tri) for two_way, tri in pairs if _is_ahead(tri, two_way)]
    behind = [metadata.dataset_name(tri) for two_way, tri in pairs if _is_ahead(two_way, tri)]
    lead = f"is clearly ahead of two-way attention on {listing(ahead)} alone" if ahead else ""
    lead = lead or "is nowhere clearly ahead of the best two-way attention"
    lead += f" and clearly behind on {listing(behind)}" if behind else ""
    lead += " (by more than two standard errors, over test rows and seeds)"
    third = _third_order([tri for _, tri in pairs])
    means = f"{', '.join(scores)}; % on test, mean ± standard deviation over seeds, two-way attention chosen on dev"
    return minus(f"On natural text, in the living form where there is one, Tri {lead}: {means}. {third}")


def _name(entry: Entry) -> str:
    metric = metadata.metric_name(entry)
    notes = ["as published"] * (not metadata.is_living(entry)) + [metric] * (metadata.main_metric(entry) != "accuracy")
    return metadata.dataset_name(entry) + (f" ({', '.join(notes)})" if notes else "")


def _two_way(two_way: Entry, tri: Entry) -> str:
    """What the two-way attention is called, and that its seeds are too uneven where Tri's lead is none for that."""
    uneven = _mean(tri, "test") > _mean(two_way, "test") and not _is_ahead(tri, two_way)
    return checkpoint_html.label(two_way) + ", its seeds too uneven to tell" * uneven


def _by_data(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The TANs with a score, of one data set and form each."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.config.get("kind") == "tan" and metadata.main_score(entry) is not None:
            groups.setdefault(metadata.dataset_name(entry), []).append(entry)
    living = {name: [entry for entry in entries if metadata.is_living(entry)] for name, entries in groups.items()}
    return [living[name] or entries for name, entries in groups.items()]


def _best_models(entries: Sequence[Entry]) -> tuple[Entry, Entry] | None:
    """The best two-way checkpoint on dev, and the best Tri; None if either is missing."""
    by_mechanism = {
        kind: [entry for entry in entries if metadata.model_setting(entry, "mechanism") == kind]
        for kind in (*TWO_WAY, "tri")
    }
    two_way = [entry for kind in TWO_WAY for entry in by_mechanism[kind]]
    best = [max(group, key=lambda entry: _mean(entry, "dev")) for group in (two_way, by_mechanism["tri"]) if group]
    return (best[0], best[1]) if len(best) == 2 else None


def _score(entry: Entry) -> str:
    scores = seeds.scores(entry, "test")
    spread = f" ± {stdev(scores):.1f}" if len(scores) > 1 else ""
    return f"{mean(scores or (0.0,)):.1f}{spread}"


def _mean(entry: Entry, split: str) -> float:
    """Its score over seeds, in per cent; 0 where there is none."""
    return mean(seeds.scores(entry, split) or (0.0,))


def _is_ahead(tri: Entry, two_way: Entry) -> bool:
    """Whether the first leads by more than two standard errors, of rows (as if those of both were drawn apart) and of
    seeds."""
    shares = [_mean(entry, "test") / 100 for entry in (tri, two_way)]
    rows = (tri.metrics.get("test") or {}).get("n") or 1
    variance = sum(share * (1 - share) for share in shares) / rows
    for scores in (seeds.scores(entry, "test") for entry in (tri, two_way)):
        variance += (stdev(scores) / 100) ** 2 / len(scores) if len(scores) > 1 else 0.0
    return shares[0] - shares[1] > 2 * sqrt(variance)


def _third_order(entries: Sequence[Entry]) -> str:
    """A sentence: the gain of Tri over the same form trained with pairwise scores."""
    worth = {metadata.dataset_name(entry): _points(entry) for entry in entries}
    worth_texts = [f"{points} on {name}" for name, points in worth.items() if points]
    untested = [name for name, points in worth.items() if not points]
    rest = f"; for {listing(untested)} no such control was trained" if untested else ""
    if not worth_texts:
        return "The worth of its third order there is not measured."
    return (
        "In points on dev, with the scaled dot against pairwise scores in the same form (± the larger SD over seeds of "
        f"the two), its third order is worth {listing(worth_texts)}{rest}."
    )


def _points(entry: Entry) -> str:
    """Points over pairwise scores, ± SD over seeds, and their number; empty where no such control was trained."""
    gain = attention_worth.worth(entry).get("pairwise")
    if gain is None:
        return ""
    spread = "" if gain["spread"] is None else f" ± {gain['spread']:.1f}"
    return f"{gain['points']:+.1f}{spread} ({gain['seeds']} seed{'s' * (gain['seeds'] != 1)})"
