#!/bin/sh
# transformers 5.23.0: XLNetConfig().max_position_embeddings is -1, which means none, so that the usual
# min(limit, config.max_position_embeddings) is negative. Seen: -1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" transformers==5.23.0
PYTHONPATH="$folder" python3 - <<'PROGRAM'
from transformers import BertConfig, XLNetConfig

print(BertConfig().max_position_embeddings, XLNetConfig().max_position_embeddings)
assert BertConfig().max_position_embeddings == 512
assert XLNetConfig().max_position_embeddings == -1
assert min(256, XLNetConfig().max_position_embeddings) < 0
PROGRAM
