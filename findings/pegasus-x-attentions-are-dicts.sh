#!/bin/sh
# transformers 5.23.0: what the encoder of PEGASUS-X returns as attentions is a dictionary a layer, not a tensor: "global",
# the global tokens' rows over the global tokens and the text, and "local", each block's rows over the global tokens and
# that block alone. No key says which token it is, and every second layer's blocks are moved by half a block, which adds
# one: key 3 of a block's row is another token in each layer. Decoder and cross-attention are tensors as usual.
# Seen, 8 tokens in blocks of 4, 2 global tokens: global (1, 2, 2, 10) in layer 1 and (1, 2, 2, 14) in layer 2, local
# (1, 2, 2, 4, 6) and (1, 2, 3, 4, 6).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import PegasusXConfig, PegasusXForConditionalGeneration

torch.manual_seed(0)
sizes = {"vocab_size": 50, "d_model": 16, "max_position_embeddings": 32, "block_size": 4, "num_global_tokens": 2}
sizes |= {f"{side}_{name}": 2 for side in ("encoder", "decoder") for name in ("layers", "attention_heads")}
sizes |= {f"{side}_ffn_dim": 16 for side in ("encoder", "decoder")}
model = PegasusXForConditionalGeneration(PegasusXConfig(**sizes, attn_implementation="eager")).eval()
with torch.no_grad():
    output = model(
        input_ids=torch.arange(5, 13)[None], decoder_input_ids=torch.arange(5, 9)[None], output_attentions=True
    )
for number, layer in enumerate(output.encoder_attentions, start=1):
    print("encoder layer", number, type(layer).__name__, {name: tuple(rows.shape) for name, rows in layer.items()})
print("decoder", tuple(output.decoder_attentions[0].shape), "cross", tuple(output.cross_attentions[0].shape))
first, second = output.encoder_attentions
assert all(torch.allclose(rows.sum(-1), torch.ones(1)) for layer in (first, second) for rows in layer.values())
assert first["global"].shape == (1, 2, 2, 10) and first["local"].shape == (1, 2, 2, 4, 6)
assert second["global"].shape == (1, 2, 2, 14) and second["local"].shape == (1, 2, 3, 4, 6)
assert output.decoder_attentions[0].shape == (1, 2, 4, 4) and output.cross_attentions[0].shape == (1, 2, 4, 8)
PROGRAM
