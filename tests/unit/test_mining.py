"""Mining: every number of the table is what one example alone gives, for each task, and stopping keeps what came."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from pandas.testing import assert_frame_equal
from scipy.spatial.distance import jensenshannon

from tests.support.coin_checkpoints import make_checkpoints as make_coins
from tests.support.sentence_checkpoints import make_checkpoints as make_sentences
from tests.support.tiny import WORDS, make_checkpoint, make_encoder, make_rows
from tests.unit.test_choice_training import LIMITS, dialogue_row, reading_row
from triattn_core.analysis.mining import agreement, context_shift, miner, sources
from triattn_core.analysis.mining.case_table import load as stored
from triattn_core.analysis.mining.runs import Run
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain

pytestmark = pytest.mark.slow

TRIO = ("bi", "cbi", "tri")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Drawn checkpoints of three tasks, and a file of rows for each."""
    root = tmp_path_factory.mktemp("world")
    encoder = root / "checkpoints" / "encoders" / "tiny"
    make_encoder(encoder)
    (encoder / "metrics.json").write_text('{"start": "nothing", "start_had_seen": []}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        long = {"max_tokens": LIMITS.tokens, "cells": LIMITS.cells}
        for task, settings in (("pairs", {}), ("dialogue", long), ("reading", long)):
            for seed, mechanism in enumerate(TRIO):
                make_checkpoint(root, f"{task}-{mechanism}", mechanism, seed, task=task, **settings)
        make_rows(root / "pairs.jsonl", 30, 4)
        draw = random.Random(5)
        for name, row in (("dialogue", lambda: dialogue_row(draw, False)), ("reading", lambda: reading_row(draw))):
            (root / f"{name}.jsonl").write_text("".join(json.dumps(row()) + "\n" for _ in range(9)), "utf-8")
        yield root


def bundles(task: str):
    return [load(f"{task}-{mechanism}") for mechanism in TRIO]


def mined(world, task: str, size: int = 64):
    run = Run(bundles(task), sources.file_source(world / f"{task}.jsonl"))
    run._parts = miner.batches(run.bundles, sources.read_examples(task, run.source), size)
    while run.step():
        pass
    return run.case_table()


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
                    bundle.model.layers[0].attention(query, key, context, "x")
                weights.append(record.sites["x/weight"].tensor[0].sum(-1).double().numpy())
    of = [
        [np.mean([jensenshannon(one[h, n], other[h, n], 2) ** 2 for h in range(len(one))]) for n in range(one.shape[1])]
        for one, other in zip(weights[:2], weights[2:])
    ]
    return float(np.mean(of[0] + of[1])), of[0]


@pytest.mark.parametrize("task", ["pairs", "dialogue", "reading"])
def test_each_row_is_what_the_example_alone_gives(world, task):
    found, some = mined(world, task, size=7), bundles(task)
    examples = dict(sources.read_examples(task, sources.file_source(world / f"{task}.jsonl")))
    assert list(found.table["row"]) == sorted(examples)
    for _, row in found.table.iterrows():
        example = examples[row["row"]]
        assert row["label"] == example.label
        for bundle in some:
            said, trace = explain(bundle, example)
            assert row[f"{bundle.name} answer"] == said.best
            assert row[f"{bundle.name} confidence"] == pytest.approx(max(said.probabilities), abs=6e-5)
            assert row[f"{bundle.name} right"] == (said.best == example.label)
        options = some[-1].task.roles([example], some[-1].tokenizer, some[-1].config.limits)[0]
        assert row["tokens"] == max(len(one.context) - sum(one.context.special) for one in options)
        mean, at = alone(some[-1], example, said.option)
        assert row[f"{task}-tri moved"] == pytest.approx(mean, abs=6e-6) and mean > 1e-4
        np.testing.assert_allclose(row[f"{task}-tri moved at"], at, atol=6e-5)


def test_neither_padding_nor_the_parts_of_a_batch_matter(world, monkeypatch):
    whole = mined(world, "pairs")
    monkeypatch.setattr(context_shift, "LARGEST", 500)
    for size in (1, 30):
        other = mined(world, "pairs", size).table
        for column in ("pairs-tri moved", "pairs-tri confidence", "pairs-bi confidence"):
            np.testing.assert_allclose(other[column], whole.table[column], atol=1.1e-4 if "conf" in column else 1.1e-5)


def test_a_context_without_weight_moves_nothing(world):
    """Where H c is 0 for every token, the cube is Bi's weights, shared out among the context tokens alike."""
    bundle = load("pairs-tri")
    with torch.no_grad():
        bundle.model.layers[0].attention.similarity.H.zero_()
    source = sources.file_source(world / "pairs.jsonl")
    part = next(miner.mine([load("pairs-bi"), bundle], sources.read_examples("pairs", source)))
    assert part.table["pairs-tri moved"].max() < 1e-9


def test_what_was_mined_before_a_stop_is_kept(world, monkeypatch):
    monkeypatch.setattr(miner, "WINDOW", 10)
    run = Run(bundles("pairs"), sources.file_source(world / "pairs.jsonl"))
    with pytest.raises(DataError, match="no row"):
        run.case_table()
    assert run.lines == 30 and run.step() and run.step() and run.step()
    found = run.case_table()
    assert 10 < len(found.table) < 30 and not found.about.whole
    assert 10 < found.about.lines < 30 and found.table["row"].is_monotonic_increasing
    while run.step():
        pass
    assert len(run.case_table().table) == 30 and run.case_table().about.whole and run.case_table().about.lines == 30
    assert len(found.table) < 30


def test_a_step_that_is_interrupted_is_computed_again(world, monkeypatch):
    monkeypatch.setattr(miner, "WINDOW", 10)
    run, table, calls = Run(bundles("pairs"), sources.file_source(world / "pairs.jsonl")), miner._table, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) in (1, 3):
            raise KeyboardInterrupt
        return table(*given)

    monkeypatch.setattr(miner, "_table", interrupted)
    for stops in (1, 0, 1, 0):
        with pytest.raises(KeyboardInterrupt) if stops else nullcontext():
            run.step()
    while run.step():
        pass
    assert len(calls) == len(run.parts) + 2
    assert_frame_equal(run.case_table().table, mined(world, "pairs").table, check_exact=False)


