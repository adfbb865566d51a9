"""A figure for print: the marks of its maps in the colours of a theme."""

from __future__ import annotations

import numpy as np

from triattn_core.errors import TraceError
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.printing.sheet import Bar, Plate, Sheet
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import THEMES, Scale, SignedScale, colour_table, rgb

GREY = "#b9bfbf"  # a difference that seeds alone explain
LONGEST, ALL = 160, 400  # letters: of a text, of all texts


def sheet_from_canvas(canvas: Canvas | Chart, theme: str = "light") -> Sheet:
    """The maps of a figure, in the colours of a theme.  Raises TraceError for a figure without maps."""
    if not canvas.maps:
        raise TraceError(f"{canvas.title}: this figure has no maps to be printed")
    scales = dict.fromkeys(mark.scale for mark in canvas.maps)
    inputs = canvas.texts.values() if isinstance(canvas, Canvas) else ()
    texts = " / ".join(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…" for text in inputs)
    return Sheet(
        canvas.title.partition(":")[0],
        canvas.caption,
        texts[:ALL],
        canvas.alt,
        [plate_from_mark(mark, theme) for mark in canvas.maps],
        [colour_bar(scale, theme) for scale in scales],
    )


def plate_from_mark(mark: MapMark, theme: str) -> Plate:
    """One map in the colours of a theme."""
    table, nowhere = colour_table(mark.scale.kind, theme), np.zeros(mark.levels.shape, bool)
    masked = nowhere if mark.masked is None else mark.masked
    below, colours = nowhere, table[mark.levels]
    if isinstance(mark.scale, SignedScale):
        below = (mark.levels < mark.scale.steps // 2) & ~masked
    if mark.within is not None:
        colours = np.where(mark.within[..., None], (255 * rgb(GREY)).round().astype(np.uint8), colours)
        below = below & ~mark.within
    return Plate(
        mark.title,
        mark.axes,
        mark.rows,
        mark.columns,
        colours,
        masked,
        mark.cell,
        mark.place,
        below,
        answer=mark.answer,
        score=mark.score,
        badge=THEMES[theme].get(mark.mechanism, ""),
        thumb=mark.thumb,
        tree=mark.tree,
        bars=mark.bars,
        ticks=ticks(mark.scale),
        before=mark.before,
        after=mark.after,
    )


def colour_bar(scale: Scale, theme: str) -> Bar:
    """The colour bar of a scale."""
    note = scale.how if isinstance(scale, SignedScale) else ""
    return Bar(", ".join(filter(None, (scale.title, note))), colour_table(scale.kind, theme), ticks(scale))


def ticks(scale: Scale) -> list[tuple[float, str]]:
    """(place on the colour bar, 0 to 1, and what stands there)."""
    places = scale.levels(np.array(scale.ticks())) / (scale.steps - 1)
    return [(float(place), f"{value:.2g}".replace("-", "−")) for place, value in zip(places, scale.ticks())]
