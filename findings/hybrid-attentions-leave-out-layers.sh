#!/bin/sh
# transformers 5.23.0: output_attentions of a hybrid model has no entry for the layers without attention, so the i-th
# entry is not that of layer i. Nothing in the tuple says which layer it is of; config.layer_types does.
# Seen for Jamba with attention in layer 2 of 4: one entry, where hidden_states has five.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import JambaConfig, JambaModel

torch.manual_seed(0)
sizes = {"hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 4, "vocab_size": 50, "num_experts": 2}
heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
config = JambaConfig(**sizes, **heads, attn_layer_period=4, attn_layer_offset=2, attn_implementation="eager")
model = JambaModel(config).eval()
with torch.no_grad():
    out = model(torch.arange(7)[None], output_attentions=True, output_hidden_states=True, use_cache=False)
with_attention = [i for i, layer in enumerate(model.layers) if hasattr(layer, "self_attn")]
print(len(out.attentions), "entries,", len(out.hidden_states), "hidden states; attention is in layers", with_attention)
assert with_attention == [2] and len(out.attentions) == 1 and len(out.hidden_states) == 5
PROGRAM
