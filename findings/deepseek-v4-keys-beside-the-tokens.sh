#!/bin/sh
# transformers 5.23.0: the layers of DeepSeek-V4 attend to the tokens of a window and to summaries of 4 or 128 tokens, by
# one softmax with a learnt sink. What is returned as attentions has the summaries' columns after the tokens', so that each
# layer has its own number of keys, and not the sink's: rows do not sum to 1.
# Seen, 20 tokens, a window of 4, summaries of 4 and 8 tokens: maps of 20 x 20, 20 x 25 and 20 x 22; in the last row of
# the second layer 4 tokens and 1 summary have weight; rows sum to 0.18 to 0.95.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import DeepseekV4Config, DeepseekV4Model

torch.manual_seed(0)
sizes = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 16}
low = {"q_lora_rank": 16, "o_groups": 2, "o_lora_rank": 8, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 1}
experts = {"moe_intermediate_size": 16, "n_routed_experts": 2, "num_experts_per_tok": 1, "mlp_layer_types": ["moe"] * 3}
kinds = ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"]
reach = {"layer_types": kinds, "sliding_window": 4, "compress_rates": dict(zip(kinds[1:], (4, 8), strict=True))}
model = DeepseekV4Model(DeepseekV4Config(**sizes, **low, **experts, **reach, attn_implementation="eager")).eval()
with torch.no_grad():
    maps = model(torch.arange(5, 25)[None], output_attentions=True).attentions
sums = torch.cat([weights.sum(-1).flatten() for weights in maps])
last = maps[1][0, 0, -1]
print(*(tuple(weights.shape) for weights in maps), f"rows sum to {sums.min():.2f} to {sums.max():.2f}")
print("tokens with weight", (last[:20] > 0).sum().item(), "summaries", (last[20:] > 0).sum().item())
assert [weights.shape[-1] for weights in maps] == [20, 25, 22] and sums.max() < 0.99
assert (last[:20] > 0).sum() == 4 and (last[20:] > 0).sum() == 1
PROGRAM
