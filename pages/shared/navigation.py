"""The nine places and the pages of each: the bar lists the places, tabs on a page's first line those of its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

# By place its pages, `pages/<name>/page.py`, with what its tab says; a page's name is its address too.
PLACES: dict[str, dict[str, str]] = {
    "Start": {"start": "Start"},
    "Explore": {"cube": "Cube", "side_by_side": "Side by side"},
    "Test": {"intervene": "Intervene", "context": "Context", "attribute": "Attribute"},
    "Heads": {"heads": "Heads"},
    "Your model": {"open": "Your model"},
    "Rows": {"compare": "Compare", "cases": "Cases", "case_book": "Case book"},
    "Laboratory": {"laboratory": "Laboratory"},
    "Other attention": {
        "mtsa": "MTSA",
        "tensor": "The tensor",
        "coin": "COIN",
        "similarity": "Similarity",
        "third_order": "Third order",
        "distributions": "Distributions",
    },
    "Results": {
        "results": "Results",
        "studies": "Studies",
        "checkpoints": "Checkpoints",
    },
}
TABS = {name: tab for tabs in PLACES.values() for name, tab in tabs.items()}
TITLES = TABS | {"cube": "Tri-Attention cube", "heads": "Head atlas"}  # what a page calls itself
FIRST = next(iter(TABS))  # the page without an address of its own
MOVED = {"efficiency": ("results", {"costs": "true"})}  # addresses that were pages: where, and what opens there
CURRENT = "current page"


def make_pages() -> dict[str, StreamlitPage]:
    """The pages by name, as `st.navigation` takes their values: the first of each place is in the bar.  A place is an
    address too, and leads to its first page."""
    pages = {
        name: st.Page(
            f"pages/{name}/page.py",
            title=place if i == 0 else TITLES[name],
            url_path="" if name == FIRST else name,
            default=name == FIRST,
            visibility="hidden" if i else "visible",
        )
        for place, tabs in PLACES.items()
        for i, name in enumerate(tabs)
    }
    for place, tabs in PLACES.items():
        address = place.lower().replace(" ", "-")
        if address not in pages:
            lead = _leads_to(pages[next(iter(tabs))])
            pages[address] = st.Page(lead, title=place, url_path=address, visibility="hidden")
    for address, (name, opens) in MOVED.items():
        lead = _leads_to(pages[name], **opens)
        pages[address] = st.Page(lead, title=TITLES[name], url_path=address, visibility="hidden")
    return pages


def _leads_to(page: StreamlitPage, **opens: str) -> Callable[[], None]:
    return partial(_switch, page, **opens)


def _switch(page: StreamlitPage, **opens: str) -> None:
    asked = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(page, query_params=asked | opens)


def mark_current(pages: Mapping[str, StreamlitPage], current: StreamlitPage) -> None:
    """Remembers which page runs, for `show_tabs`; marks its place in the bar, which lists only first pages."""
    name = next((name for name, page in pages.items() if page == current), FIRST)
    st.session_state[CURRENT] = name
    for i, tabs in enumerate(PLACES.values(), 1):
        if name in list(tabs)[1:]:
            link = f'[data-testid="stTopNav"] > .rc-overflow-item:nth-child({i}) [data-testid="stTopNavLink"]'
            st.html(f"<style>{link} {{background: var(--t-faint)}} {link} p {{font-weight: 600}}</style>")


def show_tabs() -> None:
    """Links to the pages of the current place, the current one marked; nothing where it has but one."""
    name = st.session_state.get(CURRENT, FIRST)
    tabs = next((tabs for tabs in PLACES.values() if name in tabs), {})
    if len(tabs) < 2:
        return
    with st.container(horizontal=True, gap="small", width="content", key="tabs"):
        for page, tab in tabs.items():
            with st.container(key=f"tab-{'here' if page == name else page}", width="content"):
                st.page_link(f"pages/{page}/page.py", label=tab)
