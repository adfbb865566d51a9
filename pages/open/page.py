"""Open: an attention of any origin, from a file or a Hugging Face model, through every view whose axes fit."""

from __future__ import annotations

from html import escape
from pathlib import Path

import streamlit as st

from pages.open import compare_part, cube_part, map_part, source
from pages.shared import deep_links, save_case, style, url_state
from pages.shared.errors import notice, report_errors
from triattn_core.analysis.maps.trace_context import cube_sites
from triattn_core.importers.prediction import prediction_of
from triattn_core.importers.token_coords import UNKNOWN
from triattn_core.trace.axes import AXES
from triattn_core.trace.axis_labels import describe_sizes
from triattn_core.trace.from_array import notes_of
from triattn_core.trace.sites import drawn_sites, is_signed, layer_by_layer

SAYS = "An array from any library, or a Hugging Face model on your text."
CUBE, MAPS, PAIR = "cube", "maps", "side by side"
ALERTS = ("do not sum to one", "not a number", "Not proved", UNKNOWN)  # in notes that stand out

head, toolbar = style.opening()
style.say(head, "Your model", SAYS)
trace = source.pick(toolbar)
name, key = str(trace.meta.get("checkpoint", "trace")), f"{trace.meta.get('digest', '')}{id(trace)}"
with report_errors():
    sites = layer_by_layer(drawn_sites(trace))
views = [CUBE, MAPS] if cube_sites(trace) else [MAPS]
views += [] if all(map(is_signed, sites)) else [PAIR]
alerts = [note for note in notes_of(trace) if any(words in note for words in ALERTS)]
for note in alerts:
    notice(note)
said = st.container()
settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with settings:
    view = url_state.segments("View", views, "view")
cubes = [site.with_quantity("weight") for site in cube_sites(trace)] if view == CUBE else []
sizes = describe_sizes(trace, cubes or sites, "cube" if cubes else "map")
sentences = [sizes, *(note for note in notes_of(trace) if note not in alerts)]
named = [f"{axis} is {trace.meta[f'{axis}_name']}" for axis in AXES if f"{axis}_name" in trace.meta]
sentences += [", ".join(named)] if named else []
predicted = "".join(
    f'<span>{escape(label)} <b class="t-num">{value:.3f}</b></span>' for label, value in prediction_of(trace)[:3]
)
about = escape(". ".join(sentence.rstrip(".") for sentence in sentences))
line = f'<b>{escape(name)}</b>{predicted}<span class="t-muted">{about}.</span>'
said.html(f'<div class="t-says">{line}</div>')
with toolbar, st.popover("Keep", width=76, key="keep"):
    row = {"source": name, "trace": st.query_params.get("trace", ""), "axes": sizes, **trace.texts}
    save_case.form(deep_links.OPENED, row, "open")
stem = Path(name).stem.replace(" ", "-").replace(":", "")[:40]
{CUBE: cube_part.explore, MAPS: map_part.explore, PAIR: compare_part.explore}[view](trace, key, stem, settings)
