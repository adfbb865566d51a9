#!/bin/sh
# transformers 5.23.0: MiniMax's layers of linear attention return their recurrent state [heads, d, d] among the
# attentions. For a text of d tokens it has the shape of a map of tokens by tokens, which it is not.
# Seen for 8 tokens and heads of 8: both kinds of layers give (1, 4, 8, 8); rows of the linear ones do not sum to one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import MiniMaxConfig, MiniMaxModel

torch.manual_seed(0)
config = MiniMaxConfig(
    vocab_size=50, hidden_size=32, head_dim=8, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
    intermediate_size=24, num_local_experts=2, layer_types=["linear_attention", "full_attention"],
    attn_implementation="eager",
)
model = MiniMaxModel(config).eval()
with torch.no_grad():
    linear, full = model(torch.arange(8)[None], output_attentions=True, use_cache=True).attentions
print("linear", tuple(linear.shape), "full", tuple(full.shape))
print(f"largest distance of a row's sum from one: {(linear.sum(-1) - 1).abs().max():.2f} and",
      f"{(full.sum(-1) - 1).abs().max():.0e}")
assert linear.shape == full.shape == (1, 4, 8, 8)
assert (linear.sum(-1) - 1).abs().max() > 0.1 > 1e-5 > (full.sum(-1) - 1).abs().max()
PROGRAM
