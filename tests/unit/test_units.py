"""Units of a context by name or by word, and what is said of those that are not there."""

from __future__ import annotations

import pytest

from triattn_core.errors import InputError
from triattn_core.scenes.intervene_units import find_unit, match_units
from triattn_core.views.lib.strongest import numbered

WORDS = "who must drink milk and who must sell milk for 13 m² or 11 of".split()
KNOWN = {f"token {i}": word for i, word in enumerate(numbered(WORDS), 1)}


def test_a_small_number_tells_like_words_apart():
    assert numbered(["a", "b", "a", *"a" * 9]) == ["a", "b", "a²", *(f"a{n}" for n in "³⁴⁵⁶⁷⁸⁹"), "a¹⁰", "a¹¹"]


@pytest.mark.parametrize(
    ("asked", "name"), [("token 9", "token 9"), ("sell", "token 8"), ("milk²", "token 9"), ("m²", "token 12")]
)
def test_a_unit_is_called_by_name_or_by_a_word_that_stands_once(asked, name):
    assert find_unit(asked, KNOWN) == name


def test_a_word_that_stands_twice_is_told_with_its_numbers():
    with pytest.raises(InputError, match=r"^'milk' occurs 2 times in .*: token 4 \(milk\), token 9 \(milk²\)$"):
        find_unit("milk", KNOWN)


def test_what_is_not_there_is_told_in_the_order_of_the_text():
    assert match_units("twenty", KNOWN).startswith("known: token 1 (who), token 2 (must), token 3 (drink), ")
    assert match_units("twenty", KNOWN).endswith("token 9 (milk²), token 10 (for) and 5 more")
    assert match_units("mlik", KNOWN) == "did you mean token 4 (milk)?"
    assert match_units("sentence C", {"sentence A": "sentence A: Who?"}) == "did you mean sentence A?"
