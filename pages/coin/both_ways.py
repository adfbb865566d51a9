"""The figure of one direction, whose chosen cell goes along to the other."""

from __future__ import annotations

import streamlit as st

from pages.shared import canvas_component
from pages.shared.page_scene import PageScene
from triattn_core.views.coin.blocks import reverse_pair


@st.fragment
def explore(page: PageScene, pair: str, direction: str) -> None:
    """The figure: a click runs this alone.  pair: the key of the figures of both ways."""
    canvas_component.carry_cell(page.key, pair, direction, reverse_pair)
    canvas_component.remember_cell(pair, direction, page.choose())
    page.answer()
