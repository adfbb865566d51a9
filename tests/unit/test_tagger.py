"""Taggers, the decoding of BIO tags and the scores of semantic roles, against loops in float64."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from tests.oracles import tagging as oracle
from triattn_core.attention.tap import recording
from triattn_core.configs.tagger import TaggerConfig
from triattn_core.inference.tag_decoding import best_tags
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.tagger import MarkedStates, Tagger
from triattn_core.tasks import roles
from triattn_core.text.bio_tags import bio_tags, breaks_bio, chunks

N, HIDDEN, LAYERS, HEADS = 7, 5, 2, 4
KEEP = torch.tensor([[1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0, 0]]).bool()
PREDICATES = (2, 5, 0)
LABELS = ("V", "ARG0", "C-ARG0", "ARG1", "C-V")


def tagger(mechanism: str, **settings) -> Tagger:
    """In float64, all numbers drawn."""
    own = {"mtsa": {"heads": HEADS, "scale_t": "identity"}, "multi_head": {"heads": HEADS}}.get(mechanism, {})
    config = TaggerConfig(mechanism=mechanism, out=12, layers=LAYERS, feed_forward=11, **own, **settings)
    module = Tagger(config, HIDDEN, 3)
    draw = torch.Generator().manual_seed(3)
    for parameter in module.double().parameters():
        parameter.data = torch.randn(parameter.shape, dtype=torch.float64, generator=draw) / 2
    return module.eval()


def states(seed: int = 1) -> MarkedStates:
    """Numbers where padding is too."""
    vectors = torch.randn(3, N, HIDDEN, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    marked = torch.zeros(3, N, dtype=torch.bool)
    for row, predicate in enumerate(PREDICATES):
        marked[row, predicate] = True
    return MarkedStates(vectors, KEEP, marked)


def test_a_tagger_with_mtsa_is_that_of_the_papers():
    module, given = tagger("mtsa"), states()
    output = module(given).detach()
    W = {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}
    for b, (keep, predicate) in enumerate(zip(KEEP, PREDICATES)):
        expected = oracle.tagger(given.vectors[b, keep].numpy(), predicate, W, LAYERS, HEADS)
        np.testing.assert_allclose(output[b, keep], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("mechanism", FUSIONS)
def test_padding_changes_no_tag(mechanism):
    module, given = tagger(mechanism), states()
    output = module(given)
    for b, keep in enumerate(KEEP):
        alone = MarkedStates(given.vectors[b : b + 1, keep], KEEP[b : b + 1, keep], given.marked[b : b + 1, keep])
        torch.testing.assert_close(output[b : b + 1, keep], module(alone))


@pytest.mark.parametrize("mechanism", ["mtsa", "multi_head", "disa"])
def test_the_predicate_and_the_order_matter(mechanism):
    module, given = tagger(mechanism, positions=mechanism == "multi_head"), states()
    output = module(given)
    other = MarkedStates(given.vectors, KEEP, given.marked.roll(1, 1))
    turned = MarkedStates(given.vectors.flip(1), KEEP.flip(1), given.marked.flip(1))
    assert not torch.allclose(output[1], module(other)[1])
    assert not torch.allclose(output[1], module(turned)[1].flip(0))


def test_recording_shows_each_layer_and_changes_nothing():
    module, given = tagger("mtsa"), states()
    with recording() as record:
        output = module(given)
    torch.testing.assert_close(output, module(given))
    assert {f"layer.{i}/token2token/weight" for i in range(LAYERS)} <= set(map(str, record.sites))


@pytest.mark.parametrize("seed", range(20))
def test_decoding_finds_the_best_of_all_well_formed_sequences(seed):
    draw = np.random.default_rng(seed)
    tags, length = bio_tags(("A", "B")), 4
    scores = draw.normal(size=(2, length + 2, len(tags)))
    scores[0, :length, 2::2] += 1.5  # I is tempting
    keep = torch.tensor([[True] * length + [False] * 2, [True] * 3 + [False] * 3])
    found = best_tags(torch.from_numpy(scores), keep)
    for row, count in ((0, length), (1, 3)):
        expected = oracle.best_tags(scores[row, :count], tags)
        assert tuple(tags[i] for i in found[row, :count]) == expected
        assert not found[row, count:].any()


def test_decoding_needs_its_constraints():
    """Twin: the best tag of each token alone breaks the rules that the decoding keeps."""
    scores = torch.zeros(1, 5, 5)
    scores[:, :, 2] = 1.0
    tags = bio_tags(("A", "B"))
    assert breaks_bio([tags[i] for i in scores.argmax(-1)[0]]) == 0
    assert breaks_bio([tags[i] for i in best_tags(scores, torch.ones(1, 5, dtype=torch.bool))[0]]) is None


def drawn_tags(draw: random.Random, length: int) -> tuple[str, ...]:
    tags: list[str] = []
    while len(tags) < length:
        label = draw.choice((None, None, *LABELS))
        size = min(draw.randint(1, 3), length - len(tags))
        tags += ["O"] * size if label is None else [f"B-{label}", *[f"I-{label}"] * (size - 1)]
    return tuple(tags)


def test_scores_are_those_of_conll():
    draw = random.Random(1)
    gold, predicted = [], []
    for _ in range(300):
        gold.append(drawn_tags(draw, 9))
        predicted.append(gold[-1] if draw.random() < 0.2 else tuple(drawn_tags(draw, 9)[:5] + drawn_tags(draw, 4)))
        if predicted[-1] is not gold[-1] and draw.random() < 0.6:
            half = drawn_tags(draw, 4)
            predicted[-1] = tuple(gold[-1][:5]) + half
    expected = oracle.score(gold, predicted)
    verdicts = [
        roles.compare(roles.Example(("w",) * 9, 0, right, "verb"), said) for right, said in zip(gold, predicted)
    ]
    measured = roles.metrics(verdicts)
    assert 5 < expected["complete"] < 60 and 20 < expected["f1"] < 90  # chance does not decide
    for name, value in expected.items():
        assert measured[name] == pytest.approx(value, abs=0.006)


def test_a_continued_argument_is_one():
    assert roles.arguments(["B-ARG1", "B-V", "B-C-ARG1", "I-C-ARG1"]) == {("ARG1", ((0, 1), (2, 4)))}
    assert roles.arguments(["B-C-ARG1", "B-V", "B-C-V"]) == {("ARG1", ((0, 1),))}
    assert chunks(["O", "I-A", "I-A", "I-B", "B-B"]) == [("A", 1, 3), ("B", 3, 4), ("B", 4, 5)]
