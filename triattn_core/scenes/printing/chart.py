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
from triattn_core.scenes.charts import Chart, repack_png
from triattn_core.scenes.printing.settings import DOTS, PrintSettings

LEAST, HEADING = 7.0, 8.0  # points
TYPE = LEAST / 11  # of a page's smallest type
LETTER = 0.56  # of a size of type, about
LEANING = 4.5  # inches, below which words along an axis lean
EDGE = 3  # points round the figure
NARROWEST, WIDEST = 0.1, 1.6  # of the plots of the page
LEGEND, AXIS = 0.72, 0.55  # of the width: what the title and colours of a legend, the title of an axis take at most
KEPT = ("datasets", "data", "values", "domain")
MARKS = ("height", "width", "thickness", "strokeWidth", "dx", "dy", "xOffset", "x2Offset", "yOffset", "y2Offset")
SPEC_PARTS = {"mark", "layer", "encoding", "facet", "repeat", "spec", "hconcat", "vconcat", "concat"}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "axis": {"labelFontSize": LEAST, "titleFontSize": LEAST},
    "axisQuantitative": {"labelOverlap": "greedy", "labelSeparation": 4},
    "legend": {"labelFontSize": LEAST, "titleFontSize": LEAST},
    "header": {"labelFontSize": LEAST, "titleFontSize": LEAST},
    "title": {"fontSize": HEADING},
    "text": {"fontSize": LEAST},
}


def paper_chart(chart: Chart, settings: PrintSettings, kind: str, dots: int = DOTS) -> bytes:
    """The file of a chart at the width of the settings; kind: of `settings.FORMATS`.

    Raises ConfigError where it has no room there, for a dark ground, and for panels: a chart has none.
    """
    if settings.ground == "dark" or settings.panels:
        wrong = (
            "ground: charts are printed on white or none" if settings.ground == "dark" else "panels: a chart has one"
        )
        raise ConfigError(wrong)
    return _file(fit_width(chart, settings), chart.version, kind, settings.width, dots)


def fit_width(chart: Chart, settings: PrintSettings) -> dict[str, Any]:
    """The specification whose drawing is as wide as it is asked for.  Raises ConfigError where it has no room."""
    room = settings.width * 72
    least, most = NARROWEST, 0.6
    for columns in (None, 2, 1):
        spec = lambda share, columns=columns: _resize_type(chart, settings, share, columns)  # noqa: E731
        narrowest, widest = (_width(spec(share), chart.version) for share in (least, most))
        if narrowest <= room:
            break
    else:
        raise ConfigError(f"{chart.title} has no room at {settings.width:g} in: from {narrowest / 72 + 0.05:.1f} in")
    share = min(least + (room - narrowest) * (most - least) / max(1.0, widest - narrowest), WIDEST)
    while (width := _width(fitted_spec := spec(share), chart.version)) > room and share > NARROWEST:
        share = max(NARROWEST, share * min(0.98, room / width))
    fitted_spec["padding"] = {"left": EDGE, "top": EDGE, "bottom": EDGE, "right": EDGE + room - width}
    return fitted_spec


def _resize_type(chart: Chart, settings: PrintSettings, share: float, columns: int | None = None) -> dict[str, Any]:
    """The chart with type of print size and plots of a share of their width on a page.  columns: where there is little
    room, of legends at most; then panels that stand side by side are stacked, and titles break."""
    lines = textwrap.wrap(chart.title, int(settings.width * 72 / (LETTER * HEADING)))
    title = {"text": lines, "anchor": "start", "fontSize": HEADING, "fontWeight": 700, "offset": 6}
    spec = chart.framed(title if "titles" in settings.show else None, EDGE)
    spec = _walk(spec, lambda name, value, inside: _resize_value(name, value, inside, share))
    if settings.width < LEANING:
        spec = _walk(spec, lambda name, value, inside: -35 if _level(name, value, inside) else value)
    spec = _fold(spec, columns, settings.width * 72) if columns else spec
    config = spec.setdefault("config", {})
    for name, defaults in DEFAULTS.items():
        config[name] = {**defaults, **config.get(name, {})}
    view = config.setdefault("view", {})
    view |= {"continuousWidth": 300 * share, "continuousHeight": 200 * TYPE}
    view |= {"discreteWidth": {"step": 20 * share}, "discreteHeight": {"step": 20 * TYPE}}
    return spec | {"background": "#ffffff" if settings.ground == "white" else "transparent"}


