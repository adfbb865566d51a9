"""What is kept for all sessions is bounded, and the same example is run once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from pages.common.errors import plain
from pages.common.inputs import number
from pages.common.models import Kept


def item(size: int) -> SimpleNamespace:
    return SimpleNamespace(trace=SimpleNamespace(sites={"x": np.zeros(size, np.uint8)}))


def test_the_oldest_goes_first_once_there_are_too_many_bytes() -> None:
    kept = Kept(limit=100)
    kept.put(("a",), item(40))
    kept.put(("b",), item(40))
    assert kept.get(("a",)) is not None  # now "b" is the oldest
    kept.put(("c",), item(40))
    assert kept.get(("b",)) is None
    assert kept.get(("a",)) is not None and kept.get(("c",)) is not None


def test_one_that_is_too_large_is_kept_alone() -> None:
    kept = Kept(limit=100)
    kept.put(("a",), item(40))
    kept.put(("b",), item(400))
    assert list(kept.items) == [("b",)]


def test_what_stands_under_two_keys_counts_once() -> None:
    kept, one = Kept(limit=100), item(60)
    kept.put(("chosen",), one)
    kept.put(("asked for",), one)
    kept.put(("b",), item(40))
    assert list(kept.items) == [("chosen",), ("asked for",), ("b",)]


def test_no_probability_is_written_as_certain_that_is_not() -> None:
    shown = [number(p) for p in (0.0, 0.0001, 0.0005, 0.5, 0.8734, 0.9994, 0.99999, 1.0)]
    assert shown == ["0.000", "< 0.001", "0.001", "0.500", "0.873", "0.999", "> 0.999", "1.000"]


def test_messages_show_markdown_as_it_is() -> None:
    assert plain("![x](http://a.b/c.png) :red[x]") == r"\!\[x\]\(http\://a\.b/c\.png\) \:red\[x\]"
