"""Context: does it matter?  The relevance of a cube taken apart, what no two axes explain, and a file of rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.common import asking, cards, context_parts, figures, keeping, state
from pages.common.errors import shown
from triattn_core.tasks import TASKS
from triattn_core.views import anova as view
from triattn_core.views import strongest

MECHANISMS = ("tri",)
LEAD = "How much of a cube only context can say, which heads say it, and where: the relevance in its orthogonal parts."


def taken_apart(question: asking.Question):
    """Shares of every site and head."""

    def run(bundle):
        from triattn_core.analysis import anova

        return anova.table(question.found.trace)

    return asking.answer(question.card, "Taking the cube apart", run, "anova", repr(question.found.source))


def three_way(question: asking.Question, site: str, head: int):
    """The three-way part of one head, and the bits of each query."""

    def run(bundle):
        from triattn_core.analysis import anova

        sites = question.found.trace.sites
        relevance, weights = (sites[f"{site}/{name}"].isel(head=[head]) for name in ("relevance", "weight"))
        part = anova.three_way(relevance, weights).isel(head=0)
        return part, anova.information(weights.transpose(..., *anova.AXES).values[0])

    return asking.answer(question.card, "Taking the cube apart", run, "three", repr(question.found.source), site, head)


def clicked(figure: str) -> None:
    """A click on a bar chooses its layer and head, as the pickers do."""
    if found := st.session_state[figure].selection.get("cell"):
        st.session_state["layer"], st.session_state["head"] = (int(found[0][f"at_{n}"]) for n in ("layer", "head"))


question = asking.opening("Does context matter?", LEAD, MECHANISMS)
model, theme = question.card.config["model"], asking.theme()
with question.settings:
    direction = question.words.directions[state.direction(question.words.directions)]
    with shown():
        whole = taken_apart(question)
    table = whole[whole["site"].str.endswith(f"/{direction}")]
    first = context_parts.first(table)
    layer = state.segments("Layer", list(range(1, int(model.get("layers", 2)) + 1)), "layer", first[0]) - 1
    head = state.pick("Head", list(range(1, int(model.get("heads", 12)) + 1)), "head", first[1], width=84) - 1
    by = state.segments("Heads by", ["number", "context"], "by")
    st.space("stretch")
    with st.popover("Keep", width=76, key="keep"):
        keeping.form(question.task, TASKS[question.task].row(question.example), "context")
with shown():
    site = f"layer.{layer}/{direction}"
    part, bits = three_way(question, site, head)
row = table[(table["site"] == site) & (table["head"] == head)].iloc[0]
with st.container(key="main"):
    left, right = st.columns([1.15, 1], gap="large")
with left:
    st.html(cards.section("Parts of the relevance", "share of variance, the query's own part left out"))
    said = context_parts.summary(table, row, layer, head)
    look = {"on_select": partial(clicked, "parts"), "selection_mode": "cell"}
    figures.drawn(view.parts(table, layer, head, theme, by), said, "parts", **look)
    st.html(context_parts.legend(row, theme))
    st.html('<p class="t-note">What context redirects, on a scale of its own:</p>')
    look["on_select"] = partial(clicked, "redirected")
    figures.drawn(view.parts(table, layer, head, theme, by, ("key_context", "three_way")), said, "redirected", **look)
    figures.note(said)
    figures.numbers("All heads as numbers", table, "numbers")
with right:
    st.html(cards.section("Three-way residual", f"layer {layer + 1}, head {head + 1}: what no two axes explain"))
    names = {axis: strongest.labels(part, dict(question.found.trace.texts), axis) for axis in view.AXES}
    places = list(range(len(names["context"])))
    show = [f"{i + 1}  {word}" for i, word in enumerate(names["context"])]
    first = context_parts.strongest(part)
    at = state.pick("Context token", places, "at", first, show=lambda i: show[i] if i in places else str(i), width=190)
    cells = part.isel(context=at).transpose("query", "key")
    labels = (names["query"], names["key"])
    said = context_parts.residual_said(cells, names["context"][at], *labels, bits)
    figures.drawn(view.residual(cells, bits, labels, theme), said, "residual", width="content")
    figures.note(said)
    figures.numbers("The map as numbers", view.cells_of(cells, labels), "map-numbers")
context_parts.over(question, table)
