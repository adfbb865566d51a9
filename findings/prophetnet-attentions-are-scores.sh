#!/bin/sh
# transformers 5.23.0: the encoder attentions that ProphetNet returns are the scores that go into its softmax: rows do
# not sum to one, and numbers are below zero.  Those of the decoder are weights.
# Seen: numbers down to -0.46; rows sum to -1.44 to 2.29.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import ProphetNetConfig, ProphetNetModel

torch.manual_seed(0)
config = ProphetNetConfig(
    vocab_size=50, hidden_size=32, encoder_ffn_dim=24, num_encoder_layers=2, num_encoder_attention_heads=4,
    decoder_ffn_dim=24, num_decoder_layers=2, num_decoder_attention_heads=4,
)
model = ProphetNetModel(config).eval()
for weight in model.parameters():
    torch.nn.init.normal_(weight, std=0.2)
module, states = model.encoder.layers[0].self_attn, []
module.register_forward_hook(lambda *call: states.append(call[2]["hidden_states"][0]), with_kwargs=True)
with torch.no_grad():
    returned = model(torch.arange(7)[None], decoder_input_ids=torch.arange(5)[None], output_attentions=True)
    query, key = (part(states[0]).view(7, 4, 8).transpose(0, 1) for part in (module.query_proj, module.key_proj))
    scores = query / 8**0.5 @ key.mT
maps = returned.encoder_attentions[0][0]
sums = maps.sum(-1)
print(f"lowest number {maps.min():.2f}; rows sum to {sums.min():.2f} to {sums.max():.2f}")
torch.testing.assert_close(maps, scores)
assert maps.min() < 0 and (sums - 1).abs().max() > 0.1
assert (returned.decoder_attentions[0].sum(-1) - 1).abs().max() < 1e-5
PROGRAM
