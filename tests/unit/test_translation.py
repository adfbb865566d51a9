"""Translation models, beam search and sub-words, against loops in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.oracles import translation as oracle
from triattn_core.attention.tap import recording
from triattn_core.configs.translation import ENCODERS, TranslationConfig
from triattn_core.inference.beam_search import beam_search
from triattn_core.inference.translate import target_role
from triattn_core.models.translation import Sentences, TranslationModel
from triattn_core.tasks import translation
from triattn_core.text.roles import Limits
from triattn_core.text.sub_words import SubWords, learn_sub_words

WORDS, LAYERS, HEADS = 11, 2, 2
SOURCES, TARGETS = ([3, 5, 7, 4, 9], [6, 2]), ([0, 8, 3], [0, 5, 5, 10])


def model(mechanism: str) -> TranslationModel:
    """In float64, all numbers drawn."""
    own = {"scale_t": "identity"} if mechanism == "mtsa" else {}
    config = TranslationConfig(mechanism=mechanism, out=8, heads=HEADS, layers=LAYERS, feed_forward=7, **own)
    module = TranslationModel(config, WORDS)
    draw = torch.Generator().manual_seed(3)
    for parameter in module.double().parameters():
        parameter.data = torch.randn(parameter.shape, dtype=torch.float64, generator=draw) / 2
    return module.eval()


def padded(sentences) -> Sentences:
    """Padding of a word that is one elsewhere."""
    width = max(map(len, sentences))
    ids = torch.tensor([[*sentence, *[1] * (width - len(sentence))] for sentence in sentences])
    return Sentences(ids, torch.arange(width) < torch.tensor([[len(sentence)] for sentence in sentences]))


@pytest.mark.parametrize("mechanism", ENCODERS)
def test_a_translation_model_is_that_of_the_papers(mechanism):
    module = model(mechanism)
    output = module(padded(SOURCES), padded(TARGETS)).detach()
    W = {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}
    for b, (source, target) in enumerate(zip(SOURCES, TARGETS)):
        expected = oracle.scores(source, target, W, LAYERS, HEADS, mechanism)
        np.testing.assert_allclose(output[b, : len(target)], expected, rtol=1e-5, atol=1e-6)  # sinusoids are float32


@pytest.mark.parametrize("mechanism", ENCODERS)
def test_recording_shows_encoder_decoder_and_cross_attention(mechanism):
    module = model(mechanism)
    with recording() as record:
        output = module(padded(SOURCES), padded(TARGETS))
    torch.testing.assert_close(output, module(padded(SOURCES), padded(TARGETS)))
    weights = {str(site): tapped.tensor for site, tapped in record.sites.items() if site.quantity == "weight"}
    assert {f"{part}/layer.{i}/weight" for part in ("target", "cross") for i in range(LAYERS)} <= set(weights)
    assert any(site.startswith("source/layer.1/") for site in weights)
    cross = weights["cross/layer.0/weight"]
    assert cross.shape == (2, HEADS, 4, 5) and not cross[1, ..., 2:].any()
    torch.testing.assert_close(cross.sum(-1), torch.ones_like(cross[..., 0]))
    assert not weights["target/layer.0/weight"].triu(1).any()


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_best_of_all_sequences(seed, alpha):
    words, longest, start, end = 4, 4, 0, 2
    draw = np.random.default_rng(seed)
    tables = {}

    def log_probability(prefix, word):
        if prefix not in tables:
            logits = draw.normal(size=words) * 2
            tables[prefix] = logits - math.log(sum(np.exp(logits)))
        return tables[prefix][word]

    expected = oracle.best_sequences(log_probability, words, start, end, longest, alpha)

    def step(rows, prefixes):
        return torch.tensor(
            [[log_probability(tuple(prefix), word) for word in range(words)] for prefix in prefixes.tolist()],
            dtype=torch.float32,
        )

    (found, short) = beam_search(step, [longest, 1], start, end, beams=90, alpha=alpha)
    assert len(found) > 50
    for hypothesis, (score, tokens) in zip(found, expected):
        assert hypothesis.score == pytest.approx(score, abs=1e-5)
        assert hypothesis.tokens == tokens
    assert {len(hypothesis.tokens) for hypothesis in short} == {0, 1}


def test_one_beam_is_greedy():
    def step(rows, prefixes):
        logits = torch.zeros(len(prefixes), 5)
        for i, (row, length) in enumerate(zip(rows.tolist(), [prefixes.shape[1]] * len(rows))):
            logits[i, (row + length) % 3 + 1 if length < 4 + row else 4] = 3.0
        return logits.log_softmax(-1)

    first, second = beam_search(step, [9, 9], 0, 4, beams=1, alpha=0.0)
    assert first[0].tokens == (2, 3, 1) and second[0].tokens == (3, 1, 2, 3) and first[0].ended
    assert first[0].log_probability == pytest.approx(4 * (3 - math.log(math.exp(3) + 4)), abs=1e-5)


TEXTS = ["The river rises.", "Der Fluss steigt, und wir steigen mit.", "Rivers rise; flüsse steigen."] * 3


def test_sub_words_give_back_the_text(tmp_path):
    file = tmp_path / "tokenizer.json"
    learn_sub_words(TEXTS, 60).save(str(file))
    sub_words = SubWords(file)
    for text, tokens in zip(TEXTS, sub_words.encode(TEXTS, 90)):
        assert sub_words.decode(tokens.ids) == text
        parts = [text[start:end] for start, end in tokens.spans]
        assert " " not in "".join(parts) and "".join(parts) == text.replace(" ", "")
        words = "".join(
            part if string.startswith("##") or not part.isalnum() else f" {part}"
            for part, string in zip(parts, tokens.strings)
        )
        assert words.split()[0] == text.split()[0]


def test_a_space_alone_has_a_visible_name(tmp_path):
    """Punctuation is a sub-word of its own, so what stands before a quotation mark is the space alone."""
    file = tmp_path / "tokenizer.json"
    learn_sub_words([*TEXTS, "Der “Fluss” steigt."], 60).save(str(file))
    sub_words = SubWords(file)
    ((texts,),) = translation.roles([translation.Example("Der “Fluss” steigt.")], sub_words, Limits(tokens=90))
    read = texts.roles["source"]
    assert all(read.strings) and read.strings[read.strings.index("“") - 1] == "␣"
    written = target_role(read.ids, sub_words)
    assert all(written.strings) and "␣" in written.strings
