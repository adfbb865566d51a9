"""A link that says settings by their own names, as `--set` has them, opens what the page's own parameters open."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import opened, sound

pytestmark = pytest.mark.usefixtures("use_small_checkpoints")

TEXTS = {"a": "Which browsers play movies?", "b": "Which browser can?"}
LINKS = {
    "cube": (
        {"site": "layer.1/b_over_a/relevance", "query": "words"},
        {"layer": "2", "direction": "B over A", "quantity": "relevance", "query-as": "words", "head": "mean"},
    ),
    "context": (
        {"direction": "b_over_a", "layer": "2", "head": "2", "cell": "3"},
        {"direction": "B over A", "layer": "2", "head": "2", "at": "3"},
    ),
}


def commands(app: AppTest) -> list[str]:
    return [code.value for code in app.code]


@pytest.mark.parametrize("page", LINKS)
def test_both_spellings_open_the_same(page: str) -> None:
    own, of_page = LINKS[page]
    first, second = (sound(opened(page, wait=400, **TEXTS, **link)) for link in (own, of_page))
    assert commands(first) == commands(second) != []
    assert not first.info and not second.info


MISFITS = [
    ("cube", {"query": "letters"}, "“query” is 'letters'"),
    ("cube", {"site": ""}, "“site” is empty"),
    ("cube", {"site": "layer.9", "query": "words"}, "“site” is 'layer.9'"),
]


@pytest.mark.parametrize(("page", "link", "part"), MISFITS)
def test_a_setting_that_does_not_fit_is_said_in_a_sentence(page: str, link: dict, part: str) -> None:
    app = opened(page, wait=400, **TEXTS, **link)
    (text,) = (info.value.replace("\\", "") for info in app.info)
    assert text == f"In the link {part}, which cannot be used on this page; it opens without." and not app.exception


@pytest.mark.parametrize("cell", ["2.1.3", "2"])
def test_a_cell_leads_to_no_other_link(cell: str) -> None:
    app = opened("cube", wait=200, **TEXTS, cell=cell)
    assert not app.exception and commands(app)
