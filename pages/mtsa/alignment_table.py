"""Does it align?  Which source word each word of the translation looks at most; and the alignment error rate of each
cross-attention head, beside a diagonal, even weights, gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from pages.shared import attention_worth, style
from pages.shared.sentence_input import SentencePage
from triattn_core.analysis.maps.word_links import WordLink, traced_links
from triattn_core.checkpoint.registry import Entry
from triattn_core.text.direction import isolate
from triattn_core.views.lib.number_format import minus

QUESTION = "Does it align?"
SAYS = (
    "Alignment error rate against {set}, {n:,} sentences, in per cent: 0 is perfect. Each target word is linked to the "
    "source word with the most weight, each target read as given. Gradients: saliency, the gradient of a sub-word's "
    "log-probability times the source's vectors."
)
OTHER_TEXT = " The rows are other text than it was trained on: {words} words and marks a sentence{letters}."
FINDINGS = {  # of the interval of the difference from the diagonal
    -1: "it finds words by more than their place",
    0: "not told apart from the diagonal",
    1: "behind the diagonal, the place alone",
}
LOOKS = "Where it looks most"
LINKS = (
    "Each word of the translation ← the source word with the most weight, and a second one with half as much or "
    "more: {of}. Grey: none has half of the weight."
)
MAJORITY = 0.5  # of a word's weight
BETWEEN = '<span class="t-muted"> · </span>'
LONG = 40  # links, beyond which they scroll
LISTED = 12  # source words that none looks at most; of more the count is said
UNMEASURED = "Not measured: `triattn evaluate {name} ROWS --attention --record` on rows with alignments."


def show(top: SentencePage) -> None:
    """Shows the links of this sentence, then `show_measured`."""
    _looks(top, attention_worth.measures(top.entry, "word_alignment").get("heads", []))
    show_measured(top.entry)


def show_measured(entry: Entry) -> None:
    """Shows the table of the rows that were measured."""
    measured = attention_worth.measures(entry, "word_alignment")
    st.html(f"<b>{QUESTION}</b>")
    if not measured.get("heads"):
        st.caption(UNMEASURED.format(name=entry.name))
        return
    note = SAYS.format(set=measured.get("set", "given alignments"), n=measured["n"]) + other_text(entry, measured)
    st.html(
        f'<div class="t-scroll">{table(measured["heads"], measured.get("baselines", {}))}</div>'
        f'<p class="t-note">{escape(minus(beside_diagonal(measured["heads"])))} {escape(note)}</p>'
    )


def other_text(entry: Entry, measured: Mapping[str, Any]) -> str:
    """A sentence that begins with a space: how rows of another data set than those of training read."""
    trained = {name.partition("/")[0] for name in entry.config["data"]["train"]}
    if "words" not in measured or measured.get("set", "").partition("/")[0] in trained:
        return ""
    return OTHER_TEXT.format(words=measured["words"], letters=", in lower case" * bool(measured.get("lower_case")))


def beside_diagonal(rows: Sequence[Mapping[str, Any]]) -> str:
    """How far the best head, and the best mean of heads, are from the diagonal, with what that shows; empty where it
    was not measured."""
    sentences = []
    for group in ([row for row in rows if row["head"] is not None], [row for row in rows if row["head"] is None]):
        best = min(group, key=lambda row: float(row["aer"]), default={})
        if "less_diagonal" in best:
            gain, low, high = best["less_diagonal"]
            finding = FINDINGS[(low > 0) - (high < 0)]
            interval = f"{gain:+.1f} points from the diagonal (95 % {low:+.1f} to {high:+.1f})"
            sentences.append(f"{_name(best).capitalize()}: {interval}, {finding}.")
    return " ".join(sentences)


def _name(row: Mapping[str, Any]) -> str:
    head = "mean of heads" if row["head"] is None else f"head {row['head'] + 1}"
    return f"layer {row['layer'] + 1}, {head}"


def _looks(top: SentencePage, rows: Sequence[Mapping[str, Any]]) -> None:
    """Shows for each word of the translation the source word with the most weight, of the aligner with the smallest
    error in the table, else of the last layer's mean of heads; and the source words that none looks at most."""
    trace = top.explanation.trace
    last: Mapping[str, Any] = {"layer": int(trace.meta.get("layers", 1)) - 1, "head": None}
    best = min(rows, key=lambda row: float(row["aer"]), default=last)
    links, unread = traced_links(trace, best["layer"], best["head"])
    of = f"{_name(best)}, {'which has the smallest error below' if rows else 'whose error is not measured'}"
    st.html(f"<b>{LOOKS}</b>{looks(links, unread, str(top.entry.config['target_language']), of)}")


def looks(links: Sequence[WordLink], unread: Sequence[str], language: str, of: str) -> str:
    """HTML: target word and source words of each link, then the source words without one.  of: whose links these
    are."""
    pairs = BETWEEN.join(_link(link, escape(language)) for link in links)
    names, more = [f"“{isolate(word)}”" for word in unread[:LISTED]], len(unread) - LISTED
    quoted = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
    left = f"No word looks most at {quoted}." if unread else "Each source word is one that some word looks at most."
    html = style.scrolled(f'<p class="t-links">{pairs or "–"}</p>', len(links) > LONG, LOOKS)
    return f'{html}<p class="t-note">{escape(LINKS.format(of=of))} {escape(left)}</p>'


def _link(link: WordLink, language: str) -> str:
    """HTML: grey where no source word has half of the weight."""
    sources = ", ".join(
        f'{escape(isolate(word))} <span class="t-muted t-num">{weight:.2f}</span>' for word, weight in link.sources
    )
    target = f'<span lang="{language}">{escape(isolate(link.target))}</span>'
    weak = "" if link.sources[0][1] >= MAJORITY else ' class="t-muted"'
    return f"{target} <span{weak}>← {sources}</span>"


def table(rows: Sequence[Mapping[str, Any]], baselines: Mapping[str, float]) -> str:
    """HTML: a line for each layer with its heads and their mean, the smallest error bold; then the baselines."""
    layers = sorted({row["layer"] for row in rows})
    heads = sorted({row["head"] for row in rows if row["head"] is not None})
    errors = {(row["layer"], row["head"]): row["aer"] for row in rows}
    best = min(errors.values())
    titles = "".join(f'<th class="r">Head {head + 1}</th>' for head in heads) + '<th class="r">mean of heads</th>'
    lines = ""
    for layer in layers:
        cells = "".join(_cell(errors.get((layer, head)), best) for head in [*heads, None])
        lines += f"<tr><td>Layer {layer + 1}</td>{cells}</tr>"
    for name, error in baselines.items():
        empty = f'<td colspan="{len(heads)}"></td>'
        lines += f'<tr><td class="t-muted">{escape(name.capitalize())}</td>{empty}<td class="r">{error:.1f}</td></tr>'
    return f'<table class="t-table t-alignment"><tr><td></td>{titles}</tr>{lines}</table>'


def _cell(error: float | None, best: float) -> str:
    if error is None:
        return '<td class="r">–</td>'
    text = f"{error:.1f}"
    return f'<td class="r">{f"<b>{text}</b>" if error == best else text}</td>'
