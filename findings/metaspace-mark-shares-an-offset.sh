#!/bin/sh
# tokenizers 0.23.3: the space mark that Metaspace puts before a text shares the offset of the first letter.
# Seen: "a" is ▁ at (0, 1) and a at (0, 1): two tokens stand for one character, and one of them covers none of the text.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" tokenizers==0.23.3
PYTHONPATH="$folder" python3 - <<'PROGRAM'
from tokenizers import Tokenizer, models, pre_tokenizers

pieces = [("<unk>", 0.0), ("▁", -2.0), ("a", -3.0), ("▁test", -3.0)]
tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
encoding = tokenizer.encode("a test")
print(encoding.tokens, encoding.offsets)
assert encoding.tokens == ["▁", "a", "▁test"]
assert encoding.offsets[:2] == [(0, 1), (0, 1)], encoding.offsets
PROGRAM
