#!/bin/sh
# strassen-attention 0.1.5 divides the query by the root of the features, so of its three dot products only the two with
# the query are scaled: the one of the two keys is not, and grows with the features.
# Seen with 64 features: outputs are those of (q·k1 + q·k2) / 8 + k1·k2, not of (q·k1 + q·k2 + k1·k2) / 8.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 strassen-attention==0.1.5
PYTHONPATH="$folder" python3 - <<'PROGRAM'
import torch
from strassen_attention.strassen_attention import strassen_attend

torch.manual_seed(1)
query, first, second, value, other = torch.randn(5, 1, 1, 5, 64, dtype=torch.float64)


def attend(scale_of_keys):
    scaled = (query @ first.mT)[..., None] / 8 + (query @ second.mT)[..., None, :] / 8
    scores = scaled + (first @ second.mT)[..., None, :, :] / scale_of_keys
    weights = scores.flatten(-2).softmax(-1).view_as(scores)
    return torch.einsum("bhijk,bhjd,bhkd->bhid", weights, value, other)


package = strassen_attend(query, first, second, value, other)
unscaled, scaled = ((package - attend(scale)).abs().max().item() for scale in (1, 8))
print(f"largest difference: {unscaled:.1e} with the keys' product as it is, {scaled:.1e} with it divided")
assert unscaled < 1e-10 and scaled > 0.1
PROGRAM
