#!/bin/sh
# transformers 5.23.0: every head of gpt-oss has a learnt sink, one more score in the softmax that stands for no token. Of
# what it returns as attentions that column is left out: the rows do not sum to 1, each head by as much as its sink takes.
# The values are weighted by just these rows; made to sum to 1, as plots and entropies take them, they are another model's,
# the one without sinks.
# Seen: sums of rows 0.08 to 0.97; the rows as they are give what the layer joins, to 0; divided by their sums they
# equal, to 1e-7, those of the same weights with every sink at -1e9.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import GptOssConfig, GptOssModel

torch.manual_seed(0)
sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 16, "num_hidden_layers": 1, "head_dim": 8}
heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "layer_types": ["full_attention"]}
experts = {"num_local_experts": 2, "num_experts_per_tok": 1}
model = GptOssModel(GptOssConfig(**sizes, **heads, **experts, attn_implementation="eager")).eval()
layer, seen = model.layers[0].self_attn, {}
for weight in layer.parameters():
    torch.nn.init.normal_(weight, std=0.1)
layer.sinks.data = torch.tensor([-1.0, 0.0, 1.0, 2.0])
layer.v_proj.register_forward_hook(lambda module, inputs, output: seen.update(value=output))
layer.o_proj.register_forward_hook(lambda module, inputs, output: seen.update(joined=inputs[0]))
tokens = torch.arange(5, 12)[None]
with torch.no_grad():
    weights = model(tokens, output_attentions=True).attentions[0]
    value = seen["value"].view(1, 7, 2, 8).transpose(1, 2).repeat_interleave(2, dim=1)
    joined = (weights @ value).transpose(1, 2).reshape(1, 7, 32)
    layer_error = (joined - seen["joined"]).abs().max()
    layer.sinks.fill_(-1e9)
    plain = model(tokens, output_attentions=True).attentions[0]
sums = weights.sum(-1)
plain_error = (weights / sums[..., None] - plain).abs().max()
print(f"rows sum to {sums.min():.2f} to {sums.max():.2f}; output {layer_error:.0e}, without sinks {plain_error:.0e}")
assert sums.max() < 0.99 and torch.allclose(plain.sum(-1), torch.ones(1))
assert layer_error < 1e-5 and plain_error < 1e-5
PROGRAM
