"""Studies: the guided studies, what can be asked and where, the checkpoints, and the machine.

What needs a model is drawn last: the page must not wait for it.
"""

from __future__ import annotations

import streamlit as st

from pages.shared import checkpoint_html, model_jobs, models, style
from pages.shared.errors import report_errors
from pages.studies import checkpoint_table, gallery, links, studies
from triattn_core.inference.device import describe_device
from triattn_core.views import word_map

style.heading(
    "Studies", "Each is a claim with a number, and what would refute it. Open one, change a word, see whether it holds."
)


WORDS = (
    "<b>Bi</b> scores query and key; <b>C-Bi</b> first mixes the context into query and key; <b>Bi-joint</b> treats "
    "context tokens as more keys; <b>Tri</b> (Yu et al., 2022) scores query, key and context at once. <b>As "
    "published</b>, part of the answer bypasses the attention; in models that answer <b>through attention</b> none "
    "does. <b>Third order</b>: one score reads three tokens; <b>pairwise scores</b> read two at a time. The "
    "<b>product of marginals</b> of a cube is what each key gets over all contexts times what each context token gets "
    "over all keys: it loses which key goes with which context token, unless nearly all weight is on one pair."
)

about = word_map.legend(style.theme())
st.html(f'<details class="t-note"><summary>Terms and colours</summary><div>{WORDS} Colours: {about}.</div></details>')
fills = studies.section()
with st.container(key="main"):
    links.questions()
    links.examples()
    left, right = st.columns([2.7, 1], gap="medium")
with left:
    st.html(checkpoint_table.table(models.entries()))
    st.html(checkpoint_html.section("Test scores") + gallery.scores())
with right.container(key="aside"), report_errors(stop=False):
    slot = st.skeleton(height=200)
    slot.html(checkpoint_html.machine(describe_device(), model_jobs.kept_bytes()))
for fill in fills:
    with report_errors(stop=False):
        fill()
