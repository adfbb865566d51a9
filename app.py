"""The app: page config and navigation; the list of pages is `pages.shared.navigation.PLACES`."""

import streamlit as st

from pages.shared import link_repair, page_run
from pages.shared.copy_link import report_unused
from pages.shared.navigation import make_pages, mark_current
from pages.shared.setting_links import redirect_setting_names
from pages.shared.study_strip import show_effect

st.set_page_config(page_title="triattn", layout="wide")
page_run.begin()
pages = make_pages()
page = st.navigation(list(pages.values()), position="top")
mark_current(pages, page)
redirect_setting_names(page)
link_repair.run(page)
show_effect()
report_unused()
