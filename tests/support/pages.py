"""Pages of the app under `AppTest`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.shared.navigation import FIRST, TABS

APP = Path(__file__).parents[2] / "app.py"
# Each AppTest reads the files of all installed packages, a quarter of a second; what is installed stays.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def app_test(wait: float = 110) -> AppTest:
    """The app before its first run; wait: seconds for a run."""
    return AppTest.from_file(str(APP), default_timeout=wait)


def at_page(app: AppTest, page: str) -> AppTest:
    """The app turned to a page by its address; `AppTest.switch_page` knows addresses only after a first run."""
    app._page_hash = calc_hash("" if page == FIRST else page)
    return app


def page_links(app: AppTest) -> list:
    """The links to pages, but for the tabs of the page's place."""
    return [link for link in app.get("page_link") if not _is_tab(link.proto)]


def _is_tab(link) -> bool:
    return not link.query_string and TABS.get(link.page) == link.label
