#!/bin/sh
# transformers 5.23.0: what YOSO and RWKV return as attentions has no pair of tokens: a tensor of tokens x features a
# layer. With as many features as tokens it would pass for a map.
# Seen: (1, 7, 32) a layer for 7 tokens of 32 features, with numbers below zero, of both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import RwkvConfig, RwkvModel, YosoConfig, YosoModel

torch.manual_seed(0)
sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 2}
for model in (
    YosoModel(YosoConfig(num_attention_heads=4, use_expectation=True, **sizes)),
    RwkvModel(RwkvConfig(attention_hidden_size=32, **sizes)),
):
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    with torch.no_grad():
        returned = model.eval()(torch.arange(5, 12)[None], output_attentions=True).attentions
    print(type(model).__name__, [tuple(layer.shape) for layer in returned], f"from {returned[0].min():.2f}")
    assert all(layer.shape == (1, 7, 32) for layer in returned) and returned[0].min() < 0
PROGRAM
