"""What the server imports before it answers, and what it leaves to a thread."""

from __future__ import annotations

import subprocess
import sys

# With a pause of an hour only who asks for a model can end it.
SCRIPT = """
import sys
from triattn_core.inference import preload

preload.PAUSE = 3600
preload.start()
assert {"pandas", "xarray"} <= set(sys.modules)
assert "torch" not in sys.modules
preload.wait()
assert "torch" in sys.modules
"""


def test_the_first_page_waits_for_no_model_and_a_model_for_no_pause() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
