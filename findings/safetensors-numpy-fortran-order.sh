#!/bin/sh
# safetensors 0.8.0: an array in Fortran's order, as NumPy makes by transposing, comes back from save_file and load_file
# of safetensors.numpy with its numbers in other places, and nothing is said.
# Seen: shape kept, 4 of 6 numbers elsewhere; a copy in C's order comes back as it was.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" safetensors==0.8.0 numpy==2.3.5
PYTHONPATH="$folder" python3 - "$folder/a.safetensors" <<'PROGRAM'
import sys

import numpy
from safetensors.numpy import load_file, save_file

given = numpy.arange(6.0).reshape(3, 2).T
save_file({"given": given, "copied": numpy.ascontiguousarray(given)}, sys.argv[1])
read = load_file(sys.argv[1])
print(given.tolist(), "->", read["given"].tolist())
print("copied:", read["copied"].tolist())
assert read["given"].shape == given.shape and (read["given"] != given).sum() == 4
assert (read["copied"] == given).all()
PROGRAM
