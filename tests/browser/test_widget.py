"""The cube as a widget: its module in a browser, with the state that traitlets hold in Python."""

from __future__ import annotations

import numpy as np
import pytest

from triattn_core import draw, trace_of, widget
from triattn_core.errors import ConfigError

traitlets = pytest.importorskip("traitlets", reason="widgets are an extra")
pytest.importorskip("anywidget", reason="widgets are an extra")

WEIGHTS = np.random.default_rng(5).dirichlet(np.ones(20), 3).reshape(3, 4, 5)
TOKENS = {"query": list("abc"), "key": list("defg"), "context": list("hijkl")}
# What a notebook is to a widget: a state, and who hears of its changes.
NOTEBOOK = """async ({ esm, css, state }) => {
  const heard = {};
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => window.save({ cell: state.cell }),
    on: (name, run) => { heard[name] = run; },
    off: (name) => { delete heard[name]; },
    heard,
  };
  window.fromPython = (cell) => { state.cell = cell; heard["change:cell"](); };
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const el = document.body.appendChild(document.createElement("div"));
  window.stop = await (await import(url)).default.render({ model: window.model, el });
}"""


@pytest.fixture
def cube_widget():
    return widget(draw("cube", trace_of(WEIGHTS, tokens=TOKENS, names={"query": "residue i"})))


def test_a_click_is_read_in_python_and_a_cell_of_python_is_drawn(page, cube_widget):
    page.goto("about:blank")
    page.expose_function("save", lambda change: cube_widget.set_trait("cell", change["cell"]))
    state = {"payload": cube_widget.payload, "cell": cube_widget.cell}
    page.evaluate(NOTEBOOK, {"esm": cube_widget._esm, "css": cube_widget._css, "state": state})
    canvas = page.locator("canvas").first
    canvas.wait_for()
    at = lambda: canvas.get_attribute("data-cell")  # noqa: E731
    assert at() == ".".join(map(str, cube_widget.cell))
    first = list(cube_widget.cell)
    canvas.focus()
    page.keyboard.press("ArrowDown" if first[0] < 2 else "ArrowUp")
    page.wait_for_timeout(600)
    assert (
        cube_widget.cell[0] != first[0]
        and cube_widget.cell[1:] == first[1:]
        and at() == ".".join(map(str, cube_widget.cell))
    )
    cell = cube_widget.cell
    expected = {"residue i": "abc"[cell[0]], "key": "defg"[cell[1]], "context": "hijkl"[cell[2]]}
    assert cube_widget.tokens == expected
    cube_widget.cell = [2, 3, 4]
    page.evaluate("(cell) => window.fromPython(cell)", cube_widget.cell)
    canvas = page.locator("canvas").first
    page.wait_for_function("() => document.querySelector('canvas').dataset.cell === '2.3.4'")
    assert page.locator(".inspector .value strong").first.inner_text() == f"{WEIGHTS[2, 3, 4]:.3g}"
    page.evaluate("window.stop()")
    assert page.evaluate("Object.keys(window.model.heard)") == []


def test_a_cell_that_is_not_there_is_refused(cube_widget):
    before = list(cube_widget.cell)
    for cell in ([3, 0, 0], [0, 0], [0, 0, -1]):
        with pytest.raises(traitlets.TraitError, match="positions are 0…2, 0…3, 0…4"):
            cube_widget.cell = cell
    assert cube_widget.cell == before


def test_what_is_no_cube_has_no_widget():
    with pytest.raises(ConfigError, match="no cube"):
        widget(draw("map", trace_of(WEIGHTS[0] / WEIGHTS[0].sum(-1, keepdims=True))))
