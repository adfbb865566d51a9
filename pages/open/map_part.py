"""Of two-way attention: all heads as thumbnails, one map large, and the heads' measures."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.open import film_part, picture_part
from pages.shared import canvas_component, figures, page_scene, token_grouping, url_state
from pages.shared.errors import report_errors
from pages.shared.page_scene import TraceScene
from triattn_core.scenes import heads as head_scene
from triattn_core.scenes.trace_sites import ROLLOUT, map_sites
from triattn_core.scenes.two_way_map import Settings
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import further_axes
from triattn_core.trace.site import Site
from triattn_core.trace.sites import is_signed, map_array
from triattn_core.trace.token_grouping import NO_GROUPING
from triattn_core.views import head_grid

HEAD, MEAN = "one head", "mean of heads"
CHOSEN = "at-head"  # in the URL: layer and head, from 1
OPENING = head_scene.Settings()
COLUMNS = {name: head_grid.MEASURE_NAMES[name][0] for name in head_grid.MEASURE_NAMES}


def grid(trace: AttentionTrace, source: str, settings: head_scene.Settings = OPENING) -> TraceScene:
    """The scene of all heads.  Raises TriattnError."""
    return TraceScene.build("heads", trace, source, settings)


def explore(trace: AttentionTrace, source: str, name: str, toolbar: DeltaGenerator) -> None:
    """Shows the thumbnails, the chosen map, and the export menu."""
    sites = map_sites(trace)
    counts = [map_array(trace, site).sizes.get("head", 1) for site in sites]
    film = st.container()  # above all maps: the text that the model wrote
    with st.container(key="main"):
        several = sum(counts) > 1
        grid_column, map_column = st.columns([1, 1.25], gap="large") if several else (None, st.container())
    layer, head = 0, 0
    if grid_column is not None:
        with grid_column:
            layer, head = choose_head(trace, source, counts, film_part.opening(trace, sites))
            table(trace, source)
    with toolbar:
        settings = pick(trace, sites[layer], head + 1 if counts[layer] > 1 else None, len(sites))
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
    with map_column, report_errors():
        page = TraceScene.build("map", trace, source, settings, *settings.grouping().parts)
        if picture_part.is_shown(trace, settings):
            picture_part.explore(trace, settings)
        if film_part.is_shown(trace, settings):
            with film:
                film_part.explore(trace, settings)
        page_scene.explore(page)
    with tail:
        page.save_menus(f"{name}-{settings.site.file_name}")


def pick(trace: AttentionTrace, site: Site, head: int | None, layers: int) -> Settings:
    """The pickers of the map, of its quantity, and of what the tokens are read as.  head: from 1, None where there are
    none."""
    maps = [HEAD, MEAN] if head is not None else [HEAD]
    layered = layers > 1 and not further_axes(map_array(trace, site).dims)
    maps += [ROLLOUT] if layered and not any(map(is_signed, map_sites(trace))) else []
    drawn = url_state.segments("Map", maps, "map") if len(maps) > 1 else HEAD
    scores = not is_signed(site) and site.with_quantity("relevance") in trace.sites
    quantity = url_state.segments("Quantity", ["weight", "relevance"], "quantity") if scores else "weight"
    grouping = NO_GROUPING if not trace.texts else token_grouping.controls((token_grouping.TEXT,), hide=False)
    folds = token_grouping.of_texts(grouping) if trace.texts else {}
    if drawn == ROLLOUT:
        return Settings(site=ROLLOUT, **folds)
    return Settings(site=site, head=None if drawn == MEAN else head, quantity=quantity, **folds)


def choose_head(trace: AttentionTrace, source: str, counts: Sequence[int], opens: int = 0) -> tuple[int, int]:
    """Shows the grid of all heads; returns the chosen layer and head, from 0.

    counts: heads of each row.  opens: the row that is chosen at first.
    """
    numbers = (st.query_params.get(CHOSEN) or f"{opens + 1}.1").split(".")
    linked = [int(number) - 1 if number.isdecimal() else -1 for number in numbers]
    axes = [range(len(counts)), range(max(counts))]
    chosen = linked if len(linked) == 2 and all(i in axis for i, axis in zip(linked, axes)) else [opens, 0]
    with report_errors():
        page = grid(trace, source, head_scene.Settings(measure=pick_measure(trace, source)))
    clicked = canvas_component.show(page.scene.screen, page.key)
    canvas_component.answer(page.key, {"cell": chosen})
    if clicked is not None:
        chosen = [int(i) for i in clicked]
        st.query_params[CHOSEN] = ".".join(str(i + 1) for i in chosen)
    layer, head = chosen
    return layer, min(head, counts[layer] - 1)  # joined maps are fewer than their parts


def pick_measure(trace: AttentionTrace, source: str) -> str:
    """The measure shown below each thumbnail."""
    table = grid(trace, source).scene.table
    names = [name for name in COLUMNS if table[name].notna().any()]
    if not names:
        return head_scene.Settings().measure
    start = names.index("query_information") if "query_information" in names else 0
    return url_state.pick("Below each", names, "measure", start, show=COLUMNS.get, width=220)


def table(trace: AttentionTrace, source: str) -> None:
    """The measures of all heads as numbers, counted from 1."""
    rows = grid(trace, source).scene.table.dropna(axis=1, how="all").drop(columns="site")
    figures.numbers("All heads as numbers", rows.rename(columns=COLUMNS), "heads-table")