def _fold(part: Any, columns: int, room: float) -> Any:
    """The specification for little room, in points."""
    if isinstance(part, Mapping):
        folded = {
            "vconcat" if name == "hconcat" else name: value if name in KEPT else _fold(value, columns, room)
            for name, value in part.items()
        }
        if part.get("orient") in ("bottom", "top") and "labelAngle" not in part:  # a legend
            folded |= {"columns": columns, "symbolSize": 40, "columnPadding": 5}
            if "gradientLength" in part:
                folded["gradientLength"] = min(part["gradientLength"], LEGEND * room)
            folded |= _break_titles(part, LEGEND * room)
        elif "field" in part and "type" in part:
            folded |= _break_titles(part, AXIS * room)
        return folded | ({"columns": 1} if "facet" in part else {})
    return [_fold(item, columns, room) for item in part] if isinstance(part, list) else part


def _break_titles(part: Mapping[str, Any], room: float) -> dict[str, list[str]]:
    """Its title in lines, where it is longer than its room."""
    title, letters = part.get("title"), int(room / (LETTER * LEAST))
    return (
        {"title": textwrap.wrap(title, letters, break_on_hyphens=False)}
        if isinstance(title, str) and len(title) > letters
        else {}
    )


def _resize_value(name: str, value: Any, inside: Mapping[str, Any], share: float) -> Any:
    """A number of the specification on paper; inside: the key that encloses it."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if name.lower().endswith("fontsize"):
        return max(LEAST, value * TYPE) if number else LEAST
    if isinstance(value, Mapping) and "expr" in value and name in MARKS:
        return {"expr": f"({_on_page(value['expr'])}) * {TYPE:.4f}"}
    if isinstance(value, Mapping) and "expr" in value:
        return {"expr": _on_page(value["expr"])}
    if number and name in ("labelLimit", "gradientLength", "titleLimit", "spacing", "offset"):
        return value * TYPE
    if name in ("width", "height") and SPEC_PARTS & set(inside):
        factor = share if name == "width" else TYPE
        if isinstance(value, Mapping) and "step" in value:
            return {**value, "step": value["step"] * factor}
        return value * factor if number else value
    if number and "type" in inside and name in MARKS:
        return value * TYPE
    return value * TYPE**2 if number and "type" in inside and name == "size" else value


def _on_page(expression: str) -> str:
    """The same with the width that a plot of this size has on a page."""
    return re.sub(r"\bwidth\b", f"(width / {TYPE:.4f})", expression)


def _level(name: str, value: Any, inside: Mapping[str, Any]) -> bool:
    """Whether words stand level below an axis, and not in lines of their own: in a narrow figure they would touch."""
    return name == "labelAngle" and value == 0 and not str(inside.get("labelExpr", "")).startswith("({")


def _walk(part: Any, change: Callable[[str, Any, Mapping[str, Any]], Any]) -> Any:
    """A specification changed throughout, its data left as they are."""
    if isinstance(part, Mapping):
        return {
            name: value if name in KEPT else _walk(change(name, value, part), change) for name, value in part.items()
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
        return repack_png(vl_convert.vegalite_to_png(spec, vl_version=version, ppi=dots))
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=version)
    drawing = vl_convert.vegalite_to_svg(spec, vl_version=version)
    width, height = (_size(drawing, name) for name in ("width", "height"))
    drawing = drawing.replace(f'width="{width:g}"', f'width="{inches:g}in"', 1)
    return drawing.replace(f'height="{height:g}"', f'height="{inches * height / width:.4g}in"', 1).encode()
