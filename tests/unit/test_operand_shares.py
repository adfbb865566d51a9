"""What the scores of *which two numbers make this one?* read, by functional ANOVA, and the command that prints it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from triattn_core.__main__ import main
from triattn_core.analysis.maps.operand_shares import PARTS, measure_shares, relevance_cubes, shares
from triattn_core.analysis.operand_weights import pair_weights
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.explain import explain
from triattn_core.tasks.operands import operand_pairs
from triattn_core.tasks.operands.example import Example

MODELS = ("gsm8k-tri", "gsm8k-strassen", "gsm8k-bi")


def three_way(cube: np.ndarray) -> float:
    """The share of what no sum of terms of two axes fits, by least squares over all cells off the diagonal."""
    queries, size, _ = cube.shape
    cells = [(q, i, j) for q in range(queries) for i in range(size) for j in range(size) if i != j]
    y = np.array([cube[cell] for cell in cells])

    def remainder(*axes: tuple[int, ...]) -> float:
        columns = []
        for axis in axes:
            keys = sorted({tuple(cell[a] for a in axis) for cell in cells})
            columns += [[float(tuple(cell[a] for a in axis) == key) for cell in cells] for key in keys]
        design = np.array([[1.0] * len(cells), *columns]).T
        return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())

    return 100 * remainder((0, 1), (0, 2), (1, 2)) / remainder((0,))


@pytest.mark.parametrize("name", MODELS)
def test_shares_agree_with_least_squares(name):
    bundle, example = load(name, "cpu"), operand_pairs.examples()[0]
    (cube,), found = relevance_cubes(bundle, example), shares(bundle, example)
    assert sum(found.values()) == pytest.approx(100)
    assert found["three_way"] == pytest.approx(three_way(cube), abs=1e-3)
    assert (found["three_way"] > 10) == (name == "gsm8k-tri")
    assert set(found) == set(PARTS)


@pytest.mark.parametrize("name", MODELS)
def test_the_first_query_is_the_number_asked_for(name):
    bundle, example = load(name, "cpu"), operand_pairs.examples()[0]
    (cube,) = relevance_cubes(bundle, example)
    scores = torch.tensor(cube[0]).masked_fill(torch.eye(len(example.numbers), dtype=torch.bool), -torch.inf)
    weights = pair_weights(explain(bundle, example)[1])
    np.testing.assert_allclose(scores.flatten().softmax(0).view_as(scores).numpy(), weights, atol=1e-5)


def test_the_report_is_a_mean_over_labelled_rows():
    bundle = load("gsm8k-tri", "cpu")
    first, second = operand_pairs.examples()[:2]
    report = measure_shares(bundle, [first, second, Example(first.text, first.numbers, 5.0)])
    assert report["n"] == 2
    expected = np.mean([shares(bundle, one)["three_way"] for one in (first, second)])
    assert report["shares"]["three_way"]["mean"] == pytest.approx(expected, abs=0.01)


def test_the_command_measures_the_rows_that_the_model_held_out(tmp_path, capsys):
    file = tmp_path / "train.jsonl"
    with file.open("w", encoding="utf-8") as rows:
        for number in range(603):
            row = operand_pairs.row(operand_pairs.examples()[number % 3]) | {"id": f"{number}.0"}
            rows.write(json.dumps(row) + "\n")
    command = ["evaluate", "gsm8k-strassen", str(file), "--dev", "--json"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 600
    assert main([*command, "--rows", "3", "--attention"]) == 0
    report = json.loads(capsys.readouterr().out)["attention"]
    assert report["n"] == 3 and report["shares"]["three_way"]["mean"] == 0
    assert main([*command[:-1], "--rows", "2", "--attention"]) == 0
    assert "all three together: 0.0 % of the scores' variance" in capsys.readouterr().out
    assert main(["evaluate", "quora-bi-living", str(file), "--dev"]) == 1
    assert "dev rows of this model are a file of their own" in capsys.readouterr().err
