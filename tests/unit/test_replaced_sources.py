"""Sources with other weights: a Hugging Face model against hooks written by hand, a checkpoint against its own."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from tests.support.tiny_transformers import make, make_type
from triattn_core.checkpoint.registry import add_roots, find_encoder
from triattn_core.errors import ConfigError, InputError
from triattn_core.recording.replace import even_weights, seen_cells
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.models import Models
from triattn_core.sources.source import Ability, CanReplace
from triattn_core.sources.transformer import start_token
from triattn_core.sources.weight_change import WAYS, WeightChange
from triattn_core.tasks.pairs import Example
from triattn_core.tasks.sentences import Example as Sentence

A, B = "Which browsers can play movies?", "Which browser can download a movie?"
LAYERS, HEADS = 3, 4


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """The entry of a random BERT whose attention is far from even, so that a change of it is no rounding."""
    folder = make("bert", tmp_path_factory.mktemp("models") / "small-bert")
    model = transformers.BertForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith(("query.weight", "key.weight", "value.weight", "classifier.weight")):
                weights *= 6
    model.save_pretrained(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(find_encoder("minilm-en").parents[1]))
        add_roots([folder.parent])
        yield find_entries(["small-bert"])[0]


def logits_by_hand(model, inputs, heads, change):
    """change: of the values [head, n, d] of a layer and its weights [head, n, n], the outputs [head, n, d]."""

    def hook(module, arguments, keywords, output, layer):
        hidden = arguments[0] if arguments else keywords["hidden_states"]
        split = [getattr(module, name)(hidden)[0].unflatten(-1, (HEADS, -1)) for name in ("query", "key", "value")]
        query, key, value = (part.transpose(0, 1) for part in split)
        weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
        whole, changed = weights @ value, change(weights, value)
        for head in heads.get(layer, ()):
            whole[head] = changed[head]
        return whole.transpose(0, 1).flatten(1)[None], *output[1:]

    with ExitStack() as stack, torch.inference_mode():
        for number, layer in enumerate(model.bert.encoder.layer):
            told = lambda *parts, number=number: hook(*parts, layer=number)  # noqa: E731
            stack.callback(layer.attention.self.register_forward_hook(told, with_kwargs=True).remove)
        return model(**inputs).logits[0].double()


def mean_row(weights):
    return weights.mean(-2, keepdim=True).expand_as(weights)


def looks_at(weights, row, keys):
    changed = weights.clone()
    changed[:, row] = 0
    changed[:, row, keys] = 1 / len(keys)
    return changed


BY_HAND = {
    "even": lambda weights, value: value.mean(-2, keepdim=True).expand_as(value),
    "off": lambda weights, value: torch.zeros_like(value),
    "mean row": lambda weights, value: mean_row(weights) @ value,
    "edited row": lambda weights, value: looks_at(weights, 0, [2, 5]) @ value,
}
EVERY = {layer: range(HEADS) for layer in range(LAYERS)}


@pytest.mark.parametrize("heads", [EVERY, {1: [3]}, {0: [0, 2], 2: [1]}], ids=["all", "one", "three"])
@pytest.mark.parametrize("how", BY_HAND)
def test_the_numbers_are_those_of_hooks_written_by_hand(bert, how, heads):
    loaded = Models("cpu").load(bert)
    inputs = loaded.tokenizer(A, B, return_tensors="pt")
    own = logits_by_hand(loaded.model, inputs, {}, BY_HAND[how])
    changed = logits_by_hand(loaded.model, inputs, heads, BY_HAND[how])
    torch.testing.assert_close(own, loaded.model(**inputs).logits[0].double(), atol=1e-5, rtol=1e-4)
    best = int(own.argmax())
    rest = [i for i in range(3) if i != best]
    odds = [float(scores[best] - scores[rest].logsumexp(0)) for scores in (own, changed)]
    named = tuple((f"layer.{layer}/attention/weight", head) for layer in heads for head in heads[layer])
    change = WeightChange(how, () if heads is EVERY else named, row=0, keys=(2, 5))
    shuffles = [WeightChange("shuffled", seed=seed) for seed in range(20)]
    result = Models("cpu").replace(bert, Example(A, B), [change, *shuffles])
    np.testing.assert_allclose(result.log_odds[:2], odds, atol=1e-5, rtol=1e-5)
    assert abs(odds[1] - odds[0]) > 1e-6
    alone = Models("cpu").replace(bert, Example(A, B), [shuffles[17]])
    np.testing.assert_allclose(alone.log_odds[1], result.log_odds[19], atol=1e-5, rtol=1e-5)  # in a batch as alone
    assert len(set(result.log_odds[2:])) == 20


def test_the_trace_is_of_what_the_model_used(bert):
    models = Models("cpu")
    before = models.explain(bert, Example(A, B)).trace
    chosen = ("layer.1/attention/weight", 2)
    after = models.replace(bert, Example(A, B), [WeightChange("even", (chosen,))]).trace
    assert list(after.sites) == list(before.sites)
    changed = np.array([[not np.allclose(after.sites[site][h], before.sites[site][h], atol=1e-6) for h in range(HEADS)]
                        for site in [f"layer.{i}/attention/weight" for i in range(LAYERS)]])  # fmt: skip
    assert changed.tolist() == [[False] * 4, [False, False, True, False], [True] * 4]
    np.testing.assert_allclose(after.sites[chosen[0]][2], 1 / before.sites[chosen[0]].sizes["key"], atol=1e-6)


def test_another_texts_weights_are_taken_or_refused_in_a_line(bert):
    models, other = Models("cpu"), Example(B.replace("download", "play"), A)
    tokens = [models.explain(bert, example).trace.site("layer.0/attention/weight").sizes["key"]
              for example in (Example(A, B), Example(B, A), Example(A, A + " " + B))]  # fmt: skip
    assert tokens[0] == tokens[1] != tokens[2]
    change = WeightChange("another text", other=Example(B, A))
    given = models.explain(bert, Example(B, A)).trace
    after = models.replace(bert, Example(A, B), [change]).trace
    for site in ("layer.0/attention/weight", "layer.2/attention/weight"):
        np.testing.assert_allclose(after.sites[site], given.sites[site], atol=1e-6)
    with pytest.raises(InputError, match=r"the other text's map has \d+ × \d+ tokens, this one's \d+ × \d+"):
        models.replace(bert, Example(A, B), [WeightChange("another text", other=Example(A, A + " " + B))])
    assert other != Example(B, A)


@pytest.mark.parametrize("how", [way for way in WAYS if way != "another text"])
def test_checkpoints_take_the_same_changes(how):
    entry = find_entries(["quora-tri-living"])[0]
    assert isinstance(open_source(entry), CanReplace)
    example = Example("How do I read faster?", "How can I read more slowly?")
    models = Models("cpu")
    change = WeightChange(how, (("layer.0/a_over_b/weight", 1),), row=1, keys=(2,))
    result = models.replace(entry, example, [change, WeightChange("shuffled", seed=3)])
    before = models.explain(entry, example).trace.site("layer.0/a_over_b/weight")
    after = result.trace.site("layer.0/a_over_b/weight")
    same = [np.allclose(after[head], before[head], atol=1e-5) for head in range(before.sizes["head"])]
    assert same == [head != 1 for head in range(before.sizes["head"])]
    assert result.changes[0] != 0 and len(result.predictions) == 3
    if how == "edited row":  # the trace leaves out special tokens, which the model's own axes have
        row = after[1, 1].sum("context").values
        np.testing.assert_allclose(row, np.eye(len(row))[2], atol=1e-5)
        with pytest.raises(InputError, match=r"key 99: there are \d+ keys"):
            models.replace(entry, example, [replace(change, keys=(99,))])


def test_what_is_not_there_is_said_in_a_line(bert, tmp_path):
    models = Models("cpu")
    with pytest.raises(InputError, match="no weights at layer.9/attention/weight"):
        models.replace(bert, Example(A, B), [WeightChange("off", (("layer.9/attention/weight", 0),))])
    with pytest.raises(InputError, match="there is no head 5"):
        models.replace(bert, Example(A, B), [WeightChange("off", (("layer.0/attention/weight", 4),))])
    with pytest.raises(InputError, match="row 99 with keys 1: there are"):
        models.replace(bert, Example(A, B), [WeightChange("edited row", row=99, keys=(1,))])
    with pytest.raises(ConfigError, match="attention cannot become 'evn'; did you mean 'even'"):
        WeightChange("evn")
    make("bert", tmp_path / "bare" / "bare-bert", head=False)
    add_roots([tmp_path / "bare"])
    with pytest.raises(InputError, match="bare-bert cannot take other attention weights"):
        models.replace(find_entries(["bare-bert"])[0], Example(A, B), [WeightChange("off")])
    assert Ability.REPLACE in open_source(bert).abilities


def test_a_language_model_says_what_becomes_of_the_next_word(tmp_path):
    make("gpt2", tmp_path / "decoders" / "small-gpt2")
    add_roots([tmp_path / "decoders"])
    entry, models = find_entries(["small-gpt2"])[0], Models("cpu")
    result = models.replace(entry, Sentence("Which browsers can"), [WeightChange("even"), WeightChange("off")])
    loaded = models.load(entry)
    with torch.inference_mode():
        own = loaded.model(**loaded.tokenizer("Which browsers can", return_tensors="pt")).logits[0, -1].double()
    best = float(own.softmax(-1).max())
    np.testing.assert_allclose(result.predictions[0].probabilities[0], best, atol=1e-6)
    np.testing.assert_allclose(result.log_odds[0], np.log(best / (1 - best)), atol=1e-5)
    assert result.changes[0] != 0
    rows = result.trace.site("layer.1/attention/weight").values[0]
    np.testing.assert_allclose(rows, np.tril(np.ones_like(rows)) / np.arange(1, len(rows) + 1)[:, None], atol=1e-6)


def test_the_first_word_of_a_model_with_a_decoder_that_reads_an_encoder(tmp_path):
    make_type("t5", tmp_path / "both" / "small-t5", "T5ForConditionalGeneration")
    add_roots([tmp_path / "both"])
    entry, models = find_entries(["small-t5"])[0], Models("cpu")
    loaded, text = models.load(entry), "Which browsers can play movies?"
    inputs = loaded.tokenizer(text, return_tensors="pt")
    start = torch.tensor([[start_token(loaded.model)]])

    def log_odds_of(answer=None):
        with torch.inference_mode():
            shares = loaded.model(**inputs, decoder_input_ids=start).logits[0, -1].double().softmax(-1)
        answer = int(shares.argmax()) if answer is None else answer
        return answer, float(torch.log(shares[answer]) - torch.log1p(-shares[answer]))

    answer, own = log_odds_of()
    cross = [site for site in models.explain(entry, Sentence(text)).trace.sites if site.role == "cross"]
    first = tuple((site, head) for site in cross[:1] for head in range(loaded.model.config.num_heads))
    found = models.replace(entry, Sentence(text), [WeightChange("off", first), WeightChange("even")])
    module = loaded.model.decoder.block[0].layer[1].EncDecAttention  # has no bias: without weights it adds nothing
    hook = module.register_forward_hook(lambda module, args, output: (torch.zeros_like(output[0]), *output[1:]))
    _, off = log_odds_of(answer)
    hook.remove()
    np.testing.assert_allclose(found.log_odds[:2], [own, off], atol=1e-4)
    assert abs(own - off) > 1e-4 and found.log_odds[2] != own


def test_a_weight_that_is_zero_by_rounding_is_seen_and_a_masked_one_is_not():
    scores = torch.tensor([[[[0.0, 200.0, 3.0], [0.0, 1.0, torch.finfo(torch.float32).min], [5.0, -1e4, 0.0]]]])
    weights = scores.softmax(-1)
    assert (weights == 0).sum() == 4
    expected = [[True, True, True], [True, True, False], [True, False, True]]
    assert seen_cells(weights, scores)[0, 0].tolist() == expected
    even = even_weights(weights, seen_cells(weights, scores))
    np.testing.assert_allclose(even[0, 0], [[1 / 3] * 3, [0.5, 0.5, 0], [0.5, 0, 0.5]])
