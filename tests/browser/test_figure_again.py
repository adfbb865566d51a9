"""A figure that a page draws again, with what it now has, while somebody steps through its cells."""

from __future__ import annotations

import pytest

from tests.support import dendrogram
from tests.unit.test_views_cube import CONTEXT, WEIGHT, A, B, head, make
from triattn_core.trace.distribution import Distribution
from triattn_core.views import cube
from triattn_core.views.lib.canvas import Canvas

DRAW = """(payload) => {
  const root = document.body.appendChild(document.createElement("div"));
  window.told = [];
  const host = { key: "figure", send: (name, value) => told.push([name, [...value]]) };
  window.draw = () => void mount(root, payload, host);
  window.press = (key) =>
    root.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  draw();
}"""
ANSWER = """(answer) => {
  window.triattnExact = { figure: answer };
  window.dispatchEvent(new Event("triattn-exact"));
}"""
CANVAS = "canvas[data-cell]"


def cube_figure() -> Canvas:
    return cube.figure(Distribution(make(A, B, CONTEXT), head(0)), start_cell=(0, 0, 0))


def map_figure() -> Canvas:
    trace = make(A, B, CONTEXT, heads=1)
    return dendrogram.figure(trace.sites[WEIGHT].isel(head=0).sum("context"), dict(trace.texts))


def draw(page, figure: Canvas) -> None:
    page.goto("about:blank")
    page.add_style_tag(content=figure.style)
    page.add_script_tag(content=figure.script)
    page.evaluate(DRAW, dict(figure.payload))
    page.locator(CANVAS).focus()


def chosen(page) -> list[int]:
    return [int(i) for i in page.locator(CANVAS).get_attribute("data-cell").split(".")]


@pytest.mark.parametrize("figure", [cube_figure, map_figure])
def test_the_page_is_told_of_a_cell_that_was_chosen_just_before(page, figure):
    draw(page, figure())
    first = chosen(page)
    page.evaluate("press('ArrowDown'), draw()")  # in one task: no timer can run between them
    page.wait_for_function("told.length", timeout=10_000)
    assert page.evaluate("told") == [["cell", [first[0] + 1, *first[1:]]]] == [["cell", chosen(page)]]


@pytest.mark.parametrize("figure", [cube_figure, map_figure])
def test_keys_go_on_where_they_were(page, figure):
    draw(page, figure())
    first = chosen(page)
    page.keyboard.press("ArrowDown")
    page.evaluate("draw()")
    page.keyboard.press("ArrowRight")
    assert chosen(page) == [first[0] + 1, first[1] + 1, *first[2:]]
    page.wait_for_function("(cell) => String(told.at(-1)?.[1]) === String(cell)", arg=chosen(page), timeout=10_000)


def test_an_older_answer_does_not_move_the_cell_back(page):
    figure = cube_figure()
    draw(page, figure)
    older, newer = (
        {"stamp": figure.payload["inspector"]["stamp"], "cell": cell, "numbers": {"weight": weight}}
        for cell, weight in (([0, 0, 0], 0.125), ([1, 0, 0], 0.25))
    )
    page.evaluate(ANSWER, older)
    page.evaluate("press('ArrowDown'), draw()")
    page.evaluate(ANSWER, older)
    assert chosen(page) == [1, 0, 0]
    page.evaluate(ANSWER, newer)
    assert chosen(page) == [1, 0, 0] and page.locator(".value strong").inner_text() == "0.250"
