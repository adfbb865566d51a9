"""Laboratory tasks: the stated truth and nothing else, balanced labels, and no answer to be had from counts."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import islice, product

import pytest
import torch

from tests.oracles.laboratory import SOLVED
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.tasks.laboratory import LABORATORY, Example
from triattn_core.text.roles import Limits
from triattn_core.trace.site import Site

ROWS = 400
FIRST = ("6", "1:2", ((2, 3),))  # query, first key, truth
BOTH_ORDERS = ("two-facts", "relation-composition")
each_task = pytest.mark.parametrize("task", LABORATORY.values(), ids=LABORATORY)


@each_task
def test_truth_and_label_are_those_of_brute_force(task):
    for row in task.generate(1, ROWS):
        cells, answer = SOLVED[task.NAME](row.query, row.keys, row.context)
        assert list(row.truth) == cells
        assert task.LABELS[row.label] == answer
        if not task.NAME.startswith("match"):
            assert len({tuple(sorted(cell)) if task.NAME in BOTH_ORDERS else cell for cell in cells}) == 1


@each_task
def test_a_seed_gives_the_same_rows_and_another_seed_others(task):
    first, again, other = ([task.row(row) for row in task.generate(seed, 20)] for seed in (5, 5, 6))
    assert first == again and not any(row in other for row in first)
    endless = islice(task.generate(5), 20)
    assert [task.row(row) for row in endless] == first


@each_task
def test_labels_are_balanced(task):
    counts = Counter(row.label for row in task.generate(2, 4000))
    expected = 4000 / task.OUTPUTS
    assert set(counts) == set(range(task.OUTPUTS))
    assert max(abs(count - expected) for count in counts.values()) < 5 * expected**0.5


def test_the_first_rows_of_a_seed_stay_what_they_are():
    """Shipped numbers are of these rows: a change to a generator is a change to every number."""
    row = next(LABORATORY["planted-sum"].generate(1, 1))
    assert (row.query, row.keys[0], row.truth) == FIRST


@each_task
def test_a_row_survives_its_file_format(task):
    for row in task.examples():
        back = Example.from_row(json.loads(json.dumps(task.row(row))))
        assert replace(back, id=row.id) == row
        assert task.say(back) and task.verdict(back, [float(i == row.label) for i in range(task.OUTPUTS)])[0]


def test_rows_are_read_from_a_file(tmp_path):
    task = LABORATORY["match3"]
    rows = list(task.generate(1, 3))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(task.row(row)) + "\n" for row in rows), "utf-8")
    assert [replace(row, id="") for row in rows] == list(task.read(tmp_path / "rows.jsonl"))


@each_task
def test_roles_name_the_tokens_as_they_stand_in_the_texts(task):
    example = task.examples()[0]
    ((roles,),) = task.roles([example], task.vocabulary, Limits(64))
    texts = task.texts(example)
    for role in (roles.query, roles.key, roles.context):
        for string, text, (start, end) in zip(role.strings, role.texts, role.spans):
            assert texts[text][start:end] == string
    joint = roles.axes(Site.parse("layer.0/joint/weight"))["key"]
    assert joint.strings == (example.query, *example.keys, *example.context) and len(joint) == roles.length


def test_unknown_tokens_and_wrong_truth_are_refused_in_one_line():
    task = LABORATORY["false-friends"]
    with pytest.raises(InputError, match="did you mean 'mira \\(blue\\)'"):
        task.solve("dog", ("mira (blu)",), ("Vesk",))
    with pytest.raises(DataError, match="truth"):
        Example.from_row({"query": "dog", "keys": ["a"], "context": ["b"], "truth": [[0, 1]]})
    with pytest.raises(InputError, match="empty"):
        Example("dog", (), ("Vesk",)).check()


@pytest.mark.parametrize(
    ("cards", "tonight", "problem"),
    [
        (("pirt (red)", "pirt (red)", "ombe (white)"), ("Vesk",), "card 'pirt (red)' is listed twice"),
        (("pirt (red)", "ombe (white)"), ("Vesk", "Oran", "Vesk"), "language 'Vesk' is listed twice"),
    ],
)
def test_a_token_listed_twice_is_refused_wherever_a_row_comes_from(cards, tonight, problem, tmp_path, capsys):
    name = "false-friends-tri-scaled-dot"
    task, path = LABORATORY["false-friends"], tmp_path / "row.json"
    row = {"query": "dog", "keys": cards, "context": tonight, "label": 0}
    path.write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(InputError, match=re.escape(problem)):
        task.solve("dog", cards, tonight)
    with pytest.raises(DataError, match=re.escape(f"row.json:1: {problem}")):
        list(task.read(path))
    if name in {entry.name for entry in laboratory_checkpoints()}:
        for command in (["explain", name, str(path)], ["evaluate", name, str(path)]):
            assert main(command) == 1
            assert problem in capsys.readouterr().err


@each_task
def test_generated_rows_repeat_tokens_only_where_that_is_allowed(task):
    rows = list(task.generate(1, 300))
    assert any(len({*row.keys}) < len(row.keys) or len({*row.context}) < len(row.context) for row in rows) == (
        task.REPEATS
    )


def test_two_true_triples_or_none_have_no_answer():
    task = LABORATORY["planted-sum"]
    assert task.solve("1", ("2:0", "3:1"), ("10:1", "9:2")).label is None  # 1 + 2 + 10 and 1 + 3 + 9
    assert len(task.solve("1", ("2:0", "3:1"), ("10:1", "9:2")).truth) == 2
    none = task.solve("1", ("2:0",), ("9:2",))
    assert none.label is None and none.truth == ()


def test_counts_and_pairs_of_the_planted_sum_do_not_beat_the_floor():
    """A linear probe on payload counts and their products is the floor, about a third; pairs of codes with payloads
    add nothing to it on rows it was not fitted on."""
    task = LABORATORY["planted-sum"]
    train, test = list(task.generate(11, 12_000)), list(task.generate(12, 4000))
    floor = probe(counts, train, test)
    pairs = probe(lambda row: [*counts(row), *code_pairs(row)], train, test)
    assert 0.28 < floor < 0.38
    assert pairs < floor + 0.02
    accuracy = probe(lambda row: [*counts(row), *(float(row.label == label) for label in range(4))], train, test)
    assert accuracy > 0.99  # twin: the probe finds what is there


def counts(row: Example) -> list[float]:
    """How many keys and contexts have each payload, and all products of two such numbers."""
    sides = [
        [float(sum(text.endswith(f":{pay}") for text in side)) for pay in range(4)] for side in (row.keys, row.context)
    ]
    return [1.0, *sides[0], *sides[1], *(a * b for a, b in product(*sides))]


def code_pairs(row: Example) -> list[float]:
    """Which payload meets which sum of query and code, for keys and for contexts: 2 x 13 x 4 indicators."""
    features = [0.0] * 104
    for side, texts in enumerate((row.keys, row.context)):
        for code, pay in (map(int, text.split(":")) for text in texts):
            features[side * 52 + (int(row.query) + code) % 13 * 4 + pay] = 1.0
    return features


def probe(features, train, test) -> float:
    """Held-out accuracy of ridge regression onto the four labels."""
    x, y = (torch.tensor([features(row) for row in rows], dtype=torch.float64) for rows in (train, test))
    labels = torch.nn.functional.one_hot(torch.tensor([row.label for row in train]), 4).double()
    weights = torch.linalg.solve(x.T @ x + 1e-3 * torch.eye(x.shape[1]), x.T @ labels)
    return float(((y @ weights).argmax(-1) == torch.tensor([row.label for row in test])).double().mean())


OTHER_SIZES = [("planted-sum", (4, 8)), ("planted-xor", (4, 8)), ("false-friends", (4, 6, 8))]


@pytest.mark.parametrize("name, sizes", OTHER_SIZES)
def test_at_another_size_one_pair_is_true_and_chance_is_that_of_the_rows(name, sizes):
    for size in sizes:
        task = LABORATORY[name].at_size(size)
        rows = list(task.generate(1, 200))
        assert all(len(row.truth) == 1 and row.label is not None for row in rows)
        assert task.at_size(size) is task and rows[0].keys != next(LABORATORY[name].generate(1, 1)).keys
        if name == "false-friends":
            cards = {len(row.keys) for row in rows}
            assert cards == {task.cards} and task.baseline()["chance"] == round(100 / task.cards, 2)
            assert len({word for word, _ in task.meaning}) == size
        else:
            assert {(len(row.keys), len(row.context)) for row in rows} == {(size, size)}
    assert LABORATORY[name].at_size(None) is LABORATORY[name]
    with pytest.raises(ConfigError, match="sizes from"):
        LABORATORY[name].at_size(99)


@pytest.mark.parametrize("size, modulus", [(4, 5), (8, 31), (16, 151)])
def test_match3_at_another_size_is_modulo_what_lets_half_of_the_rows_fit(size, modulus):
    task = LABORATORY["match3"].at_size(size)
    assert modulus == task.MODULUS
    for row in task.generate(1, 40):
        numbers = [*map(int, row.keys)]
        fits = [(int(row.query) + a + b) % modulus == 0 for i, a in enumerate(numbers) for b in numbers[:i]]
        assert len(numbers) == size - 1 and any(fits) == row.label and 2 * sum(fits) == len(row.truth)
    with pytest.raises(ConfigError, match="its own alone"):
        LABORATORY["match2"].at_size(16)
