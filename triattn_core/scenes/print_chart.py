"""An Altair chart for a paper: at a stated width, with no type below seven points.

A unit of Vega-Lite is a point on paper.  Type shrinks from the size of a page to that of print, plots to what the width
leaves them; what they show is the same.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from triattn_core.errors import ConfigError
from triattn_core.scenes.charts import Chart, small
from triattn_core.scenes.print_settings import DOTS, PrintSettings

LEAST, HEADING = 7.0, 8.0  # points
TYPE = LEAST / 11  # of a page's smallest type
LETTER = 0.56  # of a size of type, about
EDGE = 3  # points round the figure
NARROWEST, WIDEST = 0.1, 1.6  # of the plots of the page
VIEWS = {"mark", "layer", "encoding", "facet", "repeat", "spec", "hconcat", "vconcat", "concat"}
DEFAULTS = {
    "axis": {"labelFontSize": LEAST, "titleFontSize": LEAST},
    "legend": {"labelFontSize": LEAST, "titleFontSize": LEAST},
    "header": {"labelFontSize": LEAST, "titleFontSize": LEAST},
    "title": {"fontSize": HEADING},
    "text": {"fontSize": LEAST},
}


def paper_chart(chart: Chart, settings: PrintSettings, kind: str, dots: int = DOTS) -> bytes:
    """The file of a chart at the width of the settings; kind: of `print_settings.FORMATS`.

    Raises ConfigError where it has no room there, for a dark ground, and for panels: a chart has none.
    """
    if settings.ground == "dark" or settings.panels:
        wrong = (
            "ground: charts are printed on white or none" if settings.ground == "dark" else "panels: a chart has one"
        )
        raise ConfigError(wrong)
    return _file(fitted(chart, settings), chart.version, kind, settings.width, dots)


def fitted(chart: Chart, settings: PrintSettings) -> dict[str, Any]:
    """The specification whose drawing is as wide as it is asked for.  Raises ConfigError where it has no room."""
    room = settings.width * 72
    least, most = NARROWEST, 0.6
    for folded in (False, True):
        spec = lambda share, folded=folded: _printed(chart, settings, share, folded)  # noqa: E731
        narrow, wide = (_width(spec(share), chart.version) for share in (least, most))
        if narrow <= room:
            break
    else:
        raise ConfigError(f"{chart.title} has no room at {settings.width:g} in: from {narrow / 72 + 0.05:.1f} in")
    share = min(least + (room - narrow) * (most - least) / max(1.0, wide - narrow), WIDEST)
    while (width := _width(fitted_spec := spec(share), chart.version)) > room and share > NARROWEST:
        share = max(NARROWEST, share * min(0.98, room / width))
    fitted_spec["padding"] = {"left": EDGE, "top": EDGE, "bottom": EDGE, "right": EDGE + room - width}
    return fitted_spec


def _printed(chart: Chart, settings: PrintSettings, share: float, folded: bool = False) -> dict[str, Any]:
    """The chart with type of print size and plots of a share of their width on a page.  folded: what stands side by
    side stands below each other, and legends have two columns at most."""
    lines = textwrap.wrap(chart.title, int(settings.width * 72 / (LETTER * HEADING)))
    title = {"text": lines, "anchor": "start", "fontSize": HEADING, "fontWeight": 700, "offset": 6}
    spec = chart.framed(title if "titles" in settings.show else None, EDGE)
    spec = _walk(spec, lambda name, value, inside: _resized(name, value, inside, share))
    spec = _fold(spec) if folded else spec
    config = spec.setdefault("config", {})
    for name, look in DEFAULTS.items():
        config[name] = {**look, **config.get(name, {})}
    view = config.setdefault("view", {})
    view |= {"continuousWidth": 300 * share, "continuousHeight": 200 * TYPE, "step": 20 * TYPE}
    return spec | {"background": "#ffffff" if settings.ground == "white" else "transparent"}


def _fold(part: Any) -> Any:
    if isinstance(part, Mapping):
        folded = {"vconcat" if name == "hconcat" else name: _fold(value) for name, value in part.items()}
        if part.get("orient") in ("bottom", "top") and "labelAngle" not in part:  # a legend
            folded["columns"] = 2
        return folded | ({"columns": 1} if "facet" in part else {})
    return [_fold(item) for item in part] if isinstance(part, list) else part


def _resized(name: str, value: Any, inside: Mapping[str, Any], share: float) -> Any:
    """A number of the specification on paper; inside: what it stands in."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and name.lower().endswith("fontsize"):
        return max(LEAST, value * TYPE)
    if number and name in ("labelLimit", "gradientLength", "titleLimit", "spacing", "offset"):
        return value * TYPE
    if name in ("width", "height") and VIEWS & set(inside):
        factor = share if name == "width" else TYPE
        if isinstance(value, Mapping) and "step" in value:
            return {**value, "step": value["step"] * factor}
        return value * factor if number else value
    if number and "type" in inside and name in ("height", "width", "thickness", "strokeWidth"):  # of a mark
        return value * TYPE
    return value * TYPE**2 if number and "type" in inside and name == "size" else value


def _walk(part: Any, change: Callable[[str, Any, Mapping[str, Any]], Any]) -> Any:
    """A specification changed throughout, its data left as they are."""
    if isinstance(part, Mapping):
        kept = ("datasets", "data", "values", "domain")
        return {
            name: value if name in kept else _walk(change(name, value, part), change) for name, value in part.items()
        }
    return [_walk(item, change) for item in part] if isinstance(part, list) else part


def _width(spec: dict[str, Any], version: str) -> float:
    """Points across of what is drawn."""
    import vl_convert

    return _size(vl_convert.vegalite_to_svg(spec, vl_version=version), "width")


def _size(drawing: str, name: str) -> float:
    """The width or height of an SVG, in its own unit."""
    size = re.search(rf'<svg[^>]*? {name}="([\d.]+)"', drawing)
    assert size, drawing[:200]
    return float(size[1])


def _file(spec: dict[str, Any], version: str, kind: str, inches: float, dots: int) -> bytes:
    import vl_convert

    if kind == "png":
        return small(vl_convert.vegalite_to_png(spec, vl_version=version, ppi=dots))
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=version)
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=version)
    width, height = (_size(drawn, name) for name in ("width", "height"))
    drawn = drawn.replace(f'width="{width:g}"', f'width="{inches:g}in"', 1)
    return drawn.replace(f'height="{height:g}"', f'height="{inches * height / width:.4g}in"', 1).encode()
