"""Models that find the two numbers a number is made of: against loops, and from a file of problems to a verdict."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch

from tests.oracles import operands as oracle
from triattn_core.__main__ import main
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.verify import verify
from triattn_core.configs.operands import OperandsConfig
from triattn_core.inference.explain import explain
from triattn_core.inference.number_batch import NumberBatch, example_batch, pair_logits
from triattn_core.models.number_vectors import OCTAVES, PERIODS, value_features
from triattn_core.models.operands import OperandsModel
from triattn_core.models.word_states import load_word_states
from triattn_core.tasks.operands import operand_pairs
from triattn_core.tasks.operands.example import Example, pairs, place_of
from triattn_core.tasks.operands.word_numbers import find_numbers
from triattn_core.training.operands.redraw import operands_of, redraw
from triattn_core.training.operands.trainer import fitting_cells

PROBLEMS = (
    ("A shelf has 3 rows of 24 books, 7 maps and 15 globes.", 72.0, "*", ((0, 1),)),
    ("Of 40 pears a dozen are green, 5 are red, 8 are small, and 2 are old.", 28.0, "-", ((0, 1),)),
    ("Ann has 6 pens, half blue, 9 rulers, 9 caps, 11 pins, 4 clips and 13 stamps.", 15.0, "+", ((0, 2), (0, 3))),
)  # fmt: skip
FORMS = [
    {"mechanism": "tri"},
    {"mechanism": "tri", "similarity": "strassen"},
    {"mechanism": "bi"},
    {"mechanism": "cbi", "inputs": "words"},
    {"mechanism": "tri", "before": 1, "inputs": "values"},
    {"mechanism": "bi", "before": 2},
]


def examples() -> list[Example]:
    return [Example(text, tuple(find_numbers(text)), *rest) for text, *rest in PROBLEMS]


def build(seed: int = 1, **settings) -> OperandsModel:
    torch.manual_seed(seed)
    model = OperandsModel(OperandsConfig(**{"hidden": 14, "heads": 2} | settings)).eval()
    for parameter in model.parameters():  # that words, which begin by saying nothing, say something
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def heads_of(model: OperandsModel, batch: NumberBatch) -> list:
    """Query, keys and context [heads][…][D] of the first row."""
    made, numbers = model.numbers(batch)
    size, heads = int(batch.keep[0].sum()), model.config.heads
    parts = model.query(made)[0], model.key(numbers)[0, :size], model.context(numbers)[0, :size]
    return [part.double().unflatten(-1, (heads, -1)).transpose(0, 1).tolist() for part in parts]


@torch.no_grad()
@pytest.mark.parametrize("similarity", ("scaled_dot", "strassen"))
def test_the_cube_agrees_with_the_oracle(similarity):
    model, batch = build(mechanism="tri", similarity=similarity), example_batch(examples())
    q, k, c = heads_of(model, batch)
    cubes = [oracle.cube(q[h][0], k[h], c[h], similarity == "strassen") for h in range(2)]
    expected = torch.tensor(cubes).mean(0)
    cells = model.cells(batch)[0, : len(expected), : len(expected)]
    torch.testing.assert_close(cells.double(), expected.double(), rtol=1e-4, atol=1e-6)


@torch.no_grad()
def test_two_maps_agree_with_the_oracle():
    model, batch = build(mechanism="bi"), example_batch(examples())
    with recording() as record:
        cells = model.cells(batch)
    size = int(batch.keep[0].sum())
    first, second = (record.sites[f"layer.0/a_over_{x}/weight"].tensor[0, :, 0, :size] for x in "bc")
    expected = torch.tensor(oracle.products(first.double().tolist(), second.double().tolist()))
    torch.testing.assert_close(cells[0, :size, :size].double(), expected.double(), rtol=1e-4, atol=1e-6)


def test_waves_agree_with_the_oracle():
    for value in (0.25, 3.0, 24.0, 1250.0):
        waves = value_features(torch.tensor([value], dtype=torch.double))[0, 5:]
        torch.testing.assert_close(waves, torch.tensor(oracle.waves(value, OCTAVES, PERIODS)), rtol=1e-4, atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("settings", FORMS, ids=lambda one: "-".join(map(str, one.values())))
def test_weights_are_a_distribution_and_padding_cannot_matter(settings):
    model, batch = build(**settings), example_batch(examples())
    cells = model.cells(batch)
    torch.testing.assert_close(cells.sum((1, 2)), torch.ones(3))
    assert torch.count_nonzero(cells.diagonal(0, 1, 2)) == 0
    alone = model.cells(example_batch(examples()[:1]))
    torch.testing.assert_close(alone[0], cells[0, :4, :4], rtol=1e-4, atol=1e-6)
    assert torch.count_nonzero(cells[0, 4:]) == 0


@torch.no_grad()
def test_what_is_not_an_input_cannot_matter():
    batch = example_batch(examples())
    other = NumberBatch(**vars(batch) | {"words": batch.words.flip(1)})
    values = NumberBatch(**vars(batch) | {"values": batch.values.flip(1) + 1})
    for inputs, same, changes in (("values", other, values), ("words", values, other)):
        model = build(mechanism="tri", inputs=inputs)
        torch.testing.assert_close(model.cells(batch), model.cells(same), rtol=0, atol=0)
        assert not torch.allclose(model.cells(batch), model.cells(changes))


def test_a_pair_has_the_weight_of_both_orders():
    cells = torch.rand(2, 5, 5, generator=torch.Generator().manual_seed(1))
    logits = pair_logits(cells)
    assert logits.shape == (2, 120)
    for i, j in pairs(5):
        torch.testing.assert_close(logits[:, place_of((i, j))].exp(), cells[:, i, j] + cells[:, j, i])
    assert torch.isneginf(logits[:, len(pairs(5)) :]).all()


def test_redrawn_rows_keep_words_and_equal_values_and_make_their_number():
    rows, operands = example_batch(examples()), operands_of(examples())
    pool = torch.tensor([17.0, 23.0, 31.0, 44.0, 58.0], dtype=torch.double)
    assert operands.operation.tolist() == [2, 1, 0]
    changed = 0
    for seed in range(40):
        torch.manual_seed(seed)
        new = redraw(rows, operands, pool, 1.0)
        values, results = new.values.tolist(), new.results.tolist()
        assert values[1][1] == 12.0 and values[2][1] == 0.5  # a dozen, half
        assert values[2][2] == values[2][3]
        a, b = zip(*((row[i], row[j]) for row, i, j in zip(values, operands.left.tolist(), operands.right.tolist())))
        assert results == pytest.approx([a[0] * b[0], a[1] - b[1], a[2] + b[2]])
        assert min(results) > 0
        changed += results[0] != 72.0
    assert changed > 20
    torch.manual_seed(0)
    assert torch.equal(redraw(rows, operands, pool, 0.0).values, rows.values)


def test_pairs_that_a_calculator_accepts_agree_with_the_oracle():
    rows = example_batch(examples())
    for seed in range(20):
        torch.manual_seed(seed)
        batch = redraw(rows, operands_of(examples()), torch.tensor([2.0, 3.0, 0.5], dtype=torch.double), 1.0)
        for cells, keep, values, result in zip(fitting_cells(batch), batch.keep, batch.values, batch.results):
            size = int(keep.sum())
            expected = oracle.fits(values[:size].tolist(), result.item())
            assert {(i, j) for i, j in cells.nonzero().tolist() if i < j} == set(expected)
            assert torch.equal(cells, cells.T)


def write_gsm8k(path: Path, rows: int, seed: int) -> None:
    """Problems of one sum each, as GSM8K's own file has them."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(rows):
            a, b, c, d = draw.sample(range(3, 60), 4)
            question = f"A box has {a} nails, {b} screws, {c} hooks and {d} rings. How many nails and hooks are there?"
            answer = f"There are {a} + {c} = <<{a}+{c}={a + c}>>{a + c} of them.\n#### {a + c}"
            file.write(json.dumps({"question": question, "answer": answer}) + "\n")


