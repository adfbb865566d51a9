"""Texts that are encoded separately, against fresh runs of BERT."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from tests.support.tiny import make_encoder
from tests.unit.test_living_tan import HEADS, LIVING
from triattn_core.analysis.intervention.batched_variants import repeat_batch
from triattn_core.errors import ConfigError
from triattn_core.inference.batch import collate
from triattn_core.models.encoder import InputOverride
from triattn_core.models.encoders import load_encoder
from triattn_core.models.separate_encoder import ApartEncoder
from triattn_core.tasks import dialogue, pairs, reading
from triattn_core.text.roles import Limits
from triattn_core.training.tan.features import encode

# --- the encoding ---

TALK = dialogue.Example(("who play the red car ?", "what movie"), ("the big film", "a car"), 0)


TEXT = reading.Example("the car is red . who play ?", "what is red ?", ("the car", "a movie"), 0)


PAIRS = [pairs.Example("who play the red car ?", "what movie"), pairs.Example("the film", "the film")]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    make_encoder(folder)
    return *load_encoder(str(folder), "cpu"), transformers.BertModel.from_pretrained(folder).float().eval()


@torch.no_grad()
def layers(bert: transformers.BertModel, ids) -> tuple:
    return bert(input_ids=torch.tensor([list(ids)]), output_hidden_states=True).hidden_states


@torch.no_grad()
@pytest.mark.parametrize("task", [pairs, dialogue, reading])
def test_every_text_is_encoded_alone(world, task):
    encoder, tokenizer, bert = world
    examples = {"pairs": PAIRS, "dialogue": [TALK], "reading": [TEXT]}[task.NAME]
    rows = [row for example_roles in task.roles(examples, tokenizer, Limits(40, apart=True)) for row in example_roles]
    batch_states = ApartEncoder(encoder, (1, 2), False)(collate(rows, tokenizer))
    cls, sep = tokenizer.special["cls"], tokenizer.special["sep"]
    assert batch_states.pooled is None
    for i, row in enumerate(rows):
        for name in ("query", "key"):
            ids, states = getattr(row, name).ids, getattr(batch_states, name)
            assert states.own is None
            torch.testing.assert_close(
                states.vectors[i, states.keep[i]], layers(bert, [cls, *ids, sep])[1][0, 1:-1], rtol=0, atol=1e-5
            )
        ids = row.context.ids
        starts = [place for place, number in enumerate(ids) if number == cls] + [len(ids)]
        assert len(starts) == (3 if task is pairs else 2)
        whole = torch.cat([layers(bert, ids[a:b])[2][0] for a, b in zip(starts, starts[1:])])
        real = ~torch.tensor(row.context.special)
        assert batch_states.context.keep[i, : len(ids)].tolist() == real.tolist()
        torch.testing.assert_close(batch_states.context.vectors[i, : len(ids)][real], whole[real], rtol=0, atol=1e-5)


def test_what_stands_outside_the_context(world):
    _, tokenizer, _ = world
    ((talk, _),) = dialogue.roles([TALK], tokenizer, Limits(40, apart=True))
    ((text, _),) = reading.roles([TEXT], tokenizer, Limits(40, apart=True))
    assert set(talk.context.texts) == {"", "turn.1", "turn.2"} and set(text.context.texts) == {"", "passage"}
    assert set(talk.key.positions) == {-1} == set(text.key.positions) | set(text.query.positions)
    assert [talk.context.strings[i] for i in talk.query.positions] == list(talk.query.strings)


@torch.no_grad()
def test_hidden_and_given_words(world):
    """What an analysis hides or gives in place of words is what a fresh run of BERT would have read."""
    encoder, tokenizer, bert = world
    apart = ApartEncoder(encoder, (2, 2), True)
    rows = [example_roles for (example_roles,) in pairs.roles(PAIRS, tokenizer, Limits(40, apart=True))]
    batch = collate(rows, tokenizer)
    seen = batch.context.keep.clone()
    seen[0, 2] = False
    hidden = apart(batch, {"context": InputOverride(seen=seen)}).context.vectors[0]
    size = len(rows[0].query) + 2
    ids = torch.tensor([rows[0].context.ids[:size]])
    mask = torch.ones(1, size, dtype=torch.long)
    mask[0, 2] = 0
    slow = bert(input_ids=ids, attention_mask=mask).last_hidden_state[0]
    torch.testing.assert_close(hidden[:size], slow, rtol=0, atol=1e-5)
    words = encoder.joint.get_input_embeddings()(batch.context.ids)
    torch.testing.assert_close(
        apart(batch, {"context": InputOverride(words=words)}).context.vectors[0], apart(batch).context.vectors[0]
    )
    words = encoder.joint.get_input_embeddings()(batch.query.alone)
    torch.testing.assert_close(
        apart(batch, {"query": InputOverride(words=words)}).query.vectors[0], apart(batch).query.vectors[0]
    )


@torch.no_grad()
def test_variants_read_an_unchanged_text_once(world, monkeypatch):
    encoder, tokenizer, _ = world
    apart, read = ApartEncoder(encoder, (2, 2), True), []
    [roles] = pairs.roles(PAIRS[:1], tokenizer, Limits(40, apart=True))[0]
    batch = repeat_batch(collate([roles], tokenizer), 3)
    forward = encoder.joint.forward
    monkeypatch.setattr(
        encoder.joint, "forward", lambda **inputs: read.append(len(inputs["input_ids"])) or forward(**inputs)
    )
    seen = batch.context.keep.clone()
    seen[1, 2] = seen[2, 3] = False  # of the first text
    context_vectors = apart(batch, {"context": InputOverride(seen=seen)}).context.vectors
    assert read[-1] == 4  # the first text in three variants, the second as it is
    for row in range(3):
        alone = apart(collate([roles], tokenizer), {"context": InputOverride(seen=seen[row : row + 1])})
        torch.testing.assert_close(context_vectors[row], alone.context.vectors[0], rtol=0, atol=1e-6)


def test_layers_that_the_encoder_does_not_have(world, tmp_path):
    from triattn_core.configs.tan import TanCheckpoint
    from triattn_core.kinds import kind_of

    encoder, _, _ = world
    config = TanCheckpoint.model_validate(
        {
            "format": 1, "kind": "tan", "task": "pairs", "language": "en", "encoder": "tiny", "max_tokens": 20,
            "model": {"mechanism": "bi", **LIVING, "states": (2, 7), "heads": HEADS},
            "data": {"train": ["a"], "dev": "b"}, "training": {"epochs": 1, "rate": 0.1, "batch": 1},
        }
    )  # fmt: skip
    with pytest.raises(ConfigError, match="has 2 layers"):
        kind_of(config).frozen(config, encoder)


@pytest.mark.parametrize("cells", [None, (2, 2, 9)])
def test_features_keep_equal_sequences_once(world, tmp_path, cells):
    encoder, tokenizer, _ = world
    apart, limits = ApartEncoder(encoder, (1, 2), False), Limits(40, cells, True)
    rows = reading.roles([TEXT, TEXT], tokenizer, limits)
    features = encode(tmp_path / "found", apart, tokenizer, [(rows, [0, 1])], 2)
    assert len(features.ends["context"]) == 2 and len(features.ends["key"]) == 3
    batch, counts, _ = features.batch(np.array([0, 1]), "cpu")
    with torch.inference_mode():
        expected = apart(collate([row for one in rows for row in one], tokenizer))
    assert counts == [2, 2] and batch.pooled is None
    for name in ("query", "key", "context"):
        ours, theirs = getattr(batch, name), getattr(expected, name)
        for row in range(4):
            torch.testing.assert_close(
                ours.vectors[row, ours.keep[row]], theirs.vectors[row, theirs.keep[row]], rtol=0, atol=2e-3
            )
