"""The case card of each page: asked for by nobody it is not made; what is in it is what the page shows."""

from __future__ import annotations

import json
import shlex
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from pages.shared import export
from pages.shared.models import MODELS
from tests.app.test_pages import payloads
from tests.support.card_checkpoints import ASKED, COIN, READ, cases, use_checkpoints
from tests.support.pages import app_test, at_page
from triattn_core.__main__ import main
from triattn_core.case_card import draw
from triattn_core.case_card.rendered import RenderedView
from triattn_core.scenes import cli_settings
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.settings import validate_settings
from triattn_core.tasks import pairs, sentences

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
NO_SETTINGS = {"a", "b", "a2", "b2", "text", "passage", "question", "task", "checkpoints"}  # of a link
# Of a page of charts: its link, and the settings of its card.
CHARTS = {
    "context": (
        {**PAIR, "layer": "2", "head": "2", "direction": "B over A", "by": "context", "at": "9  movie"},
        {"layer": 2, "head": 2, "direction": "b_over_a", "by": "context", "cell": (9,)},
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
NOT_THE_SAME = {
    "blocks",
    "exact",
    "facts",
    "caption",
    "counted",
    "costed",
    "unfolded",
}  # of a saved figure or a page alone


@pytest.fixture(scope="module", autouse=True)
def there(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("cards")) as folder:
        yield folder


@pytest.mark.parametrize("page", CHARTS)
def test_a_card_of_charts_says_what_the_page_says(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    link, settings = CHARTS[page]
    asked = []
    make = export.Saved
    monkeypatch.setattr(export, "Saved", lambda *parts: asked.append(parts) or make(*parts))
    app = app_test(290)
    for key, value in {**link, "checkpoint": "pairs-tri"}.items():
        app.query_params[key] = value
    app = at_page(app, page).run()
    assert not app.exception and not app.error and not app.info, [one.value for one in (*app.error, *app.info)]
    ((view, cards, example, chosen),) = asked
    rendering = draw(view, [card.name for card in cards], example, MODELS, **chosen())
    assert {name: getattr(rendering.settings, name) for name in settings} == settings and view == page
    page_text = unescape(" ".join(element.proto.body for element in app.get("html")))
    alts = [figure.alt for figure in rendering.figures.values()]
    for alt in {chart.proto.alt for chart in app.get("vega_lite_chart")}:
        assert alt in page_text and any(alt in one for one in alts), alt
    if page == "attribute":
        assert all(one.split(" [CLS]")[0].split(" Integrated gradients: ")[0] in page_text for one in alts)
    (command,) = (code.value for code in app.code if code.value.startswith(f"triattn card {page} pairs-tri row.json "))
    asked = shlex.split(command)
    read = cli_settings.read(SCENES[page].settings, asked[asked.index("--set") + 1 : asked.index("--out")])
    again = draw(page, "pairs-tri", example, **read)
    assert again.settings == rendering.settings
    same_rows(again.table, rendering.table)


def same_rows(table: pd.DataFrame, other: pd.DataFrame) -> None:
    """Whatever order equal weights come in: a last digit may differ between threads."""
    numbers = [name for name in table if pd.api.types.is_float_dtype(table[name])]
    by = [name for name in table if name not in numbers]
    sides = (one.sort_values(by).reset_index(drop=True) for one in (table, other))
    pd.testing.assert_frame_equal(*sides, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", LINKS)
def test_a_card_has_the_figure_and_the_cell_of_the_page(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    cards: list[RenderedView] = []
    asked = []
    make = export.Saved
    monkeypatch.setattr(RenderedView, "case_card", lambda self: cards.append(self) or b"")
    monkeypatch.setattr(export, "Saved", lambda *parts: asked.append(make(*parts)) or asked[-1])
    app = app_test(290)
    for key, value in LINKS[name].items():
        app.query_params[key] = value
    app = at_page(app, name.partition(",")[0]).run()
    assert not app.exception and not app.error, [error.value for error in app.error]
    assert not cards, "nobody has asked for it"
    asked[-1]()
    (card,) = cards
    drawn = payloads(app)
    for canvas in card.figures.values():
        page = next(one for one in drawn if one.get("alt") == canvas.payload["alt"])
        cell = canvas.payload["cell"]
        if above := page.get("above"):  # the page also says how long the model took
            above["aside"] = above["aside"].partition("; ")[0]
        # A page has levels of the colour scale, a saved figure the numbers.
        page = json.loads(json.dumps(page).replace(json.dumps("≈ {levels:level}")[1:-1], "{values}"))
        for field in page.keys() - NOT_THE_SAME - {"cell", "panels", "stamp"}:
            assert page[field] == canvas.payload[field], field
        for panel, other in zip(page.get("panels", ()), canvas.payload.get("panels", ())):
            arrays = {name: other.get("arrays", {})[name] for name in panel.get("arrays", ())}
            same = {field: other[field] for field in panel}
            assert panel == same | ({"arrays": arrays} if arrays else {})
        if "cell" in LINKS[name] and canvas is next(iter(card.figures.values())):
            assert ".".join(map(str, cell)) == LINKS[name]["cell"]
    assert card.figures
    if name == "tensor":
        assert card.figures["clusters"].payload["cell"][:2] == [1, 0], "the pair that is chosen above"
    (command,) = (shlex.split(code.value) for code in app.code if code.value.startswith("triattn card "))
    view, start = command[2], command.index("row.json")
    typed_in = command[start + 2 : command.index("--out")]  # after --set, where there is one
    again = draw(view, command[3:start], asked[-1].example, **cli_settings.read(SCENES[view].settings, typed_in))
    kind, task = SCENES[view].settings, card.task
    link = [f"{parameter}={text}" for parameter, text in LINKS[name].items() if parameter not in NO_SETTINGS]
    settings = validate_settings(kind, cli_settings.read(kind, link, task), view)
    assert {field: getattr(settings, field) for field in settings.model_fields_set} == {
        field: getattr(card.settings, field) for field in settings.model_fields_set
    }, "the link and the manifest say the same"
    opens = {"cell": again.settings.cell}
    assert again.settings == card.settings.model_copy(update=opens)
    same_rows(again.table, card.table)


CELLS = {
    "mean of heads": (
        "cube",
        {"layer": "2", "head": "mean", "direction": "B over A", "cell": "1.2.3"},
        {},
        "layer.1/b_over_a/weight",
    ),
    "relevance": ("cube", {"head": "2", "quantity": "relevance", "cell": "0.1.2"}, {}, "layer.0/a_over_b/relevance"),
    "in words": (
        "cube",
        {"head": "2", "query-as": "words", "cell": "1.2.3"},
        {"query": "words"},
        "layer.0/a_over_b/weight",
    ),
    "mtsa": ("mtsa", {"heads": "2 and 4", "cell": "3.1.1.0"}, {}, "layer.0/token2token/weight"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_command_prints_the_cell_that_is_shown(capsys: pytest.CaptureFixture, tmp_path: Path, name: str) -> None:
    page, link, units, site = CELLS[name]
    example, texts = (cases()["cube"][2], PAIR) if page == "cube" else (ASKED, {"text": ASKED.text})
    app = app_test(290)
    for key, value in {**texts, **link}.items():
        app.query_params[key] = value
    app = at_page(app, page).run()
    assert not app.exception and not app.error, [error.value for error in app.error]
    (command,) = (shlex.split(code.value) for code in app.code if code.value.startswith("triattn explain "))
    (tmp_path / "row.json").write_text(json.dumps((sentences if page == "mtsa" else pairs).row(example)))
    assert main(["explain", command[2], str(tmp_path / "row.json"), *command[4:], "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    array = draw(page, command[2], example, **units).trace.site(site)
    array = array.mean("head") if name == "mean of heads" else array.isel(head=3 if page == "mtsa" else 1)
    at = [int(place) for place in link["cell"].split(".")][: array.ndim]
    assert cell["value"] == pytest.approx(float(array.values[tuple(at)]), abs=1e-7)
