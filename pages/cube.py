"""Tri-Attention cube: two sentences, what the model says, and the cube of weights behind it."""

from __future__ import annotations

import streamlit as st

from pages.common import explorer, export, inputs, languages, models, state, style
from pages.common.errors import shown
from triattn_core import views
from triattn_core.trace import Choice
from triattn_core.views import cell, cube
from triattn_core.views.strongest import strongest

ROWS = 20_000  # rows of a table in the browser; a larger cube is listed query by query
DIRECTIONS = {"A over B": "a_over_b", "B over A": "b_over_a"}
LEAD = (
    'Every cell is the weight that one <b class="t-query">query</b> token gives to one <b class="t-key">key</b> token '
    'in the light of one <b class="t-context">context</b> token. Three slices of one cube, through one cell.'
)


def settings(model: dict) -> tuple[Choice, bool]:
    """The pickers that say which cube of this model is shown, and whether without its special tokens."""
    layers, heads = int(model.get("layers", 2)), int(model.get("heads", 12))
    direction = state.segments("Direction", list(DIRECTIONS), "direction")
    layer = state.segments("Layer", list(range(1, layers + 1)), "layer", default=0)
    head = state.pick("Head", ["mean", *range(1, heads + 1)], "head", width=92)
    quantity = state.segments("Quantity", ["weight", "relevance"], "quantity")
    hide = st.toggle("Hide [CLS], [SEP]", key="hide", bind="query-params")
    site = f"layer.{layer - 1}/{DIRECTIONS[direction]}/{quantity}"
    if head == "mean":
        return Choice(site, reduce=(("head", "mean"),)), hide
    return Choice(site, index=(("head", head - 1),)), hide


@st.cache_resource(max_entries=8, show_spinner=False)
def figure(_trace, digest: str, texts: tuple, choice: str, hide: bool):
    """The canvas without its exact numbers: these stay here. Kept, so that a click builds nothing."""
    return cube.figure(_trace, Choice.from_query(choice), hide, exact=False)


@st.fragment
def explore(found: models.Explained, choice: Choice, hide: bool) -> None:
    """Figure, inspector and lists: a click runs this alone."""
    trace, texts = found.trace, tuple(found.trace.texts.values())
    canvas = figure(trace, found.card.digest, texts, choice.query(), hide)
    key = explorer.key("cube", *texts, choice.site.split("/")[1])
    at = explorer.cell(key, explorer.show(canvas, key), *cube.places(canvas))
    st.session_state["shown_cell"].update(at=at)
    numbers = cell.read(trace, choice, dict(zip(cube.NEEDS, at)))
    explorer.answer(key, {"cell": at, "stamp": canvas.payload["stamp"], "numbers": numbers})
    size = canvas.payload["cells"]
    with st.expander(f"All {size:,} cells as numbers", key="numbers", bind="query-params") as box:
        if box.open:
            numbers_table(trace, choice, hide, at[0], size)
    for name, view in views.beside(cube, trace.pick(choice).dims).items():
        with st.expander(view.TITLE, key=name, bind="query-params") as box:
            if box.open:
                theme = "dark" if style.dark() else "light"
                export.chart(name, view.figure(trace, choice, hide_special=hide, theme=theme))


def numbers_table(trace, choice: Choice, hide: bool, query: int, size: int) -> None:
    """Every cell as a row, largest first; of a large cube those of the chosen query."""
    rows = strongest(trace, choice, hide_special=hide)
    if size > ROWS:
        rows = rows[rows["query_at"] == query]
        st.caption(f"The {len(rows):,} cells of the chosen query; Export has all {size:,} as CSV.")
    exact = st.column_config.NumberColumn(format="%.4g")
    names = dict.fromkeys(("weight", "relevance", "share"), exact)
    names |= {f"{axis}_at": st.column_config.NumberColumn(f"{axis} position, from 0") for axis in cube.NEEDS}
    st.dataframe(rows, hide_index=True, height=320, column_config=names)


style.heading("Tri-Attention cube", LEAD)
speaks, cards = languages.single(models.shelf(task="pairs", mechanisms=("tri",)), "checkpoint", prefer="en")
pair = inputs.pair(speaks)
says = st.container()
if not cards:
    st.info("No Tri-Attention checkpoint is here yet: see Checkpoints for what is on the shelf.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    card = state.pick("Checkpoint", cards, "checkpoint", show=lambda card: card.name, width=210)
    choice, hide = settings(card.config["model"])
    st.space("stretch")
    tail = st.container(width="content", key="tail")
with shown():
    found = models.explain(card, pair)
with says:
    inputs.prediction(found)
# What is saved opens on the chosen cell: the fragment writes it here, the download reads it when it is asked for.
spot = st.session_state.setdefault("shown_cell", {})
with tail:
    export.menu(
        f"cube-{choice.site.replace('/', '-')}",
        explorer.key("cube", *found.trace.texts.values(), choice.site.split("/")[1]),
        lambda: cube.figure(found.trace, choice, hide, at=spot.get("at")),
        lambda: strongest(found.trace, choice, hide_special=hide),
        found.trace,
    )
explore(found, choice, hide)
