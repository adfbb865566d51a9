"""What a checkpoint's metrics.json records besides its scores: measures of its attention, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from triattn_core.analysis.maps.attention_report import measure_attention
from triattn_core.analysis.maps.even_reliance import measure_even_reliance
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.results.worth import worth
from triattn_core.text.atomic_write import write_whole


def attention_report(bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda n: None) -> dict:
    """The measures of `analysis.maps.attention_report`, and the worth of the attention where its controls were trained;
    of other models than TANs the reliance on their weights alone."""
    if bundle.config.kind != "tan":
        return measure_even_reliance(bundle, examples, progress)
    report = measure_attention(bundle, examples, progress)
    scores = [seed["dev"][report["metric"]] for seed in bundle.metrics.get("each_seed", ()) if "dev" in seed]
    return report | {"worth": worth(bundle.config, scores, report["metric"])}


def write_measures(folder: Path, name: str, report: Mapping) -> None:
    """Store measures under a name, such as `attention`, in a checkpoint's metrics.json."""
    file = folder / "metrics.json"
    record = json.loads(file.read_text("utf-8")) | {name: dict(report)}
    write_whole(file, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
