"""A figure as a widget of Jupyter, marimo and VS Code, whose chosen cell Python reads and sets: `widget`.

It needs anywidget: `pip install -e '.[notebook]'`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from triattn_core.errors import ConfigError
from triattn_core.trace import AttentionTrace
from triattn_core.views import cube
from triattn_core.views.lib.canvas import Canvas, style
from triattn_core.views.lib.figure import figure_script

if TYPE_CHECKING:
    from triattn_core.case_card.rendered import RenderedView

NEEDED = "widgets need anywidget: pip install -e '.[notebook]' in the project's folder"
_MODULE = """
function render({ model, el }) {
  const root = el.appendChild(document.createElement("div"));
  const host = {
    send(name, value) {
      if (name !== "cell") return;
      model.set("cell", Array.from(value));
      model.save_changes();
    },
  };
  let stop = mount(root, model.get("payload"), host);
  const follow = () => {
    const cell = model.get("cell");
    if (String(cell) === String(root.triattn.cell)) return;
    root.triattn.cell = cell;
    stop = mount(root, { ...model.get("payload"), cell }, host);
  };
  model.on("change:cell", follow);
  return () => {
    model.off("change:cell", follow);
    stop();
  };
}
export default { render };
"""


def widget(rendered: RenderedView | AttentionTrace, name: str | None = None) -> Any:
    """A drawn cube as a widget: `view = widget(draw("cube", trace))`, or `widget(trace)`; then `view.cell`,
    `view.tokens`.

    >>> weights = [[[0.5, 0.25], [0.25, 0.0]], [[0.25, 0.25], [0.25, 0.25]]]
    >>> view = widget(draw("cube", trace_of(weights, axes=("query", "key", "context"), tokens=["red", "car"])))
    >>> view.cell, view.tokens["query"]
    ([0, 0, 0], 'red')

    name: of one figure among several, by default the first.  Raises ConfigError where anywidget is not installed, or
    the figure is no cube.
    """
    if isinstance(rendered, AttentionTrace):
        from triattn_core.case_card import draw

        rendered = draw("cube", rendered)
    figures = rendered.figures
    if name is not None and name not in figures:
        raise ConfigError(f"no figure {name!r}: there is {', '.join(figures)}")
    canvas = figures[name or next(iter(figures))]
    if not isinstance(canvas, Canvas) or "inspector" not in canvas.payload:
        raise ConfigError(f"{rendered.view} has no cube: a widget shows the figures of the views cube and tensor")
    return _widget_class()(canvas)


@cache
def _widget_class() -> type:
    """The class, made when it is first asked for: anywidget is an extra.  Raises ConfigError without it."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ConfigError(NEEDED) from None

    class CubeWidget(anywidget.AnyWidget):
        """A cube.  cell: the positions of the chosen cell in the trace, one for each axis."""

        _esm = figure_script() + _MODULE
        _css = style(*cube.STYLE)
        payload = traitlets.Dict().tag(sync=True)
        cell = traitlets.List(traitlets.Int()).tag(sync=True)

        def __init__(self, canvas: Canvas):
            self._axes = canvas.axes
            super().__init__(payload=dict(canvas.payload), cell=list(map(int, canvas.cell)))

        @traitlets.validate("cell")
        def _is_shown(self, proposal: Mapping) -> list[int]:
            cell = proposal["value"]
            axis_positions = [axis.positions for axis in self._axes]
            if len(cell) != len(axis_positions) or not all(
                i in positions for i, positions in zip(cell, axis_positions)
            ):
                ends = ", ".join(f"{min(positions)}…{max(positions)}" for positions in axis_positions)
                raise traitlets.TraitError(f"there is no cell {cell}: positions are {ends}")
            return cell

        @property
        def tokens(self) -> dict[str, str]:
            """The token of the chosen cell on each axis, by the axis's label."""
            return {axis.label: axis.words[axis.positions.index(i)] for axis, i in zip(self._axes, self.cell)}

    return CubeWidget
