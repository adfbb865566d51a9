"""A link, `--set` and a manifest say the same of a view: each reads what the other writes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.card_checkpoints import cases
from triattn_core.errors import ConfigError
from triattn_core.scenes import cli_settings
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.links import ALIASES, read_link, write_link
from triattn_core.scenes.settings import validate_settings

PAGES = ("cube", "side_by_side", "mtsa", "tensor", "coin", "similarity", "context", "attribute")
TASKS = {"pairs": "pairs", "dialogue": "dialogue", "reading": "reading", "trec": "sentences", "quora": "pairs"}
NOT_IN_A_LINK = {"edited", "difference", "seeds", "titles"}  # texts, and what follows from the checkpoints


def of_links() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """(view, task, settings) of the cases whose page takes part."""
    return {
        name: (view, TASKS.get(checkpoints[0].split("-")[0], "questions"), settings)
        for name, (view, checkpoints, _, settings) in cases().items()
        if view in PAGES
    }


@pytest.mark.parametrize("name", of_links())
def test_what_a_link_says_is_read_as_the_settings_that_wrote_it(name: str) -> None:
    view, task, given = of_links()[name]
    kind = SCENES[view].settings
    settings = validate_settings(kind, given, view)
    link = write_link(settings, task)
    result = validate_settings(kind, cli_settings.read(kind, [f"{n}={text}" for n, text in link.items()], task), view)
    assert result == settings.model_copy(update=dict.fromkeys(NOT_IN_A_LINK & kind.model_fields.keys()))


LINKS = {
    "cube": (
        {"layer": "2", "direction": "turn over candidate", "head": "mean", "sinks": "1.5 × even", "cell": "0.3.12"},
        "dialogue",
        {"site": "layer.1/a_over_b/weight", "head": None, "sinks": 1.5, "cell": (0, 3, 12)},
    ),
    "side_by_side": (
        {"direction": "B over A", "quantity": "relevance", "query-as": "words", "phrases": "a bat | my team"},
        "pairs",
        {"site": "layer.0/b_over_a/relevance", "query": "words", "phrases": ("a bat", "my team")},
    ),
    "mtsa": (
        {"of": "hypothesis", "layer": "1", "heads": "all 3", "tokens-as": "words"},
        "inference",
        {"layer": "hypothesis/layer.0", "heads": (1, 2, 3), "features": False, "tokens": "words"},
    ),
    "coin": ({"off": "block 2", "gate": "per feature"}, "pairs", {"off": "layer.1", "features": True}),
    "context": ({"at": "3  U.S.", "direction": "B over A"}, "pairs", {"cell": (3,), "direction": "b_over_a"}),
    "similarity": (
        {"scale": "shared", "part": "the answer", "passage-as": "sentences", "question-as": "words"},
        "questions",
        {"shared": True, "part": None, "passage": "sentences"},
    ),
}


@pytest.mark.parametrize("view", LINKS)
def test_the_texts_of_a_link_are_read(view: str) -> None:
    """As pages write them into the address."""
    link, task, expected = LINKS[view]
    kind = SCENES[view].settings
    read = validate_settings(kind, cli_settings.read(kind, [f"{n}={text}" for n, text in link.items()], task), view)
    dumped = read.model_dump()
    assert {name: dumped[name] for name in expected} == expected


def test_both_spellings_are_read_and_no_third() -> None:
    kind = SCENES["cube"].settings
    assert read_link(kind, {"query": "words"}, "pairs") == read_link(kind, {"query-as": "words"}, "pairs")
    with pytest.raises(ConfigError, match="no setting 'queries-as'"):
        validate_settings(kind, read_link(kind, {"queries-as": "words"}, "pairs"), "cube")
    with pytest.raises(ConfigError, match="layer=last: expected a number from 1"):
        read_link(kind, {"layer": "last"}, "pairs")
    assert set(ALIASES.values()) <= {name for page in PAGES for name in SCENES[page].settings.model_fields}


@pytest.mark.parametrize("view", ("cube", "side_by_side"))
@pytest.mark.parametrize(
    "site", ("", "-1", "0", "%s%n{}", "a/b", "layer.x/a_over_b/weight", "layer.0/sideways/weight", "a/b/c/d")
)
def test_a_site_that_is_none_is_one_line(view: str, site: str) -> None:
    kind = SCENES[view].settings
    with pytest.raises(ConfigError, match="expected a site such as layer.0/a_over_b/weight"):
        write_link(validate_settings(kind, {"site": site}, view), "pairs")
    with pytest.raises(ConfigError, match="expected a site such as"):
        read_link(kind, {"site": site, "layer": "1"}, "pairs")


@pytest.mark.parametrize("heads", ("all ", "all of them", "all 99999999999"))
def test_a_count_of_heads_that_is_none_is_one_line(heads: str) -> None:
    with pytest.raises(ConfigError, match="expected a number after all"):
        read_link(SCENES["mtsa"].settings, {"heads": heads}, "sentences")
