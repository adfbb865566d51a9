"""The case card of each page: asked for by nobody it is not made; what is in it is what the page shows."""

from __future__ import annotations

import shlex
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.common import shared
from tests.app.test_pages import payloads
from tests.card_shelf import ASKED, COIN, READ, cases, shelf
from triattn_core.case_card import VIEWS, draw, typed
from triattn_core.case_card.drawn import Drawn

APP = str(Path(__file__).parents[2] / "app.py")
PAIR = {"a": cases()["cube"][2].text_a, "b": cases()["cube"][2].text_b}
MANY = {"checkpoints": ["pairs-bi", "pairs-tri"], **PAIR, "layer": "2", "head": "1", "quantity": "relevance"}
LINKS = {
    "cube": {**PAIR, "layer": "2", "head": "2", "direction": "B over A", "hide": "true", "cell": "1.2.3"},
    "side_by_side": {**MANY, "cell": "2.3"},
    "side_by_side, inputs": {"compare": "inputs", **PAIR, "a2": PAIR["a"], "b2": "what red movie is big"},
    "side_by_side, options": {"task": "Reading comprehension", "compare": "options", "head": "1"},
    "mtsa": {"text": ASKED.text, "quantity": "relevance", "heads": "2 and 4"},
    "tensor": {"text": ASKED.text, "head": "3", "clusters": "2", "cell": "1.0.4"},
    "coin": {"a": COIN.text_a, "b": COIN.text_b, "direction": "B over A", "off": "block 2", "gate": "per feature"},
    "similarity": {"passage": READ.passage, "question": READ.question, "quantity": "weight", "scale": "shared"},
}
# Of a page of charts: its link, and the settings of its card.
CHARTS = {
    "context": (
        {**PAIR, "layer": "2", "head": "2", "direction": "B over A", "by": "context", "at": "10  movie"},
        {"layer": 2, "head": 2, "way": "b_over_a", "by": "context", "cell": (9,)},
    ),
    "intervene": (
        {**PAIR, "how": "mask", "units": ["token 2", "token 5"], "layer": "2", "null": "shuffled", "draws": "20"},
        {"how": "mask", "units": ("token 2", "token 5"), "layer": 2, "head": None, "null": "shuffled", "draws": 20},
    ),
    "attribute": (
        {**PAIR, "steps": "16", "fold": "word pieces", "ranks": "A", "method": "rollout"},
        {"steps": 16, "fold": "word pieces", "ranks": "query", "method": "rollout", "draws": 20, "seed": 0},
    ),
}
NOT_THE_SAME = {"exact", "facts", "caption", "counted"}  # what only a saved figure has, and seconds


@pytest.fixture(scope="module", autouse=True)
def there(tmp_path_factory):
    with shelf(tmp_path_factory.mktemp("cards")) as folder:
        yield folder


@pytest.mark.parametrize("page", CHARTS)
def test_a_card_of_charts_says_what_the_page_says(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    link, settings = CHARTS[page]
    asked = []
    make = shared.card
    monkeypatch.setattr(shared, "card", lambda *parts: asked.append(parts) or make(*parts))
    app = AppTest.from_file(APP, default_timeout=290)
    for key, value in {**link, "checkpoint": "pairs-tri"}.items():
        app.query_params[key] = value
    app = app.switch_page(f"pages/{page}.py").run()
    assert not app.exception and not app.error and not app.info, [one.value for one in (*app.error, *app.info)]
    ((view, cards, example, chosen),) = asked
    found = draw(view, [one.name for one in cards], example, shared.SHARED, **chosen())
    assert {name: getattr(found.settings, name) for name in settings} == settings and view == page
    said = unescape(" ".join(one.proto.body for one in app.get("html")))
    told = [one.alt for one in found.figures.values()]
    over = [] if page != "context" else [one.proto.alt for one in app.get("vega_lite_chart")][-1:]  # over many rows
    for alt in {one.proto.alt for one in app.get("vega_lite_chart")} - set(over):
        assert alt in said and any(alt in one for one in told), alt
    if page == "attribute":
        assert all(one.split(" [CLS]")[0].split(" Integrated gradients: ")[0] in said for one in told)
    (command,) = (one.value for one in app.code if one.value.startswith(f"triattn card {page} pairs-tri row.json "))
    asked = shlex.split(command)
    read = typed.read(VIEWS[page].settings, asked[asked.index("--set") + 1 : asked.index("--out")])
    again = draw(page, "pairs-tri", example, **read)
    assert again.settings == found.settings and again.table.equals(found.table)


@pytest.mark.parametrize("name", LINKS)
def test_a_card_has_the_figure_and_the_cell_of_the_page(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    cards: list[Drawn] = []
    asked = []
    make = shared.card
    monkeypatch.setattr(Drawn, "card", lambda self: cards.append(self) or b"")
    monkeypatch.setattr(shared, "card", lambda *parts: asked.append(make(*parts)) or asked[-1])
    app = AppTest.from_file(APP, default_timeout=290)
    for key, value in LINKS[name].items():
        app.query_params[key] = value
    app = app.switch_page(f"pages/{name.partition(',')[0]}.py").run()
    assert not app.exception and not app.error, [one.value for one in app.error]
    assert not cards, "nobody has asked for it"
    asked[-1]()
    (found,) = cards
    drawn = payloads(app)
    for canvas in found.figures.values():
        page = next(one for one in drawn if one.get("alt") == canvas.payload["alt"])
        cell = canvas.payload["cell"]
        for field in page.keys() - NOT_THE_SAME - {"cell", "panels", "stamp"}:
            assert page[field] == canvas.payload[field], field
        for one, other in zip(page.get("panels", ()), canvas.payload.get("panels", ())):
            assert {field: one[field] for field in one} == {field: other[field] for field in one}
        if "cell" in LINKS[name] and canvas is next(iter(found.figures.values())):
            assert ".".join(map(str, cell)) == LINKS[name]["cell"]
    assert found.figures
    if name == "tensor":
        assert found.figures["clusters"].payload["cell"][:2] == [1, 0], "the pair that is chosen above"
