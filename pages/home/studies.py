"""The guided studies of the first page: a question, the input, the maps, the number, and what would refute it.

Text and number stand at once; the maps, for which models are loaded, follow.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import model_jobs, models, style
from triattn_core.checkpoint.registry import Card, laboratory_checkpoints
from triattn_core.errors import TriattnError
from triattn_core.inference.device import choose_device
from triattn_core.studies import Study, studies
from triattn_core.views import thumbnail

COLUMNS = 3
HEIGHT = 176  # pixels of the maps, kept free while they are computed


def section() -> list[Callable[[], None]]:
    """The studies whose checkpoints are here, in a grid; what is returned draws their maps."""
    here = {card.name: card for card in (*models.shelf(), *laboratory_checkpoints()) if card.problem is None}
    ready = {name: study for name, study in studies().items() if set(study.checkpoints) <= set(here)}
    fills, every = [], list(ready.items())
    with st.container(key="studies"):
        for start in range(0, len(every), COLUMNS):
            for (name, study), column in zip(every[start : start + COLUMNS], st.columns(COLUMNS, gap="medium")):
                fills.append(_card(name, study, column, here))
    return fills


def _card(name: str, study: Study, column: DeltaGenerator, here: dict) -> Callable[[], None]:
    column.html(f'<hr class="t-rule"><h3 class="t-study">{escape(study.title)}</h3>{_input(study)}')
    slot = column.skeleton(height=HEIGHT) if study.maps else column.empty()
    finding = study.finding.format(value=study.shown)
    column.html(
        f'<p class="t-note t-finding">{escape(finding)}</p>'
        f'<p class="t-note"><b>Would refute it:</b> {escape(study.refuted)} '
        f"Repeat it: <code>triattn studies {name}</code></p>"
    )
    column.page_link(
        f"pages/{study.page}/page.py",
        label="Open it and change a word",
        icon=":material/chevron_right:",
        icon_position="right",
        query_params=study.opens,
    )

    def fill() -> None:
        if study.maps is None:
            return
        try:
            cards = [here[checkpoint] for checkpoint in study.checkpoints]
            key = ("study", name, *(card.digest for card in cards))
            arrays = model_jobs.result(choose_device(), key, f"Maps of “{study.title}”", lambda: _maps(study, cards))
        except TriattnError as error:
            slot.html(f'<p class="t-note">{escape(str(error))}</p>')
            return
        titles = "".join(f"<span>{escape(title)}</span>" for title in arrays)
        drawn = picture(thumbnail.maps(list(arrays.values()), "dark" if style.dark() else "light"), study.title)
        slot.html(f'<div class="t-thumb"><div class="t-titles">{titles}</div>{drawn}</div>')

    return fill


def _maps(study: Study, cards: Sequence[Card]) -> Mapping:
    return study.maps([models.load(card) for card in cards], study.examples[0])


def _input(study: Study) -> str:
    """The texts of the example, as they are read."""
    lines = (f"<span>{escape(text)}</span>" for text in study.show(study.examples[0]))
    return f'<p class="t-study-input">{"<br>".join(lines)}</p>'


def picture(svg: str, alt: str) -> str:
    """HTML of a picture: as data, for Streamlit takes SVG elements out of HTML."""
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'
