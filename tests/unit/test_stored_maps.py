"""The stored maps of each study are what its models compute, and are found for these and its example alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import xarray as xr

from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import (
    Entry,
    laboratory_checkpoints,
    list_checkpoints,
    operands_checkpoints,
)
from triattn_core.studies import stored_maps, studies

ENTRIES = {entry.name: entry for entry in (*list_checkpoints(), *laboratory_checkpoints(), *operands_checkpoints())}
DRAWN = {name: study for name, study in studies().items() if study.maps is not None}
AGAIN = "python -m triattn_core.studies.stored_maps computes them again"
MOST_BYTES = 200_000  # of all files


def entries_of(name: str) -> list[Entry]:
    return [ENTRIES[checkpoint] for checkpoint in DRAWN[name].checkpoints]


def test_there_is_a_file_for_each_study_with_maps() -> None:
    files = list(stored_maps.FOLDER.glob("*.npz"))
    assert {file.stem for file in files} == set(DRAWN), AGAIN
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


@pytest.mark.parametrize("name", DRAWN)
def test_stored_maps_are_those_of_the_models(name: str) -> None:
    study, entries = DRAWN[name], entries_of(name)
    stored = stored_maps.find(name, study, entries)
    live = study.maps([load(entry.path, "cpu") for entry in entries], study.examples[0])
    assert stored is not None and list(stored) == list(live), AGAIN
    for title, array in live.items():
        xr.testing.assert_allclose(stored[title], array, rtol=0, atol=3e-5)
        assert stored[title].attrs == array.attrs and stored[title].dtype == array.dtype


def test_maps_of_other_models_or_examples_are_not_found(tmp_path: Path) -> None:
    name, study = next(iter(DRAWN.items()))
    entries = entries_of(name)
    maps = stored_maps.find(name, study, entries)
    assert maps is not None
    stored_maps.write(name, study, entries, maps, tmp_path)
    assert list(stored_maps.find(name, study, entries, tmp_path) or ()) == list(maps)
    trained_again = [replace(entries[0], digest="0" * 64), *entries[1:]]
    assert stored_maps.find(name, study, trained_again, tmp_path) is None
    other = replace(study, examples=study.examples[1:])
    assert stored_maps.find(name, other, entries, tmp_path) is None
    assert stored_maps.find("another", study, entries, tmp_path) is None
