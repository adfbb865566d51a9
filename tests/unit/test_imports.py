"""What is imported when: a page that asks no model must not wait for the libraries that models need."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("transformers", "captum", "scipy", "plotly", "accelerate")
MODULES = (
    *("triattn_core", "triattn_core.checkpoint.registry", "triattn_core.checkpoint.bundle"),
    *("triattn_core.analysis.attribution.faithfulness", "triattn_core.analysis.intervention.interventions"),
    *("triattn_core.results.mechanism_order", "triattn_core.results.curves", "triattn_core.analysis.mining.agreement"),
)


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_are_not_imported_before_they_run(module):
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.stdout.strip() == "[]", done.stderr[-800:]