def test_rows_that_cannot_be_read_are_set_aside_with_line_and_reason(world, tmp_path):
    good = {"text_a": "who play", "text_b": "what play", "label": 1}
    bad = {
        "not JSON": "{",
        "expected an object, got list": "[1]",
        "field 'text_a' must be text": json.dumps(good | {"text_a": 3}),
        "field 'label' must be 0 or 1": json.dumps(good | {"label": "1"}),
        "Sentence B is empty": json.dumps(good | {"text_b": " "}),
        "no character that the model can read": json.dumps(good | {"text_a": "\u200b\u200b"}),
        "half a character": json.dumps(good | {"text_a": "\ud83d"}),
    }
    lines = [line for one in bad.values() for line in (json.dumps(good), one, "")]
    path = tmp_path / "rows.jsonl"
    path.write_bytes("\n".join(lines).encode() + b'{"text_a": "\xff"}\n' + json.dumps(good).encode())
    run = Run(bundles("pairs"), sources.file_source(path))
    while run.step():
        pass
    found = run.case_table()
    assert list(found.table["row"]) == [1, 4, 7, 10, 13, 16, 19, 22] and found.about.whole
    assert found.about.aside == len(bad) + 1 == len(found.about.complaints)
    for line, reason in zip(range(2, 22, 3), bad):
        assert any(f":{line}: " in one or f"line {line}: " in one for one in found.about.complaints if reason in one)
    assert any(":21: not UTF-8" in one for one in found.about.complaints)


