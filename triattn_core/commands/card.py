"""`triattn card`: a case card made again from its manifest, and whether its numbers are the same."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.commands import shelf
from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.case_card import Drawn
    from triattn_core.case_card.manifest import Manifest


def arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("manifest", type=Path, help="manifest.json of a case card")
    parser.add_argument("--out", type=Path, required=True, help="where the card is written (zip)")
    shelf.folders(parser)


def run(options: argparse.Namespace) -> None:
    """Draws, writes, and says how far the numbers are from those that lie beside the manifest."""
    from triattn_core.case_card.explained import Models
    from triattn_core.case_card.manifest import again, read

    if not options.out.parent.is_dir():
        raise DataError(f"{options.out.parent}: no such folder to write the card in")
    shelf.added(options)
    made = read(options.manifest)
    drawn = again(made, Models(options.device), str(options.manifest))
    beside = options.manifest.parent / "data.parquet"
    apart = {"probabilities": _answers(made, drawn)} | ({"data": furthest(beside, drawn)} if beside.is_file() else {})
    drawn.save(options.out)
    if options.json:
        print(json.dumps({"out": str(options.out), "view": made.view, "rows": len(drawn.table), "furthest": apart}))
        return
    names = ", ".join(one.name for one in made.checkpoints[: made.drawn])
    print(f"{options.out}: {made.view.replace('_', ' ')} of {names}, {len(drawn.table):,} rows")
    print(f"probabilities: at most {apart['probabilities']:.2g} from the manifest's")
    if "data" in apart:
        print(f"data: at most {apart['data']:.2g} from {beside}")


def _answers(made: Manifest, drawn: Drawn) -> float:
    """The largest difference of a probability.  Raises DataError where there are others than recorded."""
    from triattn_core.case_card.manifest import manifest

    pairs = [(a.probabilities, b.probabilities) for a, b in zip(made.said, manifest(drawn).said)]
    if len(made.said) != len(drawn.found) or any(len(a) != len(b) for a, b in pairs):
        raise DataError("said: the manifest records other answers than these checkpoints give: was it edited?")
    return max(abs(x - y) for a, b in pairs for x, y in zip(a, b))


def furthest(path: Path, drawn: Drawn) -> float:
    """The largest difference of a number of a stored table from that of the same cell.  Raises DataError: not the same
    cells."""
    import pandas as pd

    try:
        stored = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a table as a case card has it ({str(error).splitlines()[0]})") from None
    table, what = drawn.table, [name for name in drawn.table if drawn.table[name].dtype.kind == "f"]
    # Cells are sorted by their weight: of equal ones the order may differ.
    names = [name for name in table if name not in what]
    if list(stored) != list(table) or len(stored) != len(table):
        raise DataError(f"{path}: not the cells of this manifest: was another card unpacked here?")
    stored, table = (one.sort_values(names, ignore_index=True) for one in (stored, table))
    if not stored[names].equals(table[names].astype(stored[names].dtypes)):
        raise DataError(f"{path}: not the cells of this manifest: was another card unpacked here?")
    return float((stored[what] - table[what]).abs().max().max())
