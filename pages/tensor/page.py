"""The tensor: query × key × feature of one MTSA head, the sum behind each cell, and features in clusters."""

from __future__ import annotations

from math import prod

import streamlit as st

from pages.shared import canvas_component, numbers, sentence_input, style, url_state
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from pages.tensor import score_decomposition
from triattn_core.scenes.tensor import Settings, pair_of
from triattn_core.tasks import InputForm
from triattn_core.views import cube, tensor
from triattn_core.views.lib import cell

SAYS = (
    'MTSA scores every <b class="t-query">query</b>, <b class="t-key">key</b> and <b class="t-feature">feature</b>: '
    "each feature distributes the query's attention in its own way. One head's tensor, as three linked slices."
)
MOST = 8  # clusters


@st.fragment
def explore(page: PageScene, below: str) -> None:
    """Figure, inspector and what stands behind the chosen cell: a click runs this alone.

    below: the key of the clusters' figure, which stands at the same pair until a cell is chosen there.
    """
    shown, sizes, position = page.scene.shown, map(len, page.scene.axes), page.choose()
    page.answer(stamp=cube.stamp(shown, False), numbers=cell.numbers_of(shown, dict(zip(tensor.NEEDS, position))))
    chosen = canvas_component.second_cell(below, "map-cell", page.scene.below.extents)
    canvas_component.answer(below, {"cell": chosen or pair_of(position, page.scene.clusters.assignments.tolist())})
    numbers.below(shown, False, position[0], prod(sizes))
    score_decomposition.show_cell(page.scene, shown.choice, position, style.theme())


top = sentence_input.open_page("The tensor", SAYS, {InputForm.SENTENCES: ("mtsa",)})
with top.settings:
    masks = str(top.explanation.trace.meta["masks"]).split(",")
    head = url_state.pick("Head", list(range(1, len(masks) + 1)), "head", width=76)
    quantity = url_state.segments("Quantity", ["weight", "relevance"], "quantity")
    num_clusters = url_state.pick("Clusters", list(range(1, MOST + 1)), "clusters", default=4, width=84)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
spoken = top.explanation.trace.texts.values()
with report_errors():
    settings = Settings(layer=top.layer, head=head, quantity=quantity, clusters=num_clusters)
    page = PageScene.build("tensor", [top.entry], top.example, settings, *spoken, str(top.layer))
with tail:
    page.save_menus(f"tensor-{top.layer.file_name}-head-{head}")
count = len(page.scene.clusters.prototypes)
below = canvas_component.key("prototypes", *spoken, str(top.layer), str(head - 1), str(count))
explore(page, below)
score_decomposition.show_clusters(page.scene, below)
