"""The app: page config and the list of pages; nothing else.  A page's URL is its file's name."""

import streamlit as st

st.set_page_config(page_title="triattn", layout="wide")
st.navigation(
    {
        "": [st.Page("pages/home.py", title="Home", default=True)],
        "Attention": [
            st.Page("pages/cube.py", title="Tri-Attention cube"),
            st.Page("pages/side_by_side.py", title="Side by side"),
            st.Page("pages/mtsa.py", title="MTSA"),
            st.Page("pages/tensor.py", title="The tensor"),
            st.Page("pages/coin.py", title="COIN"),
            st.Page("pages/similarity.py", title="Similarity"),
            st.Page("pages/distributions.py", title="Distributions"),
            st.Page("pages/context.py", title="Context"),
            st.Page("pages/intervene.py", title="Intervene"),
            st.Page("pages/attribute.py", title="Attribute"),
        ],
        "Evidence": [
            st.Page("pages/compare.py", title="Compare"),
            st.Page("pages/cases.py", title="Cases"),
            st.Page("pages/case_book.py", title="Case book"),
            st.Page("pages/results.py", title="Results"),
            st.Page("pages/efficiency.py", title="Efficiency"),
            st.Page("pages/checkpoints.py", title="Checkpoints"),
        ],
    },
    position="top",
).run()