def train_own(root: Path, config: dict) -> Path:
    """Trains on problems in GSM8K's format, written to `own`; returns the checkpoint's folder."""
    (root / "data" / "own").mkdir(parents=True)
    for name, rows in (("train", 60), ("test", 20)):
        write_gsm8k(root / "data" / "own" / f"{name}.jsonl", rows, len(name))
    folder = root / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    arguments = ["--data", str(root / "data"), "--runs", str(root / "runs")]
    assert main(["train", str(folder / "config.json"), *arguments]) == 0
    return folder


def test_from_a_file_of_problems_to_a_verdict(tmp_path, capsys):
    config = {
        "format": 1, "kind": "operands", "model": {"mechanism": "tri", "hidden": 16},
        "data": {"train": ["own/train"], "test": "own/test", "dev_problems": 10},
        "training": {"epochs": 2, "batch": 25, "seed": 0},
    }  # fmt: skip
    folder = train_own(tmp_path, config)
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["n"] == 20 and metrics["test"]["chance"] == pytest.approx(16.67)
    assert metrics["dev"]["n"] == 10
    assert all(check.good for check in verify(str(folder)))
    bundle = load(folder, "cpu")
    example = operand_pairs.examples()[0]
    prediction, trace = explain(bundle, example)
    assert prediction.labels[prediction.gold] == "3 and 24"
    assert sum(prediction.probabilities) == pytest.approx(1.0, abs=1e-4)
    assert trace.sites["layer.0/a_over_b/weight"].sizes == {"head": 1, "query": 1, "key": 4, "context": 4}
    capsys.readouterr()
    assert main(["evaluate", str(folder), str(tmp_path / "data" / "own" / "test.jsonl"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["n"] == 20
    assert report["metrics"]["right_pair"] == metrics["test"]["right_pair"]


@torch.no_grad()
def test_a_frozen_encoder_reads_the_words_on_each_side_by_themselves():
    words, tokenizer = load_word_states("minilm-en", "cpu")
    batch = example_batch(examples(), tokenizer)
    found = words(batch).words
    assert found.shape == (*batch.keep.shape, words.hidden)
    assert torch.count_nonzero(found[~batch.keep]) == 0
    ids = tokenizer.encode(["a shelf has", "rows of 24 books"], 24)  # around the 3 of the first problem
    special = tokenizer.special
    row = torch.tensor([[special["cls"], *ids[0].ids, special["mask"], *ids[1].ids, special["sep"]]])
    states = words.encoder.alone(row).last_hidden_state[0]
    before, after = states[1 : 1 + len(ids[0])].mean(0), states[2 + len(ids[0]) : -1].mean(0)
    torch.testing.assert_close(found[0, 0], torch.cat([before, after]), rtol=1e-4, atol=1e-5)
    table, rows = words.indexed(batch)
    torch.testing.assert_close(table[rows.words], found, rtol=0, atol=0)


def test_a_model_with_frozen_words_from_a_file_to_a_verdict(tmp_path):
    config = {
        "format": 1, "kind": "operands", "encoder": "minilm-en", "model": {"mechanism": "tri", "hidden": 16},
        "data": {"train": ["own/train"], "test": "own/test", "dev_problems": 10},
        "training": {"epochs": 1, "batch": 25, "seed": 0},
    }  # fmt: skip
    folder = train_own(tmp_path, config)
    bundle = load(folder, "cpu")
    assert bundle.config.encoder_digest == bundle.encoder.digest
    assert bundle.model.numbers.words is None
    prediction, _ = explain(bundle, operand_pairs.examples()[0])
    assert sum(prediction.probabilities) == pytest.approx(1.0, abs=1e-4)
