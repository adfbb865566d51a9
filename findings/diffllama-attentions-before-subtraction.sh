#!/bin/sh
# transformers 5.23.0: a layer of DiffLlama attends by the difference of two softmaxes, A1 - lambda A2. What it returns
# as attentions is A1 and A2, one after the other, each of sum one: twice as many maps as it has heads of values, none of
# which is what the values are weighted by. That has weights below zero, and rows of sum 1 - lambda.
# Seen: 4 maps; A1 - lambda A2, 2 maps, gives the layer's output to 1e-5; its rows sum to -0.03, its least weight is -1.0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import DiffLlamaConfig, DiffLlamaModel

torch.manual_seed(0)
sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 1}
heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "attn_implementation": "eager"}
model = DiffLlamaModel(DiffLlamaConfig(**sizes, **heads)).eval()
for weight in model.parameters():
    torch.nn.init.normal_(weight, std=0.5)
layer, seen = model.layers[0].self_attn, {}
layer.v_proj.register_forward_hook(lambda module, inputs, output: seen.update(value=output))
layer.o_proj.register_forward_hook(lambda module, inputs, output: seen.update(joined=inputs[0]))
with torch.no_grad():
    maps = model(torch.arange(5, 12)[None], output_attentions=True).attentions[0]
    q1, k1, q2, k2 = (getattr(layer, f"lambda_{name}") for name in ("q1", "k1", "q2", "k2"))
    factor = (q1 @ k1).exp() - (q2 @ k2).exp() + layer.lambda_init
    first, second = maps.chunk(2, dim=1)
    used = first - factor * second
    value = torch.cat(seen["value"].view(1, 7, 4, 8).transpose(1, 2).chunk(2, dim=1), dim=-1)
    rebuilt = (1 - layer.lambda_init) * layer.groupnorm(used @ value)
error = (rebuilt.transpose(1, 2).reshape(1, 7, -1) - seen["joined"]).abs().max()
print(tuple(maps.shape), "returned,", tuple(used.shape), f"used: rebuilt to {error:.0e}")
print(f"rows of {maps.sum(-1).mean():.2f} and {used.sum(-1).mean():.2f}, least {maps.min():.2f} and {used.min():.2f}")
assert maps.shape == (1, 4, 7, 7) and used.shape == (1, 2, 7, 7) and error < 1e-5
assert torch.allclose(maps.sum(-1), torch.ones(1)) and used.min() < -0.5
PROGRAM
