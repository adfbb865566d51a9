"""Quiet axes: the colours, font and sizes that line charts share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triattn_core.views.lib.palette import FONTS


def style_axes(chart: Any, palette: Mapping[str, str], **configuration: Any) -> Any:
    """The chart with axes in muted colours and no frame.  palette: of `THEMES`.  configuration: of the whole chart."""
    axis = {"labelColor": palette["muted"], "titleColor": palette["muted"], "titleFontWeight": "normal"}
    lines = {"gridColor": palette["hairline"], "domainColor": palette["muted"], "tickColor": palette["muted"]}
    chart = chart.configure(font=FONTS, **configuration).configure_view(stroke=None)
    return chart.configure_axis(**axis, **lines, labelFontSize=12, titleFontSize=12)
