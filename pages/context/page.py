"""Context: does it matter?  The relevance of a cube taken apart, what no two axes explain, and a file of rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.context import context_parts
from pages.shared import attention_worth, checkpoint_html, export, figures, page_setup, save_case, url_state
from pages.shared.errors import shown
from triattn_core.scenes import context as scene
from triattn_core.scenes.scene import with_positions
from triattn_core.tasks import TASKS
from triattn_core.views.charts import anova as view
from triattn_core.views.charts import anova_text as said

MECHANISMS = ("tri",)
LEAD = "How much of a cube only context can say, which heads say it, and where: the relevance in its orthogonal parts."


def choose_head(figure: str) -> None:
    """A click on a bar chooses its layer and head, as the pickers do."""
    if found := st.session_state[figure].selection.get("cell"):
        st.session_state["layer"], st.session_state["head"] = (int(found[0][f"at_{n}"]) for n in ("layer", "head"))


question = page_setup.opening("Does context matter?", LEAD, MECHANISMS)
model, theme = question.card.config["model"], page_setup.theme()
with question.settings:
    direction = question.words.directions[url_state.direction(question.words.directions)]
    with shown():
        table = scene.select_direction(scene.share_table(question), direction)
    first = said.first(table)
    layer = url_state.segments("Layer", list(range(1, int(model.get("layers", 2)) + 1)), "layer", first[0]) - 1
    head = url_state.pick("Head", list(range(1, int(model.get("heads", 12)) + 1)), "head", first[1], width=84) - 1
    by = url_state.segments("Heads by", ["number", "context"], "by")
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
with tail, st.popover("Keep", width=76, key="keep"):
    save_case.form(question.task, TASKS[question.task].row(question.example), "context")
with shown():
    part, bits = scene.three_way(question, f"layer.{layer}/{direction}", head)
    row = scene.head_row(table, layer, head)
attention_worth.notes([question.card])
with st.container(key="main"):
    left, right = st.columns([1.15, 1], gap="large")
with left:
    st.html(checkpoint_html.section("Parts of the relevance", "share of variance, the query's own part left out"))
    told = said.parts(table, row, layer, head)
    look = {"on_select": partial(choose_head, "parts"), "selection_mode": "cell"}
    figures.drawn(view.parts(table, layer, head, theme, by), told, "parts", **look)
    st.html(context_parts.legend(row, theme))
    st.html('<p class="t-note">What context redirects, on a scale of its own:</p>')
    look["on_select"] = partial(choose_head, "redirected")
    figures.drawn(view.parts(table, layer, head, theme, by, scene.STRONG), told, "redirected", **look)
    figures.note(told)
    figures.numbers("All heads as numbers", table, "numbers")
with right:
    st.html(
        checkpoint_html.section("Three-way residual", f"layer {layer + 1}, head {head + 1}: what no two axes explain")
    )
    places = list(range(part.sizes["context"]))
    # By its place from 0, as Intervene names it and a command asks for it.
    show = [f"{i}  {word}" for i, word in enumerate(scene.at_token(question, part, bits, 0).words["context"])]
    first = said.strongest(part)
    at = url_state.pick(
        "Context token", places, "at", first, show=lambda i: show[i] if i in places else str(i), width=190
    )
    residual = scene.at_token(question, part, bits, at)
    drawn = view.residual(residual.cells, bits, residual.labels, theme)
    figures.drawn(drawn, residual.said, "residual", width="content")
    figures.note(residual.said)
    figures.numbers("The map as numbers", with_positions(residual.rows), "map-numbers")
with tail:
    option = {} if question.option is None else {"option": question.option + 1}
    chosen = {"way": direction, "layer": layer + 1, "head": head + 1, "by": by, "cell": (at,), **option}
    export.card("context", [question.card], question.example, chosen)
context_parts.show_over_rows(question, table)
