"""Small tokenizers of the kinds that models have, made on the spot: the settings of Llama, T5, GPT-2 and BERT."""

from __future__ import annotations

import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]


def llama() -> transformers.PreTrainedTokenizerFast:
    """As Llama 2 and Gemma have it: no pre-tokenizer, so that a text is one word to it; bytes for the unknown."""
    letters = [*"▁abcdefghijklmnopqrstuvwxyz0123456789-=.,?'"]
    merges = [
        ("▁", "a"),
        ("a", "n"),
        ("an", "d"),
        ("▁", "and"),
        ("c", "a"),
        ("ca", "t"),
        ("▁", "cat"),
        ("a", "t"),
        ("m", "at"),
    ]
    joined = [first + second for first, second in merges]
    vocabulary = ["<unk>", "<s>", "</s>", *BYTE_PIECES, *letters, *joined]
    ids = {piece: i for i, piece in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", ids["<s>"])])
    names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def t5() -> transformers.PreTrainedTokenizerFast:
    """As T5 and XLNet have it: pieces with probabilities, and a space mark that may stand alone."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), ("▁test", -3.0), ("▁the", -3.0)]
    pieces += [(letter, -6.0) for letter in "abcdefghijklmnopqrstuvwxyz."]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B:1 </s>:1", [("</s>", 1)])
    names = {"unk_token": "<unk>", "pad_token": "<pad>", "eos_token": "</s>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def gpt2(special: tuple[str, ...] = ("<|endoftext|>",)) -> transformers.PreTrainedTokenizerFast:
    """As GPT-2 and Llama 3 have it: bytes, of which a character may have several."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "c"), ("a", "t"), ("Ġc", "at"), ("n", "a"), ("v", "e")]
    ids = {piece: i for i, piece in enumerate([*letters, *(first + second for first, second in merges)])}
    tokenizer = Tokenizer(models.BPE(ids, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(list(special))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64)
