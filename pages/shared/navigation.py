"""The bar of pages: Streamlit shows a section there and not which of its pages is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st


def name_current(pages: Mapping[str, Sequence], chosen) -> None:
    """Writes the name of the open page beside its section.  pages: by section, as `st.navigation` takes them."""
    place = 0  # in the bar, where pages of no section stand one by one
    for section, members in pages.items():
        place += 1 if section else len(members)
        if section and chosen in members:
            item = f'[data-testid="stTopNav"] > .rc-overflow-item:nth-child({place}) [data-testid="stTopNavSection"]'
            st.html(f"<style>{item} p::after {{content: ': {chosen.title}'; font-weight: 600}}</style>")
