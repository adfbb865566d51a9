"""Slow loops for `tasks.kinship` and `models.kinship`, from their definitions."""

from __future__ import annotations


def links(text):
    """(name, name, words between) of each two different names in [brackets] that follow one another."""
    names, parts, inside = [], [""], False
    for char in text:
        if char == "[":
            names.append("")
            inside = True
        elif char == "]":
            inside = False
            parts.append("")
        elif inside:
            names[-1] += char
        else:
            parts[-1] += char
    found = []
    for i in range(len(names) - 1):
        if names[i] != names[i + 1]:
            words = [word.strip(".,;") for word in parts[i + 1].lower().split()]
            found.append((names[i], names[i + 1], [word for word in words if word]))
    return found


def grid(people, links, turned):
    """[people][people][features]: the sum of the links from one to the other, and of turned ones that go back.

    links, turned: (first, second, features) each, the same ones in the same order.
    """
    size = len(links[0][2])
    cells = [[[0.0] * size for _ in range(people)] for _ in range(people)]
    for (first, second, features), (_, _, back) in zip(links, turned):
        for d in range(size):
            cells[first][second][d] += features[d]
            cells[second][first][d] += back[d]
    return cells
