"""Mining: every number of the table is what one example alone gives, for each task and each kind of model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from tests.support.coin_checkpoints import make_checkpoints as make_coins
from tests.support.mining_world import bundles, mine_world, use_world
from tests.support.sentence_checkpoints import make_checkpoints as make_sentences
from tests.support.tiny import WORDS, make_checkpoint, make_encoder
from triattn_core.analysis.mining import context_shift, miner, sources
from triattn_core.analysis.mining.case_table import load as stored
from triattn_core.analysis.mining.runs import Run
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain
from triattn_core.trace.site import Site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_world(tmp_path_factory.mktemp("world")) as root:
        yield root


def alone(bundle, example, option: int) -> tuple[float, list[float]]:
    """How much context moved one example: SciPy's distance, a mask over all of the context, and loops."""
    roles = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0][option]
    with torch.inference_mode():
        encoded = bundle.encoder(collate([roles], bundle.tokenizer))
        nothing = States(encoded.context.vectors, torch.zeros_like(encoded.context.keep))
        a, b, weights = encoded.query, encoded.key, []
        for context in (encoded.context, nothing):
            for query, key in ((a, b), (b, a)):
                with recording() as record:
                    bundle.model.layers[0].attention(query, key, context, Site(role="x"))
                weights.append(record.sites["x/weight"].tensor[0].sum(-1).double().numpy())
    of = [
        [
            np.mean([jensenshannon(tensor[h, n], other[h, n], 2) ** 2 for h in range(len(tensor))])
            for n in range(tensor.shape[1])
        ]
        for tensor, other in zip(weights[:2], weights[2:])
    ]
    return float(np.mean(of[0] + of[1])), of[0]


@pytest.mark.parametrize("task", ["pairs", "dialogue", "reading"])
def test_each_row_is_what_the_example_alone_gives(world, task):
    cases, some = mine_world(world, task, size=7), bundles(task)
    examples = dict(sources.read_examples(task, sources.file_source(world / f"{task}.jsonl")))
    assert list(cases.table["row"]) == sorted(examples)
    for _, row in cases.table.iterrows():
        example = examples[row["row"]]
        assert row["label"] == example.label
        for bundle in some:
            prediction, trace = explain(bundle, example)
            assert row[f"{bundle.name} answer"] == prediction.best
            assert row[f"{bundle.name} confidence"] == pytest.approx(max(prediction.probabilities), abs=6e-5)
            assert row[f"{bundle.name} right"] == (prediction.best == example.label)
        options = some[-1].task.roles([example], some[-1].tokenizer, some[-1].config.limits)[0]
        assert row["tokens"] == max(len(option.context) - sum(option.context.special) for option in options)
        mean, at = alone(some[-1], example, prediction.option)
        assert row[f"{task}-tri moved"] == pytest.approx(mean, abs=6e-6) and mean > 1e-4
        np.testing.assert_allclose(row[f"{task}-tri moved at"], at, atol=6e-5)


def test_neither_padding_nor_the_parts_of_a_batch_matter(world, monkeypatch):
    whole = mine_world(world, "pairs")
    monkeypatch.setattr(context_shift, "LARGEST", 500)
    for size in (1, 30):
        other = mine_world(world, "pairs", size).table
        for column in ("pairs-tri moved", "pairs-tri confidence", "pairs-bi confidence"):
            np.testing.assert_allclose(other[column], whole.table[column], atol=1.1e-4 if "conf" in column else 1.1e-5)


def test_a_context_without_weight_moves_nothing(world):
    """Where H c is 0 for every token, the cube is Bi's weights, shared out among the context tokens alike."""
    bundle = load("pairs-tri")
    with torch.no_grad():
        bundle.model.layers[0].attention.similarity.H.zero_()
    source = sources.file_source(world / "pairs.jsonl")
    table = miner.mine([load("pairs-bi"), bundle], list(sources.read_examples("pairs", source)))
    assert table["pairs-tri moved"].max() < 1e-9


def test_checkpoints_of_two_encoders_are_asked_together(world):
    """Each row is what either says alone; the encoders have cut the texts in different ways."""
    if not (world / "checkpoints" / "encoders" / "other").exists():
        make_encoder(world / "checkpoints" / "encoders" / "other", seed=11, words=WORDS[::-1][4:])
        make_checkpoint(world, "pairs-other", "tri", 9, encoder="other", max_tokens=11)
    some = [load("pairs-bi"), load("pairs-other"), load("pairs-tri")]
    run = Run(some, sources.file_source(world / "pairs.jsonl"), size=7)
    while run.step():
        pass
    cases = run.case_table()
    assert len(cases.table) == 30 and cases.names == ["pairs-bi", "pairs-other", "pairs-tri"]
    for line, example in sources.read_examples("pairs", run.source):
        row = cases.table[cases.table["row"] == line].iloc[0]
        for bundle in some:
            prediction, _ = explain(bundle, example)
            assert row[f"{bundle.name} answer"] == prediction.best
            assert row[f"{bundle.name} confidence"] == pytest.approx(max(prediction.probabilities), abs=6e-5)
    differ = cases.table["pairs-tri confidence"] - cases.table["pairs-other confidence"]
    assert differ.abs().max() > 1e-3


@pytest.mark.parametrize("kind", ["pairs", "sentences"])
def test_models_without_a_similarity_are_mined_too(world, tmp_path, monkeypatch, kind):
    """COIN beside a TAN, and two sentence models, each with what it answers alone; the table is stored and read."""
    if kind == "pairs":
        make_coins(tmp_path / "checkpoints", ("quora-coin",))
        monkeypatch.setenv("TRIATTN_CHECKPOINTS", f"{world / 'checkpoints'}:{tmp_path / 'checkpoints'}")
        some, source = [load("pairs-bi"), load("quora-coin")], sources.file_source(world / "pairs.jsonl")
    else:
        checkpoint_folder = make_sentences(tmp_path / "checkpoints", ("long-mtsa", "stacked-mtsa"))
        monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(checkpoint_folder))
        (tmp_path / "rows.jsonl").write_text('{"text": "which car", "label": 1}\n{"text": "who"}\n', "utf-8")
        some, source = [load("long-mtsa"), load("stacked-mtsa")], sources.file_source(tmp_path / "rows.jsonl")
    run = Run(some, source)
    while run.step():
        pass
    run.case_table().save(tmp_path / "cases.parquet")
    cases = stored(tmp_path / "cases.parquet")
    assert [checkpoint.similarity for checkpoint in cases.about.checkpoints] == [
        "additive" if kind == "pairs" else None,
        None,
    ]
    assert len(cases.table) == source.lines
    for line, example in sources.read_examples(kind, source):
        row = cases.table[cases.table["row"] == line].iloc[0]
        for bundle in some:
            prediction, _ = explain(bundle, example)
            assert row[f"{bundle.name} answer"] == prediction.best
            assert row[f"{bundle.name} confidence"] == pytest.approx(
                min(max(prediction.probabilities), 0.9999), abs=6e-5
            )


def test_divergence_is_symmetric_bounded_and_zero_for_the_same():
    p, q = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), torch.tensor([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(context_shift.row_divergence(p, q), [1, 0], atol=1e-12)
    np.testing.assert_allclose(context_shift.row_divergence(q, p), context_shift.row_divergence(p, q))
    assert context_shift.row_divergence(torch.zeros(2, 3), torch.zeros(2, 3)).tolist() == [0, 0]
