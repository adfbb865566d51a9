#!/bin/sh
# torch 2.13.0, CPU: F.scaled_dot_product_attention returns zeros for queries that are NaN, where the same call under
# SDPBackend.MATH, softmax(q k^T / sqrt(d)) v written out, gives NaN: a broken query projection does not show in what
# follows.  Seen: default 0.0, math nan.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 numpy
PYTHONPATH="$folder" python3 - <<'PROGRAM'
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

torch.manual_seed(0)
query, key, value = (torch.randn(1, 1, 6, 8) for _ in range(3))
bad = torch.full_like(query, torch.nan)
fused = scaled_dot_product_attention(bad, key, value)
with sdpa_kernel(SDPBackend.MATH):
    written = scaled_dot_product_attention(bad, key, value)
print("default", fused[0, 0, 0, 0].item(), "math", written[0, 0, 0, 0].item())
assert (fused == 0).all() and written.isnan().all()
PROGRAM
