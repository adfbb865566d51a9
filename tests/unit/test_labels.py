"""Labels of an axis: their kinds, the order in which they are named, and the ways in which paper draws them."""

from __future__ import annotations

import numpy as np
import pytest

from triattn_core.scenes.printing.plate import label_way, named, shorten
from triattn_core.views.lib.labels import label_ways, labels_of

SIZE = 7.0  # points


@pytest.mark.parametrize(
    ("texts", "special", "kind", "stands"),
    [
        (["1", "12"], (), "flat", ()),
        (["a", "e\u0301", "问"], (), "letters", (True, True, True)),
        (["[CLS]", "问", "题"], (1, 0, 0), "letters", (False, True, True)),
        (["the", "a"], (), "words", (False, True)),
        (["为什么", "not"], (), "wide", (False, False)),
    ],
    ids=["numbers", "letters", "letters and a special token", "words", "Chinese words"],
)
def test_kinds(texts, special, kind, stands):
    labels = labels_of(texts, special=special)
    assert (labels.kind, labels.stands) == (kind, stands) and labels.order == list(range(len(texts)))
    assert kind in label_ways()["rows"] and kind in label_ways()["columns"]


def test_what_is_marked_comes_first_then_the_strongest_and_of_equal_ones_the_first():
    labels = labels_of(["some", "words", "of", "text"], np.array([2, 5, 5, 1]), first=[0, 0, 0, 1])
    assert labels.order == [3, 1, 2, 0] and list(labels.rank) == [3, 1, 2, 0]


def test_the_first_way_in_which_all_have_room_is_taken():
    words = labels_of([f"word {i}" for i in range(9)], np.arange(9))
    em = SIZE / 72
    leans = [(way.lean, way.step) for way in (label_way(words, True, pitch * em, SIZE) for pitch in (9, 1.2, 0.5))]
    assert leans == [(False, 1), (True, 1), (True, 3)]
    assert named(words, label_way(words, True, 0.5 * em, SIZE), 0.5 * em) == [2, 5, 8]
    assert named(words, label_way(words, True, 0.5 * em, SIZE), 0.5 * em, first=7) == [1, 4, 7]
    letters = labels_of(list("abcdefghi"))
    assert [label_way(letters, True, pitch * em, SIZE).lines for pitch in (1, 0.5, 0.3)] == [1, 2, 1]


def test_a_label_is_cut_where_its_room_ends():
    assert shorten("unbelievably", SIZE) == "unbelievably"
    cut = shorten("unbelievably-long-word", SIZE)
    assert cut.endswith("…") and "unbelievably-long-word".startswith(cut[:-1]) and len(cut) > 10
    assert len(shorten("打印机为什么总是卡纸", SIZE)) < 9
