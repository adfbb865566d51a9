"""Laboratory tasks solved by brute force from the words of a row; truth measures by counting, cell by cell."""

from __future__ import annotations

import math
from itertools import product

ENGLISH = "dog river bread moon door fish tree stone bird shoe rain".split()
FOREIGN = "mira tolu vena kesh luma dorn salo pirt ombe fael zuni".split()
LANGUAGES = "Vesk Oran Tami Ulda Brei Zhon Kiru Palo Neth Sora Ivic".split()


def planted_sum(query, keys, context):
    """(cells, answer): every pair tried."""
    return _planted(keys, context, lambda k, c: (int(query) + k + c) % 13 == 0)


def planted_xor(query, keys, context):
    """(cells, answer): every pair tried, bit by bit."""
    bits = [1, 2, 4, 8]

    def fits(k, c):
        return all(sum(bool(code & bit) for code in (int(query), k, c)) % 2 == 0 for bit in bits)

    return _planted(keys, context, fits)


def _planted(keys, context, fits):
    cells, sums = [], []
    for i, key in enumerate(keys):
        for j, other in enumerate(context):
            (k, pay), (c, more) = (tuple(map(int, text.split(":"))) for text in (key, other))
            if fits(k, c):
                cells.append((i, j))
                sums.append((pay + more) % 4)
    return cells, str(sums[0]) if len(sums) == 1 else None


def false_friends(query, keys, context):
    """(cells, answer): what a word means stands in a square, row by row a place further."""
    square = [[ENGLISH[(w + step) % 11] for step in range(11)] for w in range(11)]
    cells = [
        (i, j)
        for i, card in enumerate(keys)
        for j, language in enumerate(context)
        if square[FOREIGN.index(card.split(" (")[0])][LANGUAGES.index(language)] == query
    ]
    colours = {keys[i].split(" (")[1].rstrip(")") for i, _ in cells}
    return cells, colours.pop() if len(colours) == 1 else None


def match2(query, keys, context):
    """(cells, answer): one other number, with whatever context."""
    cells = [(i, j) for i, j in product(range(len(keys)), repeat=2) if (int(query) + int(keys[i])) % 11 == 0]
    return cells, "yes" if cells else "no"


def match3(query, keys, context):
    """(cells, answer): two others at different places."""
    cells = []
    for i, j in product(range(len(keys)), repeat=2):
        if i != j and (int(query) + int(keys[i]) + int(keys[j])) % 31 == 0:
            cells.append((i, j))
    return cells, "yes" if cells else "no"


def two_facts(query, keys, context):
    """(cells in both orders, answer): the story played through, sentence by sentence."""
    holder, taken, place, moved = None, None, {}, {}
    for at, sentence in enumerate(keys):
        who, verb, *_, what = sentence.split()
        if verb == "took" and what == query:
            holder, taken = who, at
        if verb == "went":
            place[who], moved[who] = what, at
    if holder is None or holder not in place:
        return [], None
    return sorted([(taken, moved[holder]), (moved[holder], taken)]), place[holder]


def function_composition(query, keys, context):
    """(cells, answer): who keeps what, then where that is."""
    cells, answers = [], set()
    for i, key in enumerate(keys):
        person, _, _, animal = key.split()
        for j, fact in enumerate(context):
            _, other, _, _, _, place = fact.split()
            if person == query and animal == other:
                cells.append((i, j))
                answers.add(place)
    return cells, answers.pop() if len(answers) == 1 else None


def relation_composition(query, keys, context):
    """(cells in both orders, answer): every pair of flights joined, end to end."""
    start, _, end = query.split()
    cells, colours = set(), set()
    for i, first in enumerate(keys):
        for j, second in enumerate(context):
            (a, _, b, _), (c, _, d, colour) = first.split(), second.split()
            if (a, d) == (start, end) and b == c:
                cells |= {(i, j), (j, i)}
                colours.add(colour.strip("()"))
    return sorted(cells), colours.pop() if len(colours) == 1 else None


SOLVED = {
    "function-composition": function_composition, "relation-composition": relation_composition,
    "planted-sum": planted_sum, "planted-xor": planted_xor, "false-friends": false_friends,
    "match2": match2, "match3": match3, "two-facts": two_facts,
}  # fmt: skip


def first_rank(weights, truth):
    """Rank of the strongest true cell when ties go to the false ones; weights and truth are flat lists."""
    order = sorted(range(len(weights)), key=lambda i: (-weights[i], truth[i]))
    return 1 + next(place for place, i in enumerate(order) if truth[i])


def average_precision(weights, truth):
    """Precision times the gain in recall at every distinct threshold, from the top."""
    total, area, before = sum(truth), 0.0, 0.0
    for threshold in sorted(set(weights), reverse=True):
        kept = [is_true for weight, is_true in zip(weights, truth) if weight >= threshold]
        recall, precision = sum(kept) / total, sum(kept) / len(kept)
        area += (recall - before) * precision
        before = recall
    return area


def mass(weights, truth):
    """The sum of true weights."""
    return math.fsum(weight for weight, is_true in zip(weights, truth) if is_true)
