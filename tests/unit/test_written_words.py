"""A later word of a translation, and the whole text under other weights: against a loop of passes by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.tiny_transformers import make, make_type
from triattn_core.checkpoint.registry import add_roots, find_encoder
from triattn_core.errors import InputError
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.models import Models
from triattn_core.sources.weight_change import WeightChange
from triattn_core.sources.written import written_words
from triattn_core.tasks.sentences import Example

TEXT = "unhappy cats sat on mats"
LAYER, HEAD = 1, 2


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    """The entry, its model, the inputs, and the ids that a loop of passes writes."""
    root = tmp_path_factory.mktemp("writers")
    make_type("marian", root / "writes-marian", "MarianMTModel")
    make("gpt2", root / "writes-gpt2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(find_encoder("minilm-en").parents[1]))
        add_roots([root])
        entry = find_entries(["writes-marian"])[0]
        loaded = Models("cpu").load(entry)
        draw = torch.Generator().manual_seed(5)
        for name, weight in loaded.model.named_parameters():
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.5, generator=draw)
            elif name.endswith("weight"):
                torch.nn.init.ones_(weight)
        loaded.model.generation_config.forced_eos_token_id = loaded.model.generation_config.eos_token_id  # as MarianMT
        inputs = {name: loaded.tokenizer(TEXT, return_tensors="pt")[name] for name in ("input_ids", "attention_mask")}
        yield entry, loaded, inputs


def write_by_hand(model, inputs, count):
    ids = [model.config.decoder_start_token_id]
    with torch.no_grad():
        for _ in range(count):
            logits = model(**inputs, decoder_input_ids=torch.tensor([ids])).logits[0, -1]
            ids.append(int(logits.argmax()))
    return ids


def log_odds(logits, answer):
    logits = logits.double()
    return float(logits[answer] - torch.cat([logits[:answer], logits[answer + 1 :]]).logsumexp(0))


def off(loaded):
    """A hook on the cross-attention of one layer that leaves out one head."""
    module = loaded.model.model.decoder.layers[LAYER].encoder_attn.out_proj
    size = module.in_features // loaded.model.config.decoder_attention_heads

    def hook(module, args):
        values = args[0].clone()
        values[..., HEAD * size : (HEAD + 1) * size] = 0
        return (values, *args[1:])

    return module.register_forward_pre_hook(hook)


def test_a_later_word_and_its_odds_without_a_head(translator):
    entry, loaded, inputs = translator
    source, ids = open_source(entry, "cpu"), write_by_hand(loaded.model, inputs, 4)
    assert written_words(loaded, TEXT)[:4] == [loaded.tokenizer.decode([i]) for i in ids[1:]]
    prediction, trace = source.explain(Example(TEXT), 2, model=loaded)
    assert prediction.option == trace.meta["option"] == 2
    assert trace.sites["layer.0/cross/weight"].sizes["query"] == 3  # the start and the two words before
    decoder = {**inputs, "decoder_input_ids": torch.tensor([ids[:3]])}
    with torch.no_grad():
        before = loaded.model(**decoder).logits[0, -1]
        hook = off(loaded)
        after = loaded.model(**decoder).logits[0, -1]
        hook.remove()
    assert prediction.labels[0] == loaded.tokenizer.decode([ids[3]])
    change = WeightChange("off", ((f"layer.{LAYER}/cross/weight", HEAD),))
    result = source.replace(Example(TEXT), [change, WeightChange("shuffled", seed=1)], 2, model=loaded)
    wanted = [log_odds(logits, ids[3]) for logits in (before, after)]
    np.testing.assert_allclose(result.log_odds[:2], wanted, atol=1e-4)
    assert abs(wanted[0] - wanted[1]) > 1e-3


def test_the_text_is_written_anew_under_the_change(translator):
    entry, loaded, inputs = translator
    change = WeightChange("off", ((f"layer.{LAYER}/cross/weight", HEAD),))
    before, after = open_source(entry, "cpu").replace(Example(TEXT), [change], model=loaded).written
    hook = off(loaded)
    ids = write_by_hand(loaded.model, inputs, 24)[1:]
    hook.remove()
    end = loaded.model.generation_config.eos_token_id
    ids = ids[: ids.index(end) + 1] if end in ids else ids
    assert after.removesuffix(" …") == loaded.tokenizer.decode(ids, skip_special_tokens=True).strip() != before


def test_its_source_is_attributed_for_that_word(translator):
    entry, loaded, inputs = translator
    ids = write_by_hand(loaded.model, inputs, 3)
    found, odds = open_source(entry, "cpu").attribute(Example(TEXT), ["attention"], option=2, model=loaded)
    loaded.model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = loaded.model(**inputs, decoder_input_ids=torch.tensor([ids[:3]]), output_attentions=True)
    loaded.model.set_attn_implementation("sdpa")
    cross = np.mean([layer[0].mean(0)[-1].numpy() for layer in outputs.cross_attentions], 0)
    np.testing.assert_allclose(found.table["attention"], cross, atol=1e-5)
    np.testing.assert_allclose(odds, log_odds(outputs.logits[0, -1], ids[3]), atol=1e-4)


def test_a_decoder_goes_on_with_its_text(translator):
    entry = find_entries(["writes-gpt2"])[0]
    loaded = Models("cpu").load(entry)
    before, after = (
        open_source(entry, "cpu").replace(Example("Which browsers can"), [WeightChange("even")], model=loaded).written
    )
    ids = loaded.tokenizer("Which browsers can", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        for _ in range(5):
            ids = torch.cat([ids, loaded.model(ids).logits[:, -1].argmax(-1, keepdim=True)], 1)
    assert before.startswith(loaded.tokenizer.decode(ids[0, -5:]).strip()) and after


def test_a_word_beyond_the_end_is_said_in_a_line(translator):
    entry, loaded, inputs = translator
    with pytest.raises(InputError, match="there is no token 400"):
        open_source(entry, "cpu").explain(Example(TEXT), 399, model=loaded)
