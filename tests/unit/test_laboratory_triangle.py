"""The laboratory's triangle attention: flights as a grid of pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from tests.oracles import triangle as oracle
from triattn_core.attention.tap import keep_weights, recording
from triattn_core.checkpoint.config import read_config
from triattn_core.configs.laboratory import LaboratoryCheckpoint
from triattn_core.errors import ConfigError
from triattn_core.inference.batch import collate
from triattn_core.models.laboratory import LaboratoryModel
from triattn_core.models.laboratory_triangle import GRID, TOKENS
from triattn_core.tasks.laboratory import LABORATORY

TASK = LABORATORY["relation-composition"]


def config(task: str = "relation-composition") -> dict:
    model = {"mechanism": "triangle", "hidden": 12}
    return {"format": 1, "kind": "laboratory", "task": task, "model": model, "training": {"epochs": 1}}


@pytest.fixture
def model():
    torch.manual_seed(1)
    return LaboratoryModel(LaboratoryCheckpoint.model_validate(config()).model, TASK).double().eval()


def batch_of(rows):
    (roles, *_) = zip(*TASK.roles(rows, TASK.vocabulary, LaboratoryCheckpoint.model_validate(config()).limits))
    return collate(roles, TASK.vocabulary)


def test_its_weights_equal_the_loops_over_the_grid(model):
    row = next(TASK.generate(5))
    with torch.no_grad(), recording(keep_weights) as record:
        model(batch_of([row]))
        cube = record.sites[GRID.with_quantity("weight")].tensor[0, 0]
        tokens = record.sites[TOKENS.with_quantity("weight")].tensor[0, 0, 0]
        block, n = model.layers[0], len(TASK.NODES)
        words = dict(zip(row.keys, model.embed(batch_of([row]).key).vectors[0]))
        grid, keep = np.zeros((n, n, 12)), np.zeros((n, n), bool)
        for flight, vector in words.items():  # the grid again, a flight at a time
            start, end = TASK.ends(flight)
            grid[start, end] += vector.numpy()
            grid[end, start] += block.reverse(vector).numpy()
            keep[start, end] = True
        start, end = TASK.ends(row.query)
        grid[start, end] += model.embed(batch_of([row]).query).vectors[0, 0].numpy()
        attention = block.attention
        states = attention.norm(torch.tensor(grid)).numpy()
        matrices = (layer.weight.numpy() for layer in (attention.query, attention.key, attention.value))
        expected, _ = oracle.ending(states, keep, *matrices, attention.bias.weight[0].numpy())
    np.testing.assert_allclose(cube, expected, atol=1e-12)
    for flight, weight in zip(row.keys, tokens.tolist()):
        first, last = TASK.ends(flight)
        assert weight == pytest.approx(expected[start, end, first] if last == end else 0)
    assert tokens.sum() == pytest.approx(1)


def test_the_order_of_flights_says_nothing(model):
    row = next(TASK.generate(5))
    turned = TASK.solve(row.query, row.keys[::-1], row.keys[::-1])
    with torch.no_grad():
        torch.testing.assert_close(*(model(batch_of([one])) for one in (row, turned)))


def test_padding_is_no_flight(model):
    row = next(TASK.generate(5))
    fewer = TASK.solve(row.query, row.keys[:7], row.keys[:7])
    with torch.no_grad():
        alone, padded = model(batch_of([fewer])), model(batch_of([row, fewer]))[1:]
    torch.testing.assert_close(alone, padded)


def test_tasks_whose_tokens_are_no_pairs_are_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config("false-friends")))
    with pytest.raises(ConfigError, match="triangle is for tasks whose tokens are pairs"):
        read_config(tmp_path / "config.json")
