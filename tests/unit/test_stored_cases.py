"""Each stored table of cases is what its models answer, and is found for them and its rows alone."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from triattn_core.analysis.mining import stored_cases
from triattn_core.analysis.mining.stored_cases.__main__ import DATA, defaults, mine

AGAIN = "python -m triattn_core.analysis.mining.stored_cases mines them again"
VOLATILE = {"seconds", "date", "versions"}


def test_the_files_are_those_of_the_pages() -> None:
    expected = {stored_cases.path(*default) for default in defaults()}
    files = set(stored_cases.FOLDER.glob("*.parquet"))
    assert files == expected and sum(file.stat().st_size for file in files) < 100_000, AGAIN


@pytest.mark.parametrize("language", DATA)
def test_a_stored_table_is_that_of_the_models(language: str) -> None:
    entries, source = dict(zip(DATA, defaults()))[language]
    stored, live = stored_cases.find(entries, source), mine(entries, source)
    assert stored is not None, AGAIN
    assert stored.about.model_dump(exclude=VOLATILE) == live.about.model_dump(exclude=VOLATILE)
    moved = [name for name in live.table if str(name).endswith(" at")]
    pd.testing.assert_frame_equal(stored.table.drop(columns=moved), live.table.drop(columns=moved), atol=2e-4)
    for name in moved:
        for one, other in zip(stored.table[name], live.table[name], strict=True):
            assert len(one) == len(other) and abs(one - other).max(initial=0) < 1e-3


def test_other_weights_encoders_rows_and_orders_have_no_stored_table() -> None:
    entries, source = next(defaults())
    assert stored_cases.find(entries, source) is not None
    first, *others = entries
    other_encoder = replace(first, config={**first.config, "encoder_digest": "0" * 64})
    for changed in ([replace(first, digest="0" * 64), *others], [other_encoder, *others], [*others, first], others):
        assert stored_cases.find(changed, source) is None
    assert stored_cases.find(entries, replace(source, sha256="0" * 64)) is None
