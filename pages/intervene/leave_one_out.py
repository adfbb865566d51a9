"""What each unit of the context does alone: to the answer and to the attention, one above the other."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import checkpoint_html, figures
from triattn_core.scenes.intervene import InterveneScene

ANSWER = "change of the log-odds of the answer without it; the chosen ones are framed"
TOKENS_UNAVAILABLE = "Single tokens are left out one at a time for sentence pairs only; choose turns or sentences."
ATTENTION = "bits that the attention moves without it; mean of query tokens, heads, layers and both directions"


def show(scene: InterveneScene, above: DeltaGenerator, theme: str) -> None:
    """Bars, sentences (the second folded) and numbers; of tokens of one among several options why there are none.

    above: the place of what units do to the answer.
    """
    if "alone" not in scene.panels:
        if scene.intervention.settings.how in ("remove", "mask"):
            figures.note(TOKENS_UNAVAILABLE)
        return
    sections = (
        ("alone", "singly", "One by one", ANSWER),
        ("moved", "singly-moved", "One by one, attention", ATTENTION),
    )
    for (name, key, title, note), place in zip(sections, (above, st.container())):
        panel = scene.panels[name]
        with place:
            st.html(checkpoint_html.section(title, note))
            if panel.draw:
                figures.show(partial(panel.draw, theme=theme), panel.sentence, key)
            if name == "alone" or not panel.draw:
                figures.note(panel.sentence)
            else:
                figures.folded("In words", panel.sentence)
    figures.numbers("One by one as numbers", scene.panels["alone"].rows, "alone-numbers")
