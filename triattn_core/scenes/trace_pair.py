"""Two traces, or two heads of one, side by side on one scale: their maps, the difference, the divergence of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xarray import DataArray

from triattn_core.analysis.maps import compare, token_alignment
from triattn_core.errors import TraceError
from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings
from triattn_core.scenes.side_by_side_panels import difference
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels, label_columns
from triattn_core.trace.site import Site
from triattn_core.views import side_by_side as view
from triattn_core.views.attention_maps.trace_maps import over_context
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.side_by_side.panels import Gap, Panel, first_cell

OTHER_TOKENS = "The two cut the texts into different tokens: both are summed over the parts that they share."
GAPS = "Special tokens that only one of the two has are gaps in the other."


@dataclass(frozen=True)
class TraceSide:
    """What stands on one side.  site: without its quantity.  head: from 0, None is the mean.  label, probability: what
    the model predicts, empty where nothing does."""

    name: str
    trace: AttentionTrace = field(repr=False)
    site: Site
    head: int | None = None
    label: str = ""
    probability: float = 0.0

    @property
    def weights(self) -> DataArray:
        """The weights of its site, of all heads."""
        return self.trace.site(self.site.with_quantity("weight"))


@dataclass(frozen=True)
class PairScene(Scene):
    """panels, gap: both sides and their difference, as `views.side_by_side` draws them.  notes: what was done to make
    them comparable."""

    panels: Sequence[Panel] = field(kw_only=True, repr=False)
    gap: Gap = field(kw_only=True, repr=False)
    notes: tuple[str, ...] = field(kw_only=True)


def build_pair(left: TraceSide, right: TraceSide, cell: tuple[int, int] | None = None) -> PairScene:
    """The weights of both, cubes summed over context; the difference is right less left.

    cell: (query, key) that is chosen; None is where the two differ most.  Raises TraceError where they are not of the
    same tokens, nor of the same texts, InputError for no such cell.
    """
    maps = [compare.two_way_map(side.weights, side.head) for side in (left, right)]
    texts = dict(left.trace.texts)
    notes: tuple[str, ...] = ()
    try:
        compare.require_same_tokens(maps, [left.name, right.name])
    except TraceError:
        if not texts or texts != dict(right.trace.texts):
            names = f"{left.name} and {right.name}"
            raise TraceError(
                f"{names} are not of the same tokens, nor of the same texts: maps are compared token by token"
            ) from None
        maps, notes = token_alignment.to_common_parts(maps, texts), (OTHER_TOKENS,)
        notes += (GAPS,) if any(np.isnan(array.values).any() for array in maps) else ()
    panels = [_panel(side, array) for side, array in zip((left, right), maps)]
    gap = difference(panels, 1, 0)
    roles, caption = _common_labels(left.trace, right.trace), f"{left.name}, {right.name}"

    def figure(cell: Sequence[int]) -> Canvas:
        query, key = cell[:2]
        return view.figure(panels, gap, texts, (query, key), caption, distinguished_by="map", roles=roles)

    canvas = figure(first_cell(panels, gap))
    chosen = scene.valid_cell(cell, canvas.extents[:2], canvas.cell[:2])
    return PairScene(
        settings=CellSettings(cell=chosen),
        draw=lambda: {"side by side": figure(chosen)},
        tabulate=lambda: label_columns(view.table(panels, gap, texts), roles),
        trace=left.trace,
        explanations=(),
        screen=canvas,
        axes=canvas.extents[:2],
        panels=panels,
        gap=gap,
        notes=notes,
    )


def _common_labels(left: AttentionTrace, right: AttentionTrace) -> dict[str, str]:
    """What both call their axes; an axis by its name where they differ."""
    labels = axis_labels(left, ("query", "key")), axis_labels(right, ("query", "key"))
    return {axis: label if label == labels[1][axis] else axis for axis, label in labels[0].items()}


def _note(side: TraceSide) -> str:
    """What stands beside the title: the axes, where they have labels of their own, and that context is summed over."""
    called = axis_labels(side.trace, ("query", "key"))
    renamed = any(label != axis for axis, label in called.items())
    axes = f"{called['query']} × {called['key']}" if renamed else ""
    return ", ".join(filter(None, (axes, over_context(side.trace, side.site))))


def _panel(side: TraceSide, weights) -> Panel:
    return Panel(
        side.name,
        "",
        "",
        weights,
        weights,
        compare.entropy(weights),
        compare.rank(weights),
        side.label,
        side.probability,
        None,
        note=_note(side),
        model=str(side.trace.meta.get("checkpoint", "")) or "the model",
    )
