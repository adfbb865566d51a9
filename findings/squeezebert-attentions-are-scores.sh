#!/bin/sh
# transformers 5.23.0: the attentions that SqueezeBERT returns are the scores that go into its softmax: rows do not sum
# to one, and numbers are below zero.
# Seen: numbers down to -0.24; rows sum to -1.39 to 0.82.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import SqueezeBertConfig, SqueezeBertModel

torch.manual_seed(0)
config = SqueezeBertConfig(
    vocab_size=50, hidden_size=32, embedding_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24
)
model = SqueezeBertModel(config).eval()
for weight in model.parameters():
    torch.nn.init.normal_(weight, std=0.2)
with torch.no_grad():
    returned = model(torch.arange(7)[None], output_attentions=True).attentions[0][0]
sums = returned.sum(-1)
print(f"lowest number {returned.min():.2f}; rows sum to {sums.min():.2f} to {sums.max():.2f}")
assert returned.min() < 0 and (sums - 1).abs().max() > 0.1
PROGRAM
