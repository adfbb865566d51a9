"""And if all weights were even?  What the score loses with even weights in place of the model's own, and what a model
loses that was trained with them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from pages.shared import attention_worth
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.views.lib.number_format import half_up, minus

QUESTION = "And if all weights were even?"
PLACES = {
    "even": "",
    "even_cross-attention": "in the cross-attention",
    "even_decoder": "in the decoder's own attention",
}


def show(entry: Entry) -> None:
    """Shows the sentences; nothing where neither was measured."""
    if text := sentences(entry):
        st.html(f'<b>{QUESTION}</b><p class="t-note">{escape(minus(text))}</p>')


def sentences(entry: Entry) -> str:
    """What even weights in place of the model's own cost, by place, and what attention is worth over a control."""
    measured = attention_worth.measures(entry)
    lost = {name: measured.get("reliance", {}).get(name) for name in PLACES}
    encoder = "in the encoder" if any(lost[name] for name in PLACES if name != "even") else "in all layers"
    places = [f"{place or encoder} {_points(lost[name])}" for name, place in PLACES.items() if lost[name]]
    parts, metric = [], metadata.metric_name(entry)
    if places:
        rows = f"{measured['n']:,} rows" + (f" of {measured['set']}" if "set" in measured else "")
        parts.append(
            f"{metric} lost where the trained weights are replaced by even ones, in points, on {rows}: "
            f"{_listed(places)}. The rest of the model has not learnt to do without them."
        )
    if gain := attention_worth.worth(entry).get("even"):
        parts.append(f"Trained with even weights {encoder} from the start, under the same masks, it has {_worth(gain)}")
    return " ".join(parts)


def _worth(gain: Mapping[str, float | None]) -> str:
    spread = "" if gain["spread"] is None else f" ± {gain['spread']:.1f}"
    seeds = "one seed" if gain["seeds"] == 1 else f"{gain['seeds']} seeds"
    ahead = gain["points"] > 0
    says = "so much are the learnt weights worth" if ahead else "here they are not shown to be worth learning"
    return f"{half_up(abs(gain['points']), 1)}{spread} points {'less' if ahead else 'more'} on dev ({seeds}): {says}."


def _points(loss: dict[str, float]) -> str:
    interval = f" (95 % {half_up(loss['low'], 1)} to {half_up(loss['high'], 1)})" if "low" in loss else ""
    return half_up(loss["points"], 1) + interval


def _listed(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
