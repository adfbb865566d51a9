#!/bin/sh
# transformers 5.23.0: what BLT, the byte latent transformer, returns as attentions is the maps of its local decoder, after
# those of the entropy model that cuts the patches, in one tuple. The global transformer, nearly all of the model, and the
# local encoder are left out, and so is every cross-attention between bytes and patches, without a word.
# Seen: 10 attentions run: 1 of the entropy model, 1 of the encoder, 3 of the global transformer, 2 of the decoder and 3
# between bytes and patches; 3 maps are returned, the entropy model's and the decoder's.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import BltConfig, BltForCausalLM

torch.manual_seed(0)
sizes = {"vocab_size": 260, "hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 1}
part = sizes | {"num_attention_heads": 2, "num_key_value_heads": 2}
local = part | {"cross_attn_k": 2, "hidden_size_global": 64}
parts = {"patcher_config": part, "encoder_config": local, "decoder_config": local | {"num_hidden_layers": 2}}
parts["global_config"] = part | {"hidden_size": 64, "num_hidden_layers": 3}
hashes = {"encoder_hash_byte_group_vocab": 100, "max_patch_length": 4}
model = BltForCausalLM(BltConfig(**parts, **hashes, cross_attn_k=2, attn_implementation="eager")).eval()
run = {}
for name, module in model.named_modules():
    if name.endswith("self_attn") or name.split(".")[-2:-1] == ["cross_attn_layers"]:
        module.register_forward_hook(lambda module, inputs, output, name=name: run.update({name: output[1]}))
with torch.no_grad():
    returned = model(torch.arange(70, 82)[None], output_attentions=True, use_cache=False).attentions
names = [name for name, weights in run.items() if any(torch.equal(weights, one) for one in returned)]
print(len(run), "run,", len(returned), "returned:", *names)
assert len(run) == 10 and names == ["model.patcher.layers.0.self_attn"] + [
    f"model.local_decoder.layers.{layer}.self_attn" for layer in (0, 1)
]
PROGRAM
