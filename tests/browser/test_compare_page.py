"""Compare, two inputs and a user's folder in a real browser, each once, on the trained checkpoints."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.browser.conftest import rest, serve
from triattn_core.checkpoint.registry import VARIABLE, find_checkpoint, list_checkpoints, root
from triattn_core.models.tensors import digest

TRIO = [f"quora-{mechanism}-published" for mechanism in ("bi", "cbi", "tri")]
MINE = "another-seed"
CELL = "canvas[data-cell]"


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Iterator[str]:
    """The app with a user's folder beside the project's checkpoints: Tri as another seed might have left it."""
    there = {entry.name for entry in list_checkpoints() if entry.problem is None}
    if not there.issuperset(TRIO):
        pytest.skip("no trained checkpoints: copy the folder checkpoints/")
    folder = tmp_path_factory.mktemp("mine") / MINE
    shutil.copytree(find_checkpoint(TRIO[2]), folder)
    torch.manual_seed(2)
    tensors = load_file(folder / "model.safetensors")
    tensors = {name: tensor + 0.1 * torch.randn(tensor.shape).to(tensor.dtype) for name, tensor in tensors.items()}
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["training"] |= {"seed": 7, "more_seeds": []}
    config["digest"] = digest(tensors)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    yield from serve(**{VARIABLE: os.pathsep.join([str(root()), str(folder.parent)])})


@pytest.fixture(autouse=True)
def patient(page) -> None:
    """The first page loads torch and the models."""
    page.set_default_timeout(180_000)


def compared(page, own: str, names: list[str]) -> None:
    """The page Compare, whose rows are run where they were not before."""
    page.goto(f"{own}/compare?{'&'.join(f'checkpoints={name}' for name in names)}")
    asks, answer = page.get_by_role("button", name="Run", exact=True), page.get_by_text("Pairwise agreement")
    asks.or_(answer).first.wait_for()
    if asks.count():
        asks.click()
    answer.wait_for()


def test_checkpoints_over_rows_with_a_users_own(page, own):
    compared(page, own, TRIO)
    page.wait_for_selector("text=48 of 48 rows have a label")
    page.locator(".t-table", has_text="Bi and C-Bi").wait_for()
    page.get_by_role("button", name="Checkpoints").click()
    box = page.get_by_role("combobox", name="Two to four of one language")
    box.click()
    box.fill(MINE)
    page.get_by_role("option", name=MINE).wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"td:has-text('{TRIO[2]} and {MINE}'), td:has-text('{MINE} and {TRIO[2]}')")
    page.wait_for_function("(asked) => location.search.includes(asked)", arg=f"checkpoints={MINE}")
    page.locator(".t-table", has_text="training.seed").wait_for()
    page.wait_for_selector("canvas.marks, .vega-embed canvas, .vega-embed svg")  # the losses
    page.goto(page.url)  # a link is the page
    page.wait_for_selector(f"td:has-text('{MINE}')")


@pytest.mark.parametrize("chosen", [TRIO, [*TRIO[:2], MINE]], ids=["published", "others"])
def test_what_is_compared_opens_side_by_side(page, own, chosen):
    compared(page, own, chosen)
    page.get_by_role("link", name="One input: their maps side by side").click()
    page.wait_for_selector(CELL)
    heard = page.locator(CELL).get_attribute("aria-label")
    assert "one for each of Bi, C-Bi, Tri" in heard
    assert page.get_by_text("Choose at least two checkpoints.").count() == 0
    if MINE in chosen:
        page.wait_for_function("(asked) => location.search.includes(asked)", arg=f"checkpoints={MINE}")


def test_the_strongest_keys_and_the_seeds_stand_beside_the_difference(page, own):
    names = "&".join(f"checkpoints={name}" for name in (TRIO[0], TRIO[2]))
    pair = "a=You+may+take+this+medicine+with+milk.&b=You+must+take+this+medicine+with+milk."
    page.goto(f"{own}/side_by_side?{names}&language=English&{pair}")
    page.wait_for_selector(CELL)
    summary = page.locator(".side .sentence")
    assert "strongest keys" in summary.inner_text() and "by chance" in summary.inner_text()
    page.locator(CELL).focus()
    heard = set()
    for key in ["ArrowRight"] * 8 + ["ArrowDown"] + ["ArrowLeft"] * 8:
        page.keyboard.press(key)
        heard.add("no more than between seeds" in summary.inner_text())
    assert heard == {True, False}


def test_two_inputs_are_subtracted_with_gaps(page, own):
    page.goto(f"{own}/side_by_side?compare=inputs&language=English&a=the+red+car&b=the+blue+car")
    page.wait_for_selector(CELL)
    assert page.get_by_label("Sentence B, edited").input_value() == "the red car"
    edited = page.get_by_label("Sentence B, edited")
    edited.fill("the blue car stops")
    edited.press("Enter")
    page.wait_for_selector("text=The edit moves the probability of")
    page.wait_for_function("location.search.includes('b2=the+blue+car+stops')")
    page.wait_for_selector(".side .texts p:nth-child(3)")
    page.get_by_text("the blue car stops").last.wait_for()
    while page.locator(CELL).count() > 1:
        page.wait_for_timeout(100)
    rest(page)  # a figure that comes again begins at its first cell
    page.locator(CELL).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    cells = page.locator(".side tbody tr").first.locator("td").all_inner_texts()
    assert cells[0] == "not there" and "–" in cells
    assert "not there" in page.locator(".side .sentence").inner_text()
    chosen = page.locator(CELL).get_attribute("data-cell")
    page.goto(page.url)
    page.wait_for_selector(CELL)
    assert page.get_by_label("Sentence B, edited").input_value() == "the blue car stops"
    assert chosen.endswith(".3")
