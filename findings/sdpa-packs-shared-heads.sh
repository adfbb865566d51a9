#!/bin/sh
# transformers 5.23.0, torch 2.13.0, CPU: where heads share keys, a mask is given and one token is read, as in each step
# of a generation with a sliding window, sdpa_attention_forward lays the heads that share a key head on the axis of the
# queries: what watches F.scaled_dot_product_attention sees 2 heads of 2 queries, where the model has 4 heads of 1.
# Seen: prefill (1, 4, 6, 8), steps (1, 2, 2, 8).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0 numpy
PYTHONPATH="$folder" python3 - <<'PROGRAM'
import torch
import transformers
from torch.overrides import TorchFunctionMode


class Spy(TorchFunctionMode):
    shapes = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") == "scaled_dot_product_attention":
            self.shapes.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


sizes = {"hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 4}
config = transformers.MistralConfig(vocab_size=50, num_key_value_heads=2, sliding_window=4, eos_token_id=None, **sizes)
model = transformers.MistralForCausalLM(config).eval()
with torch.no_grad(), Spy() as spy:
    model.generate(torch.tensor([[1, 5, 6, 7, 8, 9]]), max_new_tokens=3, do_sample=False)
print("prefill", spy.shapes[0], "steps", *spy.shapes[1:])
assert spy.shapes == [(1, 4, 6, 8), (1, 2, 2, 8), (1, 2, 2, 8)]
PROGRAM
