"""Does it look at the predicate?  The weight that each head gives it, from inside and from outside its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from pages.shared import attention_worth, url_state
from pages.shared.sentence_input import SentencePage
from triattn_core.analysis.maps.predicate_shares import sentence_rows
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.listing import listing

QUESTION = "Does it look at the predicate?"
SAYS = (
    "Mean weight on the predicate from the words inside its arguments and from the other words; “even”: what even "
    "weights would give, from inside : from outside. These differ as well, since the other words stand farther off and "
    "in longer sentences. “Words”: of how many words the means are, inside : outside; of few they say little. A head "
    "that gives as much from outside as from inside passes on which word is the predicate, whatever the roles are: "
    "only a ratio above that of even weights can be the finding of arguments, and it is no proof of it. There is no "
    "ratio where the weight from outside rounds to 0."
)
WHOSE = {True: "The arguments are as the model found them.", False: "The arguments are as annotated."}
HERE, SIDES = "this sentence", ("inside", "outside")


def show(top: SentencePage) -> None:
    """Shows the table, of this sentence with the arguments that the model found, or of the rows that were measured."""
    dev = _measured_on(top.entry)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.html(f"<b>{QUESTION}</b>", width="content")
        over = url_state.segments("Measured on", [dev, HERE] if dev else [HERE], "measured")
    if over == HERE:
        tags = [tag.tag for tag in top.explanation.prediction.tags]
        _show_rows(sentence_rows(top.explanation.trace, top.example.predicate, tags), WHOSE[True])
    else:
        _show_rows(attention_worth.measures(top.entry)["predicate"], WHOSE[False])


def show_measured(entry: Entry) -> None:
    """Shows the table of the rows that were measured; nothing where none were."""
    if dev := _measured_on(entry):
        st.html(f'<b>{QUESTION}</b> <span class="t-muted">{escape(dev)}</span>')
        _show_rows(attention_worth.measures(entry)["predicate"], WHOSE[False])


def _measured_on(entry: Entry) -> str:
    measured = attention_worth.measures(entry)
    return f"{measured['n']:,} rows of {measured['set']}" if measured.get("predicate") and "set" in measured else ""


def _show_rows(rows: Sequence[Mapping[str, Any]], whose: str) -> None:
    note = f"{summary(rows)} {whose} {SAYS}"
    st.html(f'<div class="t-scroll">{table(rows)}</div><p class="t-note">{escape(note)}</p>')


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """HTML: a line for each head, a group of columns for each layer; the largest ratio of a layer is bold."""
    layers = sorted({row["layer"] for row in rows})
    cells = {(row["layer"], row["head"]): row for row in rows}
    counts = {row["head"]: f"{row['words']:,} : {row['words_outside']:,}" for row in rows if "words" in row}
    titles = "".join(f'<th class="c" colspan="4">Layer {layer + 1}</th>' for layer in layers)
    heads = '<th class="r">inside</th><th class="r">outside</th><th class="r">ratio</th><th class="r">even</th>'
    best = {layer: max((ratio(row) or 0 for row in rows if row["layer"] == layer), default=0) for layer in layers}
    lines = ""
    for head in sorted({row["head"] for row in rows}):
        line = "".join(_cells(cells[layer, head], best[layer]) for layer in layers if (layer, head) in cells)
        words = f'<td class="r">{counts[head]}</td>' if head in counts else ""
        lines += f"<tr><td>Head {head + 1}</td>{words}{line}</tr>"
    first, named = ("<td></td><td></td>", '<td></td><th class="r">words</th>') if counts else ("<td></td>",) * 2
    return (
        f'<table class="t-table t-predicate"><tr>{first}{titles}</tr>'
        f"<tr>{named}{heads * len(layers)}</tr>{lines}</table>"
    )


def ratio(row: Mapping[str, Any]) -> float | None:
    """Weight from inside over that from outside; None where either is missing, or the latter shown as 0."""
    inside, outside = row["inside"], row["outside"]
    return inside / outside if inside is not None and outside and round(outside, 2) else None


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Of each layer the means over its heads with words on both sides, and the head with the largest ratio."""
    parts = []
    for layer in sorted({row["layer"] for row in rows}):
        heads = [row for row in rows if row["layer"] == layer]
        both = [row for row in heads if None not in (row["inside"], row["outside"])]
        if not both:
            continue
        inside, outside = (sum(row[side] for row in both) / len(both) for side in SIDES)
        of = "heads" if len(both) == len(heads) else f"{len(both)} of {len(heads)} heads"
        means = f"{inside:.2f} from inside, {outside:.2f} from outside, mean of {of}"
        parts.append(f"Layer {layer + 1}: {'; '.join([means, *_largest(both)])}.")
    return " ".join(parts)


def _largest(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which heads have no ratio, since theirs could be larger than any, and the largest of the others."""
    known = [row for row in rows if ratio(row) is not None]
    without = [str(row["head"] + 1) for row in rows if ratio(row) is None]
    parts = []
    if without:
        heads = f"head {without[0]} gives" if len(without) == 1 else f"heads {listing(without)} give"
        parts.append(f"{heads} less than 0.005 from outside")
    if known:
        best = max(known, key=lambda row: ratio(row) or 0)
        of = "of the others the" if without else "the"
        parts.append(f"{of} largest ratio is {_times(ratio(best))} (head {best['head'] + 1})")
    return parts


def _cells(row: Mapping[str, Any], best: float) -> str:
    times = ratio(row)
    text = _times(times)
    numbers = [*(_share(row[side]) for side in SIDES), f"<b>{text}</b>" if times and times == best else text]
    numbers.append(f"{_share(row['even'])} : {_share(row.get('even_outside'))}")
    return "".join(f'<td class="r">{number}</td>' for number in numbers)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def _times(times: float | None) -> str:
    return "–" if times is None else f"× {times:#.2g}".removesuffix(".") if times < 99.5 else f"× {times:.0f}"
