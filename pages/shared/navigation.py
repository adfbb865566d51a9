"""The pages by section, and the bar that lists them: Streamlit shows a section there, not which page of it is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

# By section the title of each page, `pages/<name>/page.py`; its name is its address too.
SECTIONS = {
    "": {"home": "Home", "open": "Open"},
    "Attention": {
        "cube": "Tri-Attention cube",
        "side_by_side": "Side by side",
        "mtsa": "MTSA",
        "tensor": "The tensor",
        "coin": "COIN",
        "similarity": "Similarity",
        "distributions": "Distributions",
        "context": "Context",
        "intervene": "Intervene",
        "attribute": "Attribute",
    },
    "Evidence": {
        "laboratory": "Laboratory",
        "compare": "Compare",
        "heads": "Head atlas",
        "cases": "Cases",
        "case_book": "Case book",
        "results": "Results",
        "efficiency": "Efficiency",
        "checkpoints": "Checkpoints",
    },
}
TITLES = {name: title for titles in SECTIONS.values() for name, title in titles.items()}


def make_pages() -> dict[str, list]:
    """The pages by section, as `st.navigation` takes them; the first is the home page."""
    return {section: [_page(name, title) for name, title in titles.items()] for section, titles in SECTIONS.items()}


def _page(name: str, title: str):
    home = name == next(iter(TITLES))
    return st.Page(f"pages/{name}/page.py", title=title, url_path="" if home else name, default=home)


def name_current(pages: Mapping[str, Sequence], current_page) -> None:
    """Shows the name of the current page beside its section.  pages: by section, as for `st.navigation`."""
    place = 0  # in the bar, where pages of no section stand one by one
    for section, members in pages.items():
        place += 1 if section else len(members)
        if section and current_page in members:
            item = f'[data-testid="stTopNav"] > .rc-overflow-item:nth-child({place}) [data-testid="stTopNavSection"]'
            st.html(f"<style>{item} p::after {{content: ': {current_page.title}'; font-weight: 600}}</style>")
