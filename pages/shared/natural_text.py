"""What the third order is worth on natural text: a sentence and a small table, made of the numbers on record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from html import escape
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
NOTES = (
    "Mean ± standard deviation over seeds. Clearly: by more than two standard errors, over test rows and seeds. Its "
    "third order: what the scaled dot gains on dev over pairwise scores in the same form, ± the larger standard "
    "deviation of the two."
)
REFUTED = (
    "A data set of natural text on which Tri beats the same form, trained with pairwise scores, by more than the SD "
    "over seeds."
)


@dataclass(frozen=True)
class Comparison:
    """A data set: test scores of the best two-way attention on dev and of Tri, and the worth of Tri's third order."""

    data: str
    two_way: str
    tri: str
    third_order: str


@dataclass(frozen=True)
class Summary:
    """`lead`: whether Tri is ahead anywhere; `notes`: how to read the rows."""

    lead: str
    rows: tuple[Comparison, ...]
    notes: str


COLUMN_TITLES = ("% on test", "two-way attention, best on dev", "Tri", "its third order, points on dev")


def summary(entries: Sequence[Entry]) -> Summary | None:
    """How Tri stands against the best two-way attention (on dev) of each data set, and what its third order is worth;
    None where there is no such pair.  The living form is taken where a data set has it."""
    return _summary(record_stamp(), checkpoint_stamp(entries), entries)


def html(found: Summary) -> str:
    """HTML: the rows, and the notes behind a mark."""
    heads = "".join(f'<th class="{"r" * (i > 0)}">{text}</th>' for i, text in enumerate(COLUMN_TITLES))
    rows = "".join(
        f"<tr><td>{escape(row.data)}</td>"
        + "".join(f'<td class="r">{escape(text)}</td>' for text in (row.two_way, row.tri, row.third_order))
        + "</tr>"
        for row in found.rows
    )
    table = f'<div class="t-scroll" style="max-width:820px"><table class="t-table"><tr>{heads}</tr>{rows}</table></div>'
    notes = f"<summary>What these numbers are</summary><div>{escape(found.notes)}</div>"
    return f'{table}<details class="t-note">{notes}</details>'


def markdown(found: Summary) -> str:
    """The rows as they stand in the documentation."""
    lines = [COLUMN_TITLES, ("---", "---:", "---:", "---:"), *map(astuple, found.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@st.cache_resource(max_entries=8, show_spinner=False)
def _summary(stamp: str, names: str, _entries: Sequence[Entry]) -> Summary | None:
    groups = [(pair, group) for group in _by_data(_entries) if (pair := _best_models(group))]
    if not groups:
        return None
    ahead = [metadata.dataset_name(tri) for (two_way, tri), _ in groups if _is_ahead(tri, two_way)]
    behind = [metadata.dataset_name(tri) for (two_way, tri), _ in groups if _is_ahead(two_way, tri)]
    lead = f"is clearly ahead of two-way attention on {listing(ahead)} alone" if ahead else ""
    lead = lead or "is nowhere clearly ahead of the best two-way attention"
    lead += f" and clearly behind on {listing(behind)}" if behind else ""
    rows = [
        Comparison(_name(tri), f"{checkpoint_html.label(two_way)} {_score(two_way)}", _score(tri), _third_order(tri))
        for (two_way, tri), _ in groups
    ]
    uneven = [_explain_uneven_seeds(*pair, group) for pair, group in groups]
    return Summary(
        f"On natural text, in models that answer through attention alone where there are some, Tri {lead}.",
        tuple(Comparison(*map(minus, astuple(row))) for row in rows),
        minus(" ".join(filter(None, [NOTES, *uneven]))),
    )


def _name(entry: Entry) -> str:
    metric = metadata.metric_name(entry)
    notes = ["as published"] * (not metadata.is_living(entry)) + [metric] * (metadata.main_metric(entry) != "accuracy")
    return metadata.dataset_name(entry) + (f" ({', '.join(notes)})" if notes else "")


def _explain_uneven_seeds(two_way: Entry, tri: Entry, entries: Sequence[Entry]) -> str:
    """Why a lead of Tri is not clear, of which other two-way models it is ahead, and whether even weights do as well;
    empty where nothing needs saying."""
    if _mean(tri, "test") <= _mean(two_way, "test") or _is_ahead(tri, two_way):
        return ""
    name = checkpoint_html.label(two_way)
    text = f"On {metadata.dataset_name(tri)} the seeds of {name} are too uneven to tell."
    others = [
        f"{checkpoint_html.label(other)} ({_score(other)})"
        for other in entries
        if metadata.model_setting(other, "mechanism") in TWO_WAY and other is not two_way and _is_ahead(tri, other)
    ]
    text += f" Tri is clearly ahead there of {listing(others)}." if others else ""
    gain = attention_worth.worth(two_way).get("even")
    even = _mean(two_way, "dev") - gain["points"] if gain else 0.0
    if even >= _mean(tri, "dev"):
        text += f" But {name} trained with even weights reaches {even:.1f} on dev, Tri {_mean(tri, 'dev'):.1f}."
    return text


def _by_data(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The TANs with a score, of one data set and form each."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.kind.compares_forms and metadata.main_score(entry) is not None:
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


def _third_order(entry: Entry) -> str:
    """Points over pairwise scores, ± SD over seeds, and their number."""
    gain = attention_worth.worth(entry).get("strassen")
    if gain is None:
        return "no control trained"
    spread = "" if gain["spread"] is None else f" ± {gain['spread']:.1f}"
    return minus(f"{gain['points']:+.1f}{spread} ({gain['seeds']} seed{'s' * (gain['seeds'] != 1)})")
