"""Which blocks of a COIN align at all: `python -m triattn_core.analysis.coin_blocks [--write]`.

Of each COIN and each block, over all example pairs of its language and both directions: the largest weight, over the
even share of its query, and the most that the context term changes a weight.  A block that stays near even everywhere
is not at work in any pair, so that no example can show it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parents[1] / "results" / "records" / "coin_blocks.json"
QUIET = 2.0  # times an even share: a block below it in all pairs is not at work
DIRECTIONS = ("a_over_b", "b_over_a")


def measure(name: str) -> dict[str, Any]:
    """The number of pairs, and by block the largest weight over an even one and the largest change by the context
    term."""
    from triattn_core.checkpoint.bundle import load
    from triattn_core.checkpoint.metadata import language
    from triattn_core.checkpoint.registry import list_checkpoints
    from triattn_core.inference.explain import explain
    from triattn_core.tasks import pairs

    entry = next(entry for entry in list_checkpoints() if entry.name == name)
    bundle, examples = load(entry.path, "cpu"), pairs.examples(language(entry))
    found: dict[int, dict[str, float]] = {}
    for example in examples:
        sites = explain(bundle, example)[1].sites
        for site in (site for site in sites if site.quantity == "weight" and site.role in DIRECTIONS):
            weights, plain = sites[site], sites.get(site / "without_context")
            changed = 0.0 if plain is None else float(abs(weights - plain).max())
            now = {"largest": float(weights.max()) * weights.sizes["key"], "changed": changed}
            before = found.setdefault(site.layer or 0, now)
            found[site.layer or 0] = {key: max(before[key], now[key]) for key in now}
    rounded = [{key: round(value, 4) for key, value in found[i].items()} for i in sorted(found)]
    return {"pairs": len(examples), "blocks": rounded}


def describe_quiet(name: str, record: Mapping[str, Any] | None = None) -> str:
    """A sentence on the blocks of a COIN that no example shows at work, and which other COIN has none such; empty where
    all are, or nothing was measured."""
    record = json.loads(RECORD.read_text("utf-8")) if record is None else record
    if name not in record or not (quiet := _quiet(record[name])):
        return ""
    numbers = " and ".join(str(i) for i, _ in quiet)
    many, most = len(quiet) > 1, max(size for _, size in quiet)
    sentence = (
        f"Block{'s' * many} {numbers}: at most {most:.3g} times an even weight in all {record[name]['pairs']} pairs "
        "here. That is the model, not the pair"
    )
    alive = [other for other in record if not _quiet(record[other])]
    return (
        f"{sentence}; {' and '.join(alive)} align{'s' * (len(alive) == 1)} in every block." if alive else f"{sentence}."
    )


def _quiet(measured: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Numbers, from 1, and largest weights of the blocks that are near even everywhere."""
    return [(i, block["largest"]) for i, block in enumerate(measured["blocks"], 1) if block["largest"] < QUIET]


def main() -> int:
    """Prints what was measured, a line per COIN; with `--write` it goes beside the records."""
    from triattn_core.checkpoint.registry import list_checkpoints

    names = [entry.name for entry in list_checkpoints() if entry.config["kind"] == "coin"]
    record = {name: measure(name) for name in names}
    for name, measured in record.items():
        print(name, json.dumps(measured))
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
