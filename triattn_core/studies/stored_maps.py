"""Maps of the first example of each study, computed beforehand: the page Studies shows them at once, without a model.

They belong to the checkpoints of the study, by their digests, and to the example; else they are not found.
`python -m triattn_core.studies.stored_maps` computes them again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from triattn_core.inference.stored_traces import ABOUT, describe_array, read_array
from triattn_core.studies.study import Study
from triattn_core.text.atomic_write import write_whole

if TYPE_CHECKING:
    from triattn_core.checkpoint.registry import Entry

FOLDER = Path(__file__).parent / "maps"
TRUE = "true_cells"  # in the attributes of a map: pairs, which JSON has as lists


def key(study: Study, entries: Sequence[Entry]) -> str:
    """The SHA-256 of what the maps depend on: digests of checkpoints and encoders, and the example."""
    digests = [(entry.name, entry.digest, entry.config.get("encoder_digest")) for entry in entries]
    return sha256(json.dumps([repr(study.examples[0]), digests]).encode()).hexdigest()


def find(name: str, study: Study, entries: Sequence[Entry], folder: Path = FOLDER) -> dict[str, xr.DataArray] | None:
    """The stored maps by title, or None.  name: of the study; entries: its checkpoints."""
    file = folder / f"{name}.npz"
    if not file.is_file():
        return None
    with np.load(file, allow_pickle=False) as arrays:
        about = json.loads(arrays[ABOUT].tobytes())
        if about["key"] != key(study, entries):
            return None
        maps = {
            title: read_array(described, arrays[str(i)], about["coordinates"])
            for i, (title, described) in enumerate(about["maps"].items())
        }
    for array in maps.values():
        if TRUE in array.attrs:
            array.attrs[TRUE] = [tuple(cell) for cell in array.attrs[TRUE]]
    return maps


def write(
    name: str, study: Study, entries: Sequence[Entry], maps: Mapping[str, xr.DataArray], folder: Path = FOLDER
) -> Path:
    """Writes a compressed .npz: an array per map as it is, all else as JSON."""
    coordinates: list = []
    described = {title: describe_array(array, coordinates) for title, array in maps.items()}
    about = {"key": key(study, entries), "maps": described, "coordinates": coordinates}
    arrays: dict[str, Any] = {ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)}
    arrays |= {str(i): array.values for i, array in enumerate(maps.values())}
    packed, file = BytesIO(), folder / f"{name}.npz"
    np.savez_compressed(packed, **arrays)
    write_whole(file, packed.getvalue())
    return file


def main() -> int:
    """Replaces the files; prints their names and sizes."""
    from triattn_core.checkpoint.bundle import load
    from triattn_core.checkpoint.registry import laboratory_checkpoints, list_checkpoints, operands_checkpoints
    from triattn_core.studies import studies

    entries = {entry.name: entry for entry in (*list_checkpoints(), *laboratory_checkpoints(), *operands_checkpoints())}
    FOLDER.mkdir(exist_ok=True)
    for name, study in studies().items():
        if study.maps is not None:
            own = [entries[checkpoint] for checkpoint in study.checkpoints]
            maps = study.maps([load(entry.path, "cpu") for entry in own], study.examples[0])
            file = write(name, study, own, maps)
            print(f"{file.name}  {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
