"""Of a text that a model wrote: what it looked at as it wrote each token, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import figures, style, url_state
from triattn_core.scenes.two_way_map import Settings
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import GENERATED
from triattn_core.trace.site import Site
from triattn_core.trace.sites import two_way_weights
from triattn_core.views import word_map

if TYPE_CHECKING:
    import xarray as xr

TOKEN, SECONDS = "token", 1.2  # in the URL: the token that is written, from 1; of a frame
SAYS = "The {} a word, the more weight; one scale for all steps. Play goes on by itself, a token at a time."


def is_shown(trace: AttentionTrace, settings: Settings) -> bool:
    """Whether the chosen map has a row for each token that the model wrote."""
    site = settings.site and settings.site.with_quantity("weight")
    if site is None or site.role == "encoder":  # which reads what is given, and may have as many tokens
        return False
    return site in trace.sites and trace.site(site).sizes.get("query") == trace.meta.get(GENERATED)


def opening(trace: AttentionTrace, sites: Sequence[Site]) -> int:
    """The number of the map that a trace of a written text opens on: the last cross-attention, or the last of those
    with a row for each token; 0 of another trace."""
    films = [i for i, site in enumerate(sites) if is_shown(trace, Settings(site=site))]
    cross = [i for i in films if sites[i].role == "cross"]
    return (cross or films or [0])[-1]


def explore(trace: AttentionTrace, settings: Settings) -> None:
    """Shows the words before a token, shaded by its weights in the chosen head, or in the mean of heads."""
    assert settings.site is not None
    weights = two_way_weights(trace, settings.site.with_quantity("weight"))
    weights = weights.mean("head", keep_attrs=True) if settings.head is None else weights[settings.head - 1]
    with st.container(horizontal=True, key="film"):
        plays = url_state.toggle("Play", "play")
        # A fragment, so that a frame draws these words alone.
        st.fragment(_frame, run_every=SECONDS if plays else None)(weights, settings.site.role == "cross", plays)


def _frame(weights: xr.DataArray, of_another_text: bool, plays: bool) -> None:
    with st.container():
        _show(weights, of_another_text, plays)


def _show(weights: xr.DataArray, of_another_text: bool, plays: bool) -> None:
    count = weights.sizes["query"]
    if plays and "film" in st.session_state:
        st.session_state[TOKEN] = int(st.session_state.get(TOKEN, 1)) % count + 1
    st.session_state["film"] = plays
    now = url_state.number(f"Token written, of {count}", 1, count, 1, TOKEN, width=150) - 1
    seen = weights.sizes["key"] - (0 if of_another_text else count - 1 - now)
    row, texts = weights[now, :seen], word_map.words(weights, "query")
    written, before = texts[now], " ".join(texts[: now if of_another_text else 0])
    words = word_map.shaded_words(row, word_map.scale_of(weights), style.theme())
    st.html(f'<p class="t-film">{words} → {escape(before)} <b>{escape(written)}</b></p>')
    most = int(row.argmax())
    looked = f"most on “{word_map.words(row, 'key')[most]}”: {float(row[most]):.3f}"
    figures.note(f"As it writes “{written}”, {looked}. {SAYS.format('lighter' if style.dark() else 'darker')}")