def test_a_row_that_nobody_judged_is_mined_and_not_counted(world, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text_a": "who play", "text_b": "what play"}\n{"text_a": "a", "text_b": "car", "label": 0}\n')
    run = Run(bundles("pairs"), sources.file_source(path))
    run.step()
    found = run.case_table()
    assert list(found.table["label"]) == [-1, 0] and not found.table["pairs-bi right"][0]
    assert agreement.right_combinations(found)["rows"].sum() == 1


def test_checkpoints_of_two_encoders_are_asked_together(world):
    """Each row is what either says alone; the encoders have cut the texts in different ways."""
    if not (world / "checkpoints" / "encoders" / "other").exists():
        make_encoder(world / "checkpoints" / "encoders" / "other", seed=11, words=WORDS[::-1][4:])
        make_checkpoint(world, "pairs-other", "tri", 9, encoder="other", max_tokens=11)
    some = [load("pairs-bi"), load("pairs-other"), load("pairs-tri")]
    run = Run(some, sources.file_source(world / "pairs.jsonl"))
    run._parts = miner.batches(some, sources.read_examples("pairs", run.source), 7)
    while run.step():
        pass
    found = run.case_table()
    assert len(found.table) == 30 and found.names == ["pairs-bi", "pairs-other", "pairs-tri"]
    for line, example in sources.read_examples("pairs", run.source):
        row = found.table[found.table["row"] == line].iloc[0]
        for bundle in some:
            said, _ = explain(bundle, example)
            assert row[f"{bundle.name} answer"] == said.best
            assert row[f"{bundle.name} confidence"] == pytest.approx(max(said.probabilities), abs=6e-5)
    differ = found.table["pairs-tri confidence"] - found.table["pairs-other confidence"]
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
    found = stored(tmp_path / "cases.parquet")
    assert [one.similarity for one in found.about.checkpoints] == ["additive" if kind == "pairs" else None, None]
    assert len(found.table) == source.lines
    for line, example in sources.read_examples(kind, source):
        row = found.table[found.table["row"] == line].iloc[0]
        for bundle in some:
            said, _ = explain(bundle, example)
            assert row[f"{bundle.name} answer"] == said.best
            assert row[f"{bundle.name} confidence"] == pytest.approx(min(max(said.probabilities), 0.9999), abs=6e-5)


def test_what_cannot_be_asked_together_is_refused(world):
    some = bundles("pairs")
    for wrong, why in (
        (some[:1], "2 to 4"),
        (some[:1] * 2, "named twice"),
        ([some[0], load("reading-bi")], "differ in their task"),
        ([some[0], replace(some[1], config=some[1].config.model_copy(update={"language": "zh"}))], "their language"),
    ):
        with pytest.raises(ConfigError, match=why):
            next(miner.mine(wrong, []))


def test_the_file_of_a_stored_table_is_found_by_name_and_digest(world):
    source = sources.file_source(world / "pairs.jsonl")
    folder, name = source.name.split("/")
    found = sources.find_source(source.name, source.sha256, [world.parent])
    assert name == "pairs.jsonl" and found.place == world / name
    assert sources.find_source(source.name, "0" * 64, [world.parent]) is None
    assert sources.find_source(f"../{name}", source.sha256, [world / "checkpoints"]) is None  # not out of the folder
    own = sources.example_source("pairs", "zh")
    assert sources.find_source(own.name, own.sha256, []) is not None
    assert len(list(islice(sources.read_examples("pairs", own), 5))) == 5
    handed = sources.uploaded_source("pairs.jsonl", (world / "pairs.jsonl").read_bytes())
    assert handed.sha256 == source.sha256 and handed.lines == 30


def test_divergence_is_symmetric_bounded_and_zero_for_the_same():
    p, q = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), torch.tensor([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(context_shift.row_divergence(p, q), [1, 0], atol=1e-12)
    np.testing.assert_allclose(context_shift.row_divergence(q, p), context_shift.row_divergence(p, q))
    assert context_shift.row_divergence(torch.zeros(2, 3), torch.zeros(2, 3)).tolist() == [0, 0]
