"""The pickers of MTSA: which heads are drawn, what of them, and how their tokens are grouped."""

from __future__ import annotations

import streamlit as st

from pages.shared import sentence_input, token_grouping, url_state
from triattn_core.scenes.mtsa import SCORES, Settings
from triattn_core.tasks import InputForm, form
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.views.attention_maps import maps as head_maps


def pairs_of(trace: AttentionTrace, layer: Site) -> list[tuple[int, ...]]:
    """The heads that stand beside each other, from 1."""
    most = max(map(len, head_maps.groups(trace, layer).values()))
    return [tuple(i + 1 for i in head_maps.one_head_per_mask(trace, number, layer)) for number in range(most)]


def pick(top: sentence_input.SentencePage) -> Settings:
    """What is chosen on the page."""
    trace = top.explanation.trace
    pairs, plain = pairs_of(trace, top.layer), head_maps.is_plain(trace, top.layer)
    all_heads = tuple(range(1, len(head_maps.head_masks(trace, top.layer)) + 1))
    choices = pairs if len(pairs[0]) == len(all_heads) else [*pairs, all_heads]
    names = {heads: " and ".join(map(str, heads)) for heads in pairs} | {all_heads: f"all {len(all_heads)}"}
    first = 0 if form(top.entry.config["task"]) is InputForm.SENTENCES else len(choices) - 1
    heads = url_state.pick("Heads", choices, "heads", first, show=lambda head: names.get(head, str(head)), width=108)
    before = st.container(width="content", key="quantities")
    grouping = token_grouping.controls(
        (token_grouping.TEXT,), hide=False, note=f"Only weights can be grouped: {SCORES}."
    )
    with before:
        quantity = url_state.segments("Quantity", ["weight", "relevance"][: 1 if grouping.folds else 2], "quantity")
    read = token_grouping.of_texts(grouping)
    return Settings(layer=top.layer, heads=heads, quantity=quantity, features=heads in pairs and not plain, **read)
