"""`triattn cases`: several checkpoints over the same rows, who is right where, and the table of it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.errors import DataError
from triattn_core.text.atomic_write import require_room

if TYPE_CHECKING:
    from triattn_core.analysis.mining.case_table import CaseTable
    from triattn_core.analysis.mining.runs import Run


def arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    text = "two to four checkpoints of one task and language, such as Bi, C-Bi, Tri"
    parser.add_argument("name", nargs="+", help=text)
    text = "JSON Lines, or SQuAD's own .json, plain or .gz; rows that cannot be read are set aside"
    parser.add_argument("data", type=Path, help=text)
    parser.add_argument("--out", type=Path, required=True, help="where the table is stored (Parquet)")


def run(options: argparse.Namespace) -> int:
    """Mines, stores, prints; after Ctrl-C what there is by then."""
    from triattn_core.analysis.mining import sources
    from triattn_core.analysis.mining.runs import Run
    from triattn_core.checkpoint.bundle import load
    from triattn_core.inference.device import keep_freed_memory

    require_room(options.out, "store the table")
    source = sources.file_source(options.data)
    if options.out.resolve() == options.data.resolve():
        raise DataError(f"{options.out}: that is the data; name another file with --out")
    keep_freed_memory()
    mining = Run([load(name, options.device) for name in options.name], source, options.command)
    stopped = not _mine(mining, options.name)
    mined = mining.case_table()
    mined.save(options.out)
    print(json.dumps(_json(mined, options.out)) if options.json else "\n".join(_lines(mined)))
    if stopped:
        print(f"triattn: stopped; {options.out} holds the {len(mined.table):,} rows that were mined", file=sys.stderr)
    return 130 if stopped else 0


def _mine(mining: Run, names: list[str]) -> bool:
    """To the end of the file; False where somebody stopped it."""
    from tqdm import tqdm

    try:
        with tqdm(total=mining.lines, unit="row", desc=" ".join(names), disable=None) as bar:
            while mining.step():
                bar.update(mining.line - bar.n)
                bar.set_postfix(aside=mining.aside, refresh=False)
    except KeyboardInterrupt:
        return False
    return True


def _lines(mined: CaseTable) -> list[str]:
    """The table for a reader."""
    from triattn_core.analysis.mining import agreement

    about = mined.about
    told = [f"{about.data}: {len(mined.table):,} rows in {about.seconds:.0f} s, {about.aside:,} set aside"]
    told += [f"  {one}" for one in about.complaints]
    told += [f"  and {about.aside - len(about.complaints):,} more"] if about.aside > len(about.complaints) else []
    if mined.judged.empty:
        return [*told, "no row has a label: nobody knows who is right"]
    told += [f"right: {', '.join(f'{name} {share:.2f} %' for name, share in agreement.accuracy(mined).items())}"]
    table = agreement.right_combinations(mined)
    told += table[[column for column in table if table[column].dtype != bool]].to_string().splitlines()
    for one in agreement.mcnemar_tests(mined):
        told.append(
            f"{one.b} less {one.a}: {one.gain:+.2f} points; right alone: {one.only_b} and {one.only_a} rows; "
            f"McNemar p {one.p:.3g}, after Holm {one.adjusted:.3g}"
        )
    return told


def _json(mined: CaseTable, out: Path) -> dict:
    """The same for machines."""
    from triattn_core.analysis.mining import agreement

    table = agreement.right_combinations(mined).reset_index(names="right")
    return {
        **mined.about.model_dump(mode="json"),
        "rows": len(mined.table),
        "out": str(out),
        "accuracy": {} if mined.judged.empty else agreement.accuracy(mined),
        "agreement": table[[column for column in table if table[column].dtype != bool]].to_dict("records"),
        "differences": [vars(one) for one in agreement.mcnemar_tests(mined)],
    }
