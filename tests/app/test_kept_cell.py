"""The chosen cell stays on its tokens when a text is edited."""

from __future__ import annotations

import re

import pytest

from pages.shared.kept_cell import place
from tests.app.test_pages import opened, payloads, sound, texts

pytestmark = pytest.mark.usefixtures("use_small_checkpoints")


def positions(text: str) -> dict[int, str]:
    return dict(enumerate(text.split()))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("Which old browser can play it", 4),  # the token itself, further on
        ("Which browser can download it", 3),  # what replaced it
        ("Which browser can it", None),  # left out
        ("my dog likes very cold rivers", None),  # another text
        ("play", 0),
        ("", None),
    ],
)
def test_where_a_token_stands_after_an_edit(after: str, expected: int | None) -> None:
    assert place(3, positions("Which browser can play it"), positions(after)) == expected


def in_link(app, name: str) -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[-1]


def tokens(app, page: str) -> list[str]:
    """The tokens of the cell in the URL."""
    canvas = next(payload for payload in payloads(app) if "axes" in payload)
    names = [canvas["axes"][axis]["name"] for axis in canvas.get("order", canvas["axes"])]
    cell = [int(i) for i in in_link(app, "cell").split(".")]
    return [name[i] for name, i in zip(names, cell)]


@pytest.mark.parametrize(("page", "cell"), [("cube", "1.2.3"), ("side_by_side", "1.2")])
def test_an_edit_keeps_the_tokens_and_another_text_does_not(page: str, cell: str) -> None:
    app = sound(opened(page, wait=400, a="the old dog barks", b="a small cat sleeps", cell=cell))
    before = tokens(app, page)
    app = sound(app.text_area(key="a").set_value("now the old dog barks").run())
    assert tokens(app, page) == before and in_link(app, "cell") != cell
    app = sound(app.text_area(key="a").set_value("many rivers ran dry").run())
    assert "cell" not in app.query_params


def test_the_chosen_candidate_stays_when_a_turn_is_edited() -> None:
    app = sound(opened("cube", wait=400, task="Dialogue", option="2", edit="true"))
    app = sound(app.text_area(key="write-turns").set_value("it does not start\nwhich card is it").run())
    assert in_link(app, "option") == "2"
    app = sound(app.text_area(key="write-candidates").set_value("look at the fan\ntry another card").run())
    assert "option" not in app.query_params


EDIT = "now the old dog barks", "many rivers ran dry"


def test_an_edit_keeps_the_context_token_and_another_text_opens_anew() -> None:
    app = sound(opened("context", wait=400, a="the old dog barks", b="a small cat sleeps", at="3"))
    picker = app.selectbox(key="at")
    assert picker.options[picker.index] == "3  dog"
    app = sound(app.text_area(key="a").set_value(EDIT[0]).run())
    picker = app.selectbox(key="at")
    assert (picker.value, picker.options[picker.index]) == (4, "4  dog")
    assert any("With “dog” as context" in chart.proto.alt for chart in app.get("vega_lite_chart"))
    app.text_area(key="b").set_value("we swim")
    app = sound(app.text_area(key="a").set_value(EDIT[1]).run())
    anew = opened("context", wait=400, a=EDIT[1], b="we swim")
    assert app.selectbox(key="at").value == anew.selectbox(key="at").value


def test_an_edit_keeps_the_units_on_their_tokens() -> None:
    chosen = lambda: next(group for group in app.button_group if group.label.startswith("Context: click")).value  # noqa: E731
    app = sound(opened("intervene", wait=400, a="the old dog barks", b="a small cat sleeps", units="token 3"))
    assert chosen() == ["token 3"]
    app = sound(app.text_area(key="a").set_value(EDIT[0]).run())
    assert chosen() == ["token 4"] and "Without “dog”" in texts(app)
    app.text_area(key="b").set_value("we swim")
    app = sound(app.text_area(key="a").set_value(EDIT[1]).run())
    again = chosen()
    app = sound(opened("intervene", wait=400, a=EDIT[1], b="we swim"))
    assert again == chosen()


def test_units_that_nobody_chose_are_chosen_again_for_another_text() -> None:
    chosen = lambda: next(group for group in app.button_group if group.label.startswith("Context: click")).value  # noqa: E731
    app = sound(opened("intervene", wait=400, a=EDIT[0], b="a small cat sleeps"))
    app = sound(app.text_area(key="a").set_value(f"{EDIT[0]} in the garden").run())
    assert "units" not in app.query_params
    again = chosen()
    app = sound(opened("intervene", wait=400, a=f"{EDIT[0]} in the garden", b="a small cat sleeps"))
    assert again == chosen()


def test_an_edit_keeps_the_token_that_attribute_frames() -> None:
    link = {"a": "the old dog barks", "b": "a small cat sleeps"}
    app = sound(opened("attribute", wait=400, token="A: dog", **link))
    framed = lambda: re.findall(r"\.token-(\d+) {outline", texts(app))  # noqa: E731
    before = framed()
    app = sound(app.text_area(key="a").set_value(EDIT[0]).run())
    assert app.selectbox(key="token").value == int(before[0]) + 1 and framed() == [str(int(before[0]) + 1)]
    assert re.search(rf'class="[^"]*token-{framed()[0]}"[^>]*>dog<', texts(app))
    app = sound(app.text_area(key="a").set_value(EDIT[1]).run())
    assert (
        app.selectbox(key="token").value
        == opened("attribute", wait=400, **{**link, "a": EDIT[1]}).selectbox(key="token").value
    )
