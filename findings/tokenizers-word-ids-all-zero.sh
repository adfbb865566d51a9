#!/bin/sh
# tokenizers 0.23.3: without a pre-tokenizer, as in the tokenizers of Llama 2 and Gemma, word_ids gives every token word 0.
# Seen: tokens ▁the ▁cat, words [0, 0]. With a pre-tokenizer the same text has words [0, 1].
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" tokenizers==0.23.3
PYTHONPATH="$folder" python3 - <<'PROGRAM'
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

merges = [("t", "h"), ("th", "e"), ("▁", "the"), ("c", "a"), ("ca", "t"), ("▁", "cat")]
pieces = [*"▁thecal", *(first + second for first, second in merges)]
vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
words = {}
for name in ("normalizer", "pre-tokenizer"):
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    if name == "normalizer":  # as published for Llama 2 and Gemma
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    encoding = tokenizer.encode("the cat")
    print(name, encoding.tokens, encoding.word_ids)
    assert encoding.tokens == ["▁the", "▁cat"]
    words[name] = encoding.word_ids
assert words == {"normalizer": [0, 0], "pre-tokenizer": [0, 1]}, words
PROGRAM
