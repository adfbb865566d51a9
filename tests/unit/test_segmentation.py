"""Cells of long texts: disjoint runs that never cross the end of a turn or a sentence, and all of the tokens."""

from __future__ import annotations

import random

import pytest

from triattn_core.text.segmentation import divide_into_cells, merge_spans, sentences


def drawn(seed: int) -> tuple[list[str], int]:
    """Segments of tokens, some of one token alone, and at least as many cells as segments."""
    draw = random.Random(seed)
    sizes = [draw.choice([1, 1, 2, 3, 7, 19]) for _ in range(draw.randint(1, 11))]
    names = [f"s{i}" for i, size in enumerate(sizes) for _ in range(size)]
    return names, draw.randint(len(sizes), len(sizes) + 23)


@pytest.mark.parametrize("seed", range(40))
def test_cells_are_the_tokens_and_each_belongs_to_one_segment(seed):
    names, most = drawn(seed)
    spans = divide_into_cells(names, most)
    assert [place for start, end in spans for place in range(start, end)] == list(range(len(names)))
    assert all(len(set(names[start:end])) == 1 for start, end in spans)
    assert len(spans) == min(most, len(names))


@pytest.mark.parametrize("seed", range(40))
def test_cells_are_as_even_as_segments_allow(seed):
    """No segment could give a cell to another and leave the longest cell shorter."""
    names, most = drawn(seed)
    spans = divide_into_cells(names, most)
    sizes: dict[str, list[int]] = {}
    for start, end in spans:
        sizes.setdefault(names[start], []).append(end - start)
    assert all(max(one) - min(one) <= 1 for one in sizes.values())
    worst = max(sizes, key=lambda name: sum(sizes[name]) / len(sizes[name]))
    longest = sum(sizes[worst]) / len(sizes[worst])
    for name, lengths in sizes.items():
        if name != worst and len(lengths) > 1:
            assert sum(lengths) / (len(lengths) - 1) >= longest - 1e-9


def test_equal_names_apart_are_two_segments():
    assert divide_into_cells(["a", "a", "b", "a"], 3) == ((0, 2), (2, 3), (3, 4))


def test_more_segments_than_cells_have_one_each():
    assert divide_into_cells(["a", "b", "b", "c"], 1) == ((0, 1), (1, 3), (3, 4))
    assert divide_into_cells([], 5) == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two!  Three? ", ["One. ", "Two!  ", "Three? "]),
        ("no end", ["no end"]),
        ("Mr. Gray met Dr. Blue. They left.", ["Mr. Gray met Dr. Blue. ", "They left."]),
        ('"Stop!" she said. He did.', ['"Stop!" ', "she said. ", "He did."]),
        ("A line\nAnother\n\nThird", ["A line\n", "Another\n\n", "Third"]),
        ("It cost 3.50 in J. K. Street.", ["It cost 3.50 in J. K. Street."]),
        ("你好。再见！", ["你好。", "再见！"]),
        ("Wait... what?! Yes.", ["Wait... ", "what?! ", "Yes."]),
        ("", [""]),
        ("\n\nFirst. ", ["\n\nFirst. "]),
    ],
)
def test_sentences(text, parts):
    assert [text[start:end] for start, end in sentences(text)] == parts


@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_the_shortest_neighbours_are_joined(most):
    spans = sentences("Aa. Bb bb bb. Cc. Dd. Eeee eeee eeee. Ff.")
    groups = merge_spans(spans, most)
    assert len(groups) == min(most, len(spans))
    assert [i for first, last, _ in groups for i in range(first, last + 1)] == list(range(len(spans)))
    assert all((start, end) == (spans[first][0], spans[last][1]) for first, last, (start, end) in groups)
    if most == 5:
        assert (2, 3) in [(first, last) for first, last, _ in groups]
