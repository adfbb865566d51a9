"""Ids for which an embedding table has no row: said with the ids and the rows, wherever a text is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
import transformers

from tests.support.small_tokenizers import gpt2, t5
from tests.support.tiny_transformers import SIZES, make, make_type, word_pieces
from triattn_core.__main__ import main
from triattn_core.errors import CheckpointError, InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.sources.hugging_face import attribute_transformer
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_replace import Asked
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.sources.transformer_worth import measure_score
from triattn_core.trace.from_array import notes_of

TEXT = "the zebra can play movies"


def save(folder: Path, model: torch.nn.Module, tokenizer) -> str:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def encoder(folder: Path) -> str:
    config = transformers.BertConfig(vocab_size=20, max_position_embeddings=70, num_labels=3, **SIZES)
    return save(folder, transformers.BertForSequenceClassification(config), word_pieces())


def decoder(folder: Path) -> str:
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 16, "n_positions": 70, "bos_token_id": 0, "eos_token_id": 0}
    return save(folder, transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=70, **sizes)), gpt2())


def translator(folder: Path) -> str:
    config = transformers.T5Config(
        vocab_size=12, d_model=16, d_kv=8, d_ff=16, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    return save(folder, transformers.T5ForConditionalGeneration(config), t5())


MODELS = {"encoder": (encoder, 20), "decoder": (decoder, 70), "translator": (translator, 12)}


@pytest.mark.parametrize("kind", MODELS)
def test_a_tokenizer_of_more_tokens_than_rows_is_said_wherever_a_text_is_read(kind, tmp_path):
    make_folder, rows = MODELS[kind]
    model = load_transformer(make_folder(tmp_path))
    ids = [id_ for id_ in model.tokenizer(TEXT)["input_ids"] if id_ >= rows]
    says = re.compile(rf"has {rows} rows, its tokenizer {len(model.tokenizer)} tokens: .* \(id {ids[0]}\)")
    runs = [
        lambda: trace_transformer(model, TEXT),
        lambda: Asked.put(model, TEXT),
        lambda: attribute_transformer(model, TEXT, ["occlusion"]),
    ]
    for run in runs:
        with pytest.raises(InputError, match=says) as raised:
            run()
        assert "\n" not in str(raised.value)


def test_the_target_of_a_translator_is_read_by_its_own_table(tmp_path):
    model = load_transformer(translator(tmp_path))
    assert trace_transformer(model, "a", target="a").sites
    with pytest.raises(InputError, match=r"has 12 rows, .* no row for z \(id 31\)"):
        trace_transformer(model, "a", target="a z a")
    rows = [(1, TextRow(("a", "a"))), (2, TextRow(("a", "a z a")))]
    report = measure_score(model, rows)
    assert report["n"] == 1 and "line 2: " in report["aside"][0] and "z (id 31)" in report["aside"][0]


def test_an_encoder_and_a_decoder_may_have_tables_of_their_own(tmp_path):
    parts = [
        transformers.BertConfig(vocab_size=size, max_position_embeddings=70, is_decoder=bool(i), **SIZES)
        for i, size in enumerate((70, 20))
    ]
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*parts)
    config.decoder_start_token_id, config.pad_token_id = 2, 0
    model = load_transformer(save(tmp_path, transformers.EncoderDecoderModel(config), word_pieces()))
    assert trace_transformer(model, "movies").sites
    with pytest.raises(InputError, match=r"embedding table decoder\..* has 20 rows"):
        trace_transformer(model, "movies", target="movies")


def test_a_model_of_one_kind_of_text_takes_one_text(tmp_path):
    """As RoBERTa has it, whose tokenizer gives no numbers of texts."""
    config = transformers.BertConfig(vocab_size=70, max_position_embeddings=70, type_vocab_size=1, **SIZES)
    model = load_transformer(save(tmp_path, transformers.BertModel(config), word_pieces()))
    model.tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    assert trace_transformer(model, TEXT).sites
    with pytest.raises(InputError, match=r"token_type_embeddings has 1 row, .* from 0 to 1 \(token_type_ids\)"):
        trace_transformer(model, TEXT, "movies")


@pytest.mark.parametrize("family", ["roberta", "gpt2"])
def test_a_padding_token_that_the_tokenizer_alone_has_blanks_nothing(family, tmp_path):
    model = load_transformer(str(make(family, tmp_path)))
    model.tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    assert model.tokenizer.pad_token_id >= model.model.get_input_embeddings().num_embeddings
    table = attribute_transformer(model, "cats sat on mats", ["occlusion"])[0].table
    assert len(table) and table["occlusion"].notna().all()


OWN = """
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(5, 8), nn.Embedding(3, 8)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(len(ids)))
        return (x @ x.T).softmax(-1) @ x

def build():
    return Small(), lambda text: (torch.tensor([len(word) for word in text.split()]), text.split())
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a bbbbbbb cccccccc", "table words has 5 rows, from 0 to 4, and is asked for 7, 8"),
        ("a b c d", "table places has 3 rows, from 0 to 2, and is asked for 3"),
    ],
)
def test_a_table_of_ones_own_is_named(text, says, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(OWN)
    assert main(["record", f"{tmp_path / 'mine.py'}:build", "a bb"]) == 0
    assert main(["record", f"{tmp_path / 'mine.py'}:build", text]) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("model_type", ["longformer", "mpnet", "data2vec-text", "xmod", "luke", "ibert", "esm"])
def test_positions_that_begin_after_the_padding_are_not_run_out_of(model_type, tmp_path):
    """As RoBERTa's: a table of 20 positions reads fewer tokens."""
    model = load_transformer(str(make_type(model_type, tmp_path, max_position_embeddings=20)))
    model.tokenizer.model_max_length = 64
    trace = trace_transformer(model, "cats sat on mats " * 12)
    read = max(array.sizes["query"] for array in trace.sites.values())
    assert model.longest < 20 and read >= model.longest
    assert any(note.startswith(f"Cut to {model.longest} of ") for note in notes_of(trace))


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
@pytest.mark.parametrize("saved", ["flash_attention_2", "eager", "flex_attention"])
def test_the_attention_that_a_folder_was_saved_with_is_not_asked_for(family, key, saved, tmp_path):
    folder = make(family, tmp_path)
    before = trace_transformer(load_transformer(str(folder)), TEXT)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {key: saved}), "utf-8")
    after = trace_transformer(load_transformer(str(folder)), TEXT)
    for site, array in after.sites.items():
        torch.testing.assert_close(array.values, before.sites[site].values)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"id2label": {"0": "a", "1": "b"}, "label2id": {"a": 0, "b": 1}}, r"classifier\.(weight|bias) is 3.* and 2"),
        ({"vocab_size": 99}, r"word_embeddings\.weight is \d+ × 32, and 99 × 32 by its config.json: "),
        ({"hidden_size": 64}, r"by its config.json, as \d+ more of its weights"),
    ],
)
def test_sizes_that_a_config_does_not_have_are_said(changed, says, tmp_path):
    folder = make("bert", tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changed), "utf-8")
    with pytest.raises(CheckpointError, match=says) as raised:
        load_transformer(str(folder))
    assert "\n" not in str(raised.value)
