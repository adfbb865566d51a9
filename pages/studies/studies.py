"""The guided studies of the page: a question, the input, the maps, the number, and what would refute it.

Text, number and the stored maps stand at once; other maps, for which models are loaded, follow.  The first study has
the room for its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import model_jobs, models, natural_text, study_strip, style
from pages.shared.models import MODELS
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import TriattnError
from triattn_core.inference.device import choose_device
from triattn_core.studies import Study, stored_maps, studies
from triattn_core.views import word_map

COLUMNS = 3
ROWS = 128  # pixels of the rows of a map
FIRST_ROWS = 168  # of the first study
AROUND = 88  # pixels of a map's title and words above its rows, kept free while it is computed


def section() -> list[Callable[[], None]]:
    """Shows the studies whose checkpoints exist, in a grid; returns the functions that draw their maps."""
    entries_by_name = models.of_studies()
    ready = [study for study in studies().items() if set(study[1].checkpoints) <= set(entries_by_name)]
    if not ready:
        return []
    with st.container(key="studies"):
        fills = [_wide(*ready[0], entries_by_name, FIRST_ROWS)]
        on_natural_text = st.empty()
        fills.append(lambda: _compare_on_natural_text(on_natural_text))
        last = len(ready) - (len(ready) % COLUMNS == 2)  # one that is left over has a row of its own
        columns = st.columns(COLUMNS, gap="medium") if last > 1 else []
        for i, (name, study) in enumerate(ready[1:last]):
            column = columns[i % COLUMNS]
            column.html(_question(study))
            fills.append(_place_maps(name, study, column, entries_by_name, ROWS))
            _finding(name, study, column)
        fills.extend(_wide(*study, entries_by_name, ROWS) for study in ready[last:])
    return fills


def _compare_on_natural_text(slot: DeltaGenerator) -> None:
    """What the records say of text, where the right answer is not known."""
    if found := natural_text.summary(models.entries()):
        slot.html(
            f'<hr class="t-rule"><p class="t-finding"><b>{escape(found.lead)}</b></p>{natural_text.html(found)}'
            '<details class="t-note"><summary>What would refute it, and the command</summary>'
            f"<div>{escape(natural_text.REFUTED)} <code>triattn seeds</code></div></details>"
        )


def _wide(name: str, study: Study, entries_by_name: Mapping[str, Entry], rows: int) -> Callable[[], None]:
    """Shows a study in a full row, its maps beside the text; returns the function that draws them."""
    with st.container(key=f"wide-{name}"):
        st.html(_question(study))
        text, picture = st.columns([1, 1.25], gap="large")
    _finding(name, study, text)
    return _place_maps(name, study, picture, entries_by_name, rows, numbers=rows == FIRST_ROWS)


def _question(study: Study) -> str:
    lines = "<br>".join(f"<span>{escape(text)}</span>" for text in study.show(study.examples[0]))
    return f'<hr class="t-rule"><h2 class="t-study">{escape(study.title)}</h2><p class="t-study-input">{lines}</p>'


def _place_maps(
    name: str,
    study: Study,
    column: DeltaGenerator,
    entries_by_name: Mapping[str, Entry],
    rows: int,
    numbers: bool = False,
) -> Callable[[], None]:
    """Shows the stored maps of a study, else keeps their place; returns the function that draws what is missing."""
    if study.maps is None:
        return lambda: None
    entries = [entries_by_name[checkpoint] for checkpoint in study.checkpoints]
    if stored := stored_maps.find(name, study, entries):
        _draw(column, stored, rows, numbers)
        return lambda: None
    slot = column.skeleton(height=rows + AROUND)
    return lambda: _fill(name, study, slot, entries, rows, numbers)


def _finding(name: str, study: Study, column: DeltaGenerator) -> None:
    lead, stop, more = study.result.partition(". ")
    column.html(
        f'<p class="t-note t-finding"><b>{escape(lead + stop.strip())}</b></p>'
        f'<p class="t-note"><b>Try it:</b> {escape(study.change)}</p>'
        '<details class="t-note"><summary>How it is measured, its limits, what would refute it</summary>'
        f"<div>{escape(f'{more} {study.about}'.strip())}<br><b>Limits:</b> {escape(study.limits)}<br>"
        f"<b>Would refute it:</b> {escape(study.refuted)}<br><code>triattn studies {name}</code></div></details>"
    )
    column.page_link(
        f"pages/{study.page}/page.py",
        label="Open it and change a word",
        icon=":material/chevron_right:",
        icon_position="right",
        query_params={**study.opens, study_strip.KEY: name},
    )
    if study.control:
        column.page_link(
            "pages/intervene/page.py",
            label="Take key and context apart",
            icon=":material/chevron_right:",
            icon_position="right",
            query_params={**study.control, "null": "product of marginals"},
        )


def _fill(
    name: str,
    study: Study,
    slot: DeltaGenerator,
    entries: Sequence[Entry],
    rows: int,
    numbers: bool,
) -> None:
    """Computes the maps of a study, and draws them in its slot."""
    try:
        key = ("study", name, *(entry.digest for entry in entries))
        arrays = model_jobs.result(choose_device(), key, f"Maps of “{study.title}”", lambda: _maps(study, entries))
    except TriattnError as error:
        slot.html(f'<p class="t-note">{escape(str(error))}</p>')
        return
    _draw(slot, arrays, rows, numbers)


def _draw(slot: DeltaGenerator, arrays: Mapping, rows: int, numbers: bool) -> None:
    maps_html = word_map.maps(arrays, rows, style.theme(), numbers)
    slot.html(f'<div class="t-thumb">{maps_html}</div>')


def _maps(study: Study, entries: Sequence[Entry]) -> Mapping:
    return study.maps([MODELS.load(entry) for entry in entries], study.examples[0])
