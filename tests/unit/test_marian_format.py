"""A translation model as a MarianMTModel: the same scores, from a folder that transformers opens."""

from __future__ import annotations

import pytest
import torch
import transformers

from tests.support.translation_checkpoints import make_checkpoints
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import ConfigError
from triattn_core.models.marian_format import to_marian, write_marian
from triattn_core.models.translation import padded

TEXTS = ("Where is the old clock?", "The baker gave her neighbour a loaf.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"))


def test_it_computes_the_same(folder):
    bundle = load(folder / "translation-multi-head", "cpu")
    for parameter in bundle.model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel())) / 3
    pad = bundle.tokenizer.special["pad"]
    source = padded([tokens.ids for tokens in bundle.tokenizer.encode(TEXTS, 40)], pad)
    target = padded([[bundle.tokenizer.start, 9, 12, 30], [bundle.tokenizer.start, 7, 8, 20]], pad)
    marian = to_marian(bundle)
    with torch.no_grad():
        expected = bundle.model(source, target)
        found = marian(input_ids=source.ids, attention_mask=source.keep.long(), decoder_input_ids=target.ids).logits
    assert expected.std() > 0.5
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_transformers_opens_the_folder(folder, tmp_path):
    bundle = load(folder / "translation-multi-head", "cpu")
    write_marian(bundle, tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    model = transformers.MarianMTModel.from_pretrained(tmp_path)
    assert tuple(tokenizer(TEXTS[0])["input_ids"]) == tuple(bundle.tokenizer.encode(TEXTS[:1], 40)[0].ids)
    ids = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    assert model.generate(ids, max_new_tokens=5).shape[1] <= 6


def test_another_encoder_has_no_such_format(folder):
    with pytest.raises(ConfigError, match="only a translation model with multi-head attention"):
        to_marian(load(folder / "translation-mtsa", "cpu"))
