"""What models of word problems reached on GSM8K's test steps, and what that does not say."""

from __future__ import annotations

from html import escape
from statistics import mean

import streamlit as st

from pages.shared import checkpoint_html
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.operand_runs import form, runs
from triattn_core.views.lib.number_format import half_up

BOUNDS = (
    "The task is derived from GSM8K's annotated steps; it is not that set's own metric, which asks for the last "
    "answer.",
    "The loss is on the weights themselves: the models were told which pair is right.{told_less}",
    "The inputs suit a product: cosines of the value and of its logarithm, and cos(a + b − c) is four products of "
    "three. Over plain numbers no relation of three is needed: −(a + b − c)² is a sum of pairs.",
    "So this is learnt in as many steps with these inputs, never impossible without: in ten times the steps pairwise "
    "scores after a two-way layer find more than Tri does in its own number, and that lead is gone.",
    "On natural text without such annotations Tri is nowhere clearly ahead.",
)
REFUTED = "a two-way or pairwise form of this size that gets 84 % in as many steps with these inputs."


def show() -> None:
    """The scores over the test steps, all seeds, and their bounds."""
    told = [run for run in runs() if run.config["training"]["told"] == "pair"]
    if not told:
        return
    test = told[0].metrics["test"]
    st.html(checkpoint_html.section("Over GSM8K's test steps", f"{test['n']:,} steps of problems that people wrote"))
    rows = "".join(map(_row, sorted(told, key=lambda run: -_mean(run, "right_pair"))))
    rows += (
        f'<tr><td class="t-muted">no model: evenly among the pairs that make the number</td>'
        f'<td class="r t-muted">{half_up(test["even_fit"], 1)}</td><td class="r"></td>'
        '<td class="r t-muted">100</td></tr>'
    )
    heads = "".join(f'<th class="r">{escape(name)}</th>' for name in ("right pair, %", "weight on it, %", "fits, %"))
    st.html(
        f'<div class="t-scroll"><table class="t-table" style="max-width: 860px"><tr><th>model, right pair by seed</th>'
        f"{heads}</tr>{rows}</table></div>"
    )
    items = "".join(f"<li>{escape(bound.format(told_less=_told_less()))}</li>" for bound in BOUNDS)
    st.html(
        f'<ul class="t-note">{items}</ul><p class="t-note"><b>Would refute it:</b> {escape(REFUTED)}<br>'
        "<b>Repeat it:</b> <code>triattn evaluate gsm8k-tri gsm8k-strassen gsm8k-bi test.jsonl</code> on GSM8K's own "
        "file.</p>"
    )


def _told_less() -> str:
    """A sentence: what attention finds that was told the operation alone; empty where nothing was measured."""
    found = {
        form(run.config): _mean(run, "right_pair") for run in runs() if run.config["model"].get("operation") == "pairs"
    }
    if not {"Tri", "pairwise scores"} <= set(found):
        return ""
    tri, pairwise = (half_up(found[name], 1) for name in ("Tri", "pairwise scores"))
    return (
        f" Told the operation alone, which is read of each pair by itself, Tri finds {tri} % of the pairs, pairwise "
        f"scores {pairwise} %."
    )


def _mean(run: Entry, name: str) -> float:
    return mean(seed["test"][name] for seed in run.metrics["each_seed"])


def _row(run: Entry) -> str:
    seeds = [seed["test"]["right_pair"] for seed in run.metrics["each_seed"]]
    by_seed = ", ".join(half_up(value, 1) for value in seeds)
    cells = "".join(f'<td class="r">{half_up(_mean(run, name), 1)}</td>' for name in ("right_pair", "weight", "fits"))
    return f'<tr><td>{escape(form(run.config))} <span class="t-muted">{by_seed}</span></td>{cells}</tr>'
