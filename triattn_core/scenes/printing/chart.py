"""An Altair chart for a paper: at a stated width, with no type below seven points.

A unit of Vega-Lite is a point on paper.  Type shrinks from the size of a page to that of print, plots to what the width
leaves them; what they show is the same.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping
from math import ceil, radians, sin
from typing import Any

from triattn_core.errors import ConfigError
from triattn_core.scenes.charts import Chart, repack_png
from triattn_core.scenes.printing.settings import DOTS, PrintSettings
from triattn_core.views.charts.grids import LONGEST, MARK
from triattn_core.views.lib.number_format import ending

LEAST, HEADING = 7.0, 8.0  # points
TYPE = LEAST / 11  # of a page's smallest type
LETTER = 0.56  # of a size of type, about
LEANING = 4.5  # inches, below which words along an axis lean
LINE = 1.2 * LEAST  # points that a line of labels takes
ANGLES = (-35, -60, -90)  # of labels that lean, as few degrees as there is room for
PLOT = 0.8  # of the width, what an axis of labels has at least
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
    for _ in range(2):  # a long title makes the narrowest one wider than its plots
        if (width := _width(spec(share), chart.version)) < room and most > share:
            share += (room - width) * (most - share) / max(1.0, widest - width)
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
        spec = _walk(spec, lambda name, value, inside: _lean(name, value, inside, settings.width * 72))
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


def _lean(name: str, value: Any, inside: Mapping[str, Any], room: float) -> Any:
    """The angle of words below an axis, which would touch in a narrow figure, but for those in lines of their own; and
    of many tokens the labels that have room.  room: points of the figure."""
    labels = str(inside.get("labelExpr", ""))
    count = count_labels(labels)
    if name == "labelExpr" and "labelAngle" in inside and (every := label_step(count, room)) > 1:
        return f"datum.value % {every} ? '' : {value}"
    if name != "labelAngle" or labels.startswith("({") or value not in (0, -45):
        return value
    step = PLOT * room / count if count else 0.0
    if not count or inside.get("orient") == "top":
        return value or ANGLES[0]
    return next((angle for angle in ANGLES if step >= LINE / -sin(radians(angle))), ANGLES[-1])


def label_step(count: int, room: float) -> int:
    """Every how many of so many tokens along an axis has a label.  room: points of the figure."""
    return max(1, ceil(count * LINE / (PLOT * room)))


def label_note(chart: Chart, settings: PrintSettings) -> str:
    """What the caption says of the labels along an axis of tokens: which are left out, and which shortened; empty where
    all are whole."""
    labels = [text for text in _label_expressions(chart.spec) if count_labels(text)]
    narrow = settings.width < LEANING
    every = label_step(max(map(count_labels, labels), default=0), settings.width * 72) if narrow else 1
    said = [f"every {every}{ending(every)} token is named"] if every > 1 else []
    said += [f"labels of more than {LONGEST} letters end in …"] if any("\\u2026" in text for text in labels) else []
    return "; ".join(said)


def count_labels(expression: str) -> int:
    """Of how many tokens an expression of `grids.label_expression` has the labels; 0 for another."""
    return expression.count(json.dumps(MARK)[1:-1])


def _label_expressions(part: Any) -> list[str]:
    """Those of the axes across of a specification."""
    parts = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
    own = [part["labelExpr"]] if isinstance(part, Mapping) and {"labelExpr", "labelAngle"} <= part.keys() else []
    return own + [text for inner in parts for text in _label_expressions(inner)]


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
