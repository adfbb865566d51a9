"""The app: page config and the list of pages; nothing else."""

import streamlit as st

from pages.shared.copy_link import report_unused
from pages.shared.navigation import name_current
from pages.shared.setting_links import redirect_setting_names
from pages.shared.study_strip import show_effect

st.set_page_config(page_title="triattn", layout="wide")
PAGES = {
    "": [
        st.Page("pages/home/page.py", title="Home", default=True),
        st.Page("pages/open/page.py", title="Open", url_path="open"),
    ],
    "Attention": [
        st.Page("pages/cube/page.py", title="Tri-Attention cube", url_path="cube"),
        st.Page("pages/side_by_side/page.py", title="Side by side", url_path="side_by_side"),
        st.Page("pages/mtsa/page.py", title="MTSA", url_path="mtsa"),
        st.Page("pages/tensor/page.py", title="The tensor", url_path="tensor"),
        st.Page("pages/coin/page.py", title="COIN", url_path="coin"),
        st.Page("pages/similarity/page.py", title="Similarity", url_path="similarity"),
        st.Page("pages/distributions/page.py", title="Distributions", url_path="distributions"),
        st.Page("pages/context/page.py", title="Context", url_path="context"),
        st.Page("pages/intervene/page.py", title="Intervene", url_path="intervene"),
        st.Page("pages/attribute/page.py", title="Attribute", url_path="attribute"),
    ],
    "Evidence": [
        st.Page("pages/laboratory/page.py", title="Laboratory", url_path="laboratory"),
        st.Page("pages/compare/page.py", title="Compare", url_path="compare"),
        st.Page("pages/heads/page.py", title="Head atlas", url_path="heads"),
        st.Page("pages/cases/page.py", title="Cases", url_path="cases"),
        st.Page("pages/case_book/page.py", title="Case book", url_path="case_book"),
        st.Page("pages/results/page.py", title="Results", url_path="results"),
        st.Page("pages/efficiency/page.py", title="Efficiency", url_path="efficiency"),
        st.Page("pages/checkpoints/page.py", title="Checkpoints", url_path="checkpoints"),
    ],
}
page = st.navigation(PAGES, position="top")
name_current(PAGES, page)
redirect_setting_names(page)
page.run()
show_effect()
report_unused()
