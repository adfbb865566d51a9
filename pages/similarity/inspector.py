"""The maps of all functions with the exact numbers of the chosen cell, and the command that prints them."""

from __future__ import annotations

import streamlit as st

from pages.shared import cell_command, token_grouping
from pages.shared.models import MODELS
from pages.shared.page_scene import PageScene
from triattn_core.scenes import similarity as scene
from triattn_core.views.similarity.terms import blocks


@st.fragment
def explore(page: PageScene) -> None:
    """The figure: a click runs this alone, to put the cell into the URL and its exact numbers below the maps."""
    position, panels, explanation = page.choose(), page.scene.panels, page.scene.explanations
    facts = scene.facts(MODELS, explanation, panels, page.example, page.settings)
    sent = blocks(panels, facts, page.settings.quantity)
    page.answer(blocks=[block.payload() for block in sent])
    command = token_grouping.command(panels[position[2]].trace, facts[position[2]], position)
    command += f" --part {page.settings.part}" if explanation[0].prediction.parts > 1 else ""
    name, title = page.entries[position[2]].name, panels[position[2]].title
    what = "The terms of the pair and the weight of the cell" if "pair" in facts[position[2]] else cell_command.CELL
    cell_command.command(name, page.row, command, f"{what}, {title}")
