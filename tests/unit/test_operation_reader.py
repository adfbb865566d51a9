"""Reading which operation made a number, through the weights of the pairs: against loops, and what it may depend on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from torch.nn.functional import gelu

from tests.oracles import operands as oracle
from tests.unit.test_operands_models import build, examples, train_own
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.configs.operands import OperandsCheckpoint
from triattn_core.inference.explain import explain
from triattn_core.inference.number_batch import example_batch
from triattn_core.models.operation_reader import READ_BY, OperationReader, straight_through
from triattn_core.tasks.operands import operand_pairs
from triattn_core.training.operands.redraw import operands_of
from triattn_core.training.operands.trainer import operation_loss


def drawn(by: str) -> tuple[OperationReader, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    reader = OperationReader(6, by).double()
    for parameter in reader.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    made, numbers = torch.randn(2, 1, 6).double(), torch.randn(2, 4, 6).double()
    cells = torch.rand(2, 4, 4).double() * ~torch.eye(4, dtype=torch.bool)
    return reader, made, numbers, cells / cells.sum((1, 2), keepdim=True)


@torch.no_grad()
@pytest.mark.parametrize("by", READ_BY)
def test_it_agrees_with_the_oracle(by: str) -> None:
    reader, made, numbers, cells = drawn(by)
    found = reader(made, numbers, cells).exp()
    for row in range(2):
        left, right = reader.left(numbers[row]), reader.right(numbers[row])

        def answer_of(vector, row=row):
            pair = torch.as_tensor(vector).double()[None, None]
            return reader.answer(made[row : row + 1], pair)[0, 0].exp().tolist()

        vectors = {(i, j): gelu(left[i] + right[j]).tolist() for j in range(4) for i in range(j)}
        answers = {pair: answer_of(vector) for pair, vector in vectors.items()}
        expected = oracle.operations(cells[row].tolist(), answers, vectors, answer_of, by)
        torch.testing.assert_close(found[row], torch.tensor(expected).double())
        assert sum(expected) == pytest.approx(1.0)


def test_the_strongest_passes_and_all_learn() -> None:
    weights = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]], requires_grad=True)
    chosen = straight_through(weights)
    assert torch.equal(chosen.detach(), torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    chosen.backward(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert weights.grad is not None
    assert torch.equal(weights.grad, torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))


@torch.no_grad()
@pytest.mark.parametrize("by", ("choice", "pairs"))
def test_only_the_attended_pair_passes(by: str) -> None:
    reader, made, numbers, _ = drawn(by)
    cells = torch.zeros(2, 4, 4).double()
    cells[:, 2, 1] = 1.0
    other = numbers.clone()
    other[:, [0, 3]] += 5.0
    torch.testing.assert_close(reader(made, numbers, cells), reader(made, other, cells))
    other[:, 1] += 5.0
    assert not torch.allclose(reader(made, numbers, cells), reader(made, other, cells))


@torch.no_grad()
def test_a_layer_before_changes_where_is_looked_and_not_what_is_read() -> None:
    model, batch = build(mechanism="bi", before=1, operation="pairs"), example_batch(examples())
    made, numbers = model.numbers(batch)
    cells, read = model.cells_and_operations(batch)
    torch.testing.assert_close(cells, model.cells(batch))
    torch.testing.assert_close(read, model.operation(made, numbers, cells))


def test_rows_without_a_known_operation_teach_nothing() -> None:
    read = torch.randn(3, 4, generator=torch.Generator().manual_seed(1)).log_softmax(-1)
    alone = operation_loss(read[:1], torch.tensor([2]))
    torch.testing.assert_close(operation_loss(read, torch.tensor([2, -1, -1])), alone)
    assert operands_of(examples()).operation.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("model", "training", "said"),
    (
        ({}, {"told": "operation"}, "needs a model.operation"),
        ({"operation": "mean"}, {}, "needs a model.operation"),
        ({}, {"pointed": 0.5}, "training.pointed applies only"),
    ),
)
def test_what_does_not_fit_is_told(model: dict, training: dict, said: str) -> None:
    config = {
        "format": 1, "kind": "operands", "model": {"mechanism": "tri"} | model, "data": {"train": ["own/train"]},
        "training": {"epochs": 1} | training,
    }  # fmt: skip
    with pytest.raises(ValidationError, match=said):
        OperandsCheckpoint.model_validate(config)


def test_a_model_that_was_told_the_operation_alone(tmp_path: Path, capsys, monkeypatch) -> None:
    config = {
        "format": 1, "kind": "operands", "model": {"mechanism": "tri", "hidden": 16, "operation": "pairs"},
        "data": {"train": ["own/train"], "test": "own/test", "dev_problems": 10},
        "training": {"epochs": 20, "batch": 25, "seed": 0, "told": "operation", "pointed": 0.5},
    }  # fmt: skip
    folder = train_own(tmp_path, config)
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["operation"] == 100.0  # all are sums
    prediction, _ = explain(load(folder, "cpu"), operand_pairs.examples()[0])
    assert len(prediction.probabilities) == len(prediction.labels) == 6
    assert sum(prediction.probabilities) == pytest.approx(1.0, abs=1e-4)
    monkeypatch.chdir(tmp_path)
    where = ["--data", str(tmp_path / "data"), "--runs", str(tmp_path / "runs")]
    monkeypatch.setattr("triattn_core.results.run_records.new_records_folder", lambda: tmp_path / "records")
    assert main(["sweep", str(folder / "config.json"), "--seeds", "0", "--name", "told", *where]) == 0
    (record,) = map(json.loads, (tmp_path / "records" / "told.jsonl").read_text("utf-8").splitlines())
    curve = record["each_seed"][0]["curve"]
    assert curve and {"step", "dev_accuracy", "dev_mass", "dev_operation"} <= set(curve[-1])
