"""BIO tags: B-X begins a chunk labelled X, I-X continues it, O is outside (Ramshaw and Marcus 1995)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

OUTSIDE = "O"


def bio_tags(labels: Iterable[str]) -> tuple[str, ...]:
    """The tags of these labels: O, then B and I of each label in turn, so that I follows its B."""
    return (OUTSIDE, *(f"{mark}-{label}" for label in labels for mark in "BI"))


def chunks(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """(label, start, end) of each chunk in order; end is one past its last token.

    An I that continues no chunk of its label begins one, as in CoNLL's scorers.
    """
    found: list[tuple[str, int, int]] = []
    for i, tag in enumerate(tags):
        mark, _, label = tag.partition("-")
        if mark == OUTSIDE:
            continue
        if mark == "I" and found and found[-1][0] == label and found[-1][2] == i:
            found[-1] = (label, found[-1][1], i + 1)
        else:
            found.append((label, i, i + 1))
    return found


def breaks_bio(tags: Sequence[str]) -> int | None:
    """The index of the first tag that is not O, B-X, or I-X after B-X or I-X; None if all are well formed."""
    previous = OUTSIDE
    for i, tag in enumerate(tags):
        mark, hyphen, label = tag.partition("-")
        well_formed = tag == OUTSIDE or (mark in "BI" and len(mark) == 1 and hyphen and label)
        if not well_formed or (mark == "I" and previous not in (f"B-{label}", f"I-{label}")):
            return i
        previous = tag
    return None
