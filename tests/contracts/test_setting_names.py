"""One setting, one name: in `Settings`, after `--set`, in a link; what links call otherwise is in their table."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import pytest

from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.links import ALIASES, read_link, write_link
from triattn_core.scenes.settings import ViewSettings, validate_settings

# What links do not have, or have in parts: texts, checkpoints, and the site of a layer, a direction and a quantity.
NOT_ALONE = {"site", "edited", "other", "text", "difference", "seeds", "titles", "layer", "head", "heads"}
VALUES: dict[str, Any] = {
    "null": "uniform",
    "becomes": "off",
    "in_sides": ("cross",),
}  # of settings whose type does not say what they can be


FIELDS = [(view, name) for view, scene in SCENES.items() for name in scene.settings.model_fields]
ALONE = [(view, name) for view, name in FIELDS if name not in NOT_ALONE and (view, name) != ("mtsa", "features")]


def other_value(kind: type[ViewSettings], name: str) -> Any:
    """A value that is not the default."""
    if name in VALUES:
        return VALUES[name]
    field = kind.model_fields[name]
    types = [field.annotation, *(part for part in get_args(field.annotation) if part is not type(None))]
    for part in types:
        if get_origin(part) is Literal:
            return next(value for value in get_args(part) if value != field.default)
    if any(get_origin(part) is tuple for part in types):
        return (1, 2) if "int" in str(field.annotation) else ("a phrase", "two")
    simple = {bool: not field.default, int: 7, float: 1.5, str: "layer.0"}
    return next(value for part, value in simple.items() if part in types)


@pytest.mark.parametrize(
    ("view", "name"), [pair for pair in FIELDS if pair[1] not in NOT_ALONE and pair != ("mtsa", "features")]
)
def test_a_link_calls_a_setting_by_its_name_or_as_the_table_says(view: str, name: str) -> None:
    kind = SCENES[view].settings
    link = write_link(validate_settings(kind, {name: other_value(kind, name)}, view), "pairs")
    default = write_link(validate_settings(kind, {}, view), "pairs")
    (parameter,) = link.keys() - default.keys()
    assert parameter == name or ALIASES[parameter] == name


@pytest.mark.parametrize(("view", "name"), FIELDS)
def test_a_setting_is_typed_by_its_name(view: str, name: str) -> None:
    if "site" not in SCENES[view].settings.model_fields and name not in ("layer", "heads", "site"):
        assert read_link(SCENES[view].settings, {name: "x"}, "pairs").keys() == {name}


def test_aliases_are_of_settings_that_exist() -> None:
    names = {name for _, name in FIELDS}
    assert set(ALIASES.values()) <= names


def test_the_parts_of_a_map_s_site_are_settings_of_their_own() -> None:
    kind = SCENES["map"].settings
    texts = {"site": "layer.2/attention", "layer": "2", "quantity": "relevance"}
    assert read_link(kind, texts, "pairs") == texts
    assert write_link(validate_settings(kind, texts | {"layer": 2}, "map"), "pairs") == texts
