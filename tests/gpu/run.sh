#!/bin/sh
# Everything that only a card can show, with the Python of the virtual environment or of $PYTHON; see tests/gpu/__main__.py.
cd "$(dirname "$0")/../.." || exit 1
python=${PYTHON:-.venv/bin/python}
"$python" -c "import torch" 2>/dev/null || { echo "skipped: no PyTorch in $python; \`make gpu\` installs it"; exit 0; }
HF_HUB_OFFLINE=1 exec "$python" -m tests.gpu "$@"
