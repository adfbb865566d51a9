"""Translation models of several languages: which ones they read and write is said."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.trace.from_array import notes_of

LANGUAGES = ["eng_Latn", "fra_Latn", "deu_Latn"]
SIZES = {"d_model": 16, "vocab_size": 20, "max_position_embeddings": 40, "eos_token_id": 2, "pad_token_id": 1}
SIZES |= {f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
SIZES |= {"encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "decoder_start_token_id": 2}


def nllb(folder: Path, forced: int | None, **languages: str) -> str:
    """A folder with a small NLLB; forced: the id that it writes first."""
    words = ["<s>", "<pad>", "</s>", "<unk>", "▁a", "▁cat", "▁sat"]
    tokenizer = transformers.NllbTokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], extra_special_tokens=LANGUAGES, **languages
    )
    torch.manual_seed(3)
    model = transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**SIZES))
    model.generation_config.forced_bos_token_id = forced
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


TOLD = {
    "all": ({"src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}, "deu_Latn",
            "texts as eng_Latn and targets as deu_Latn, and writes deu_Latn:"),
    "none": ({}, "", "texts as eng_Latn and targets as eng_Latn, and begins what it writes with the token that it"),
    "target": ({"tgt_lang": "fra_Latn"}, "", "targets as fra_Latn, and begins what it writes with the token"),
    "written": ({"src_lang": "fra_Latn"}, "deu_Latn", "as fra_Latn and targets as fra_Latn, and writes deu_Latn"),
}  # fmt: skip


@pytest.mark.parametrize("told", TOLD)
def test_the_languages_of_a_model_of_several_are_said(told, tmp_path):
    languages, forced, said = TOLD[told]
    first = 8 + LANGUAGES.index(forced) if forced else None
    loaded = load_transformer(nllb(tmp_path, first, **languages))
    assert not forced or loaded.tokenizer.convert_ids_to_tokens(first) == forced
    notes = "\n".join(notes_of(trace_transformer(loaded, "a cat sat", generate=2)))
    assert said in notes and "tgt_lang in its tokenizer_config.json" in notes
    written = trace_transformer(loaded, "a cat sat", generate=1).sites["layer.0/cross/weight"]["query_token"]
    assert not forced or written.values.tolist() == [forced]
