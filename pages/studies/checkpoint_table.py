"""The checkpoints as a small table: what there is for each task and data set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.shared import checkpoint_html, style
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.axes import MECHANISMS


def table(entries: Sequence[Entry]) -> str:
    """HTML: a line for each group of checkpoints that may be compared."""
    size = sum(entry.size for entry in entries)
    lines = []
    for (task, data, language), group in metadata.comparable_groups(entries).items():
        labels = {metadata.model_setting(entry, "mechanism"): checkpoint_html.label(entry) for entry in group}
        kinds = sorted(labels, key=[*MECHANISMS, *sorted(labels)].index)
        squares = "".join(f'<span class="t-item">{style.swatch(m)}{escape(labels[m])}</span>' for m in kinds)
        similarities = len({metadata.model_setting(entry, "similarity") for entry in group})
        best = f"{checkpoint_html.percent(metadata.main_score(group[0]))} {metadata.metric_name(group[0])}"
        cells = (escape(task), squares, str(similarities), escape(data), escape(language), escape(best))
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    names = ("task", "mechanisms", "similarities", "data", "language", "test score of the best on dev")
    head = "".join(f"<th>{name}</th>" for name in names)
    aside = (
        f"{len(entries)} checkpoints, {checkpoint_html.megabytes(size)}"
        if entries
        else "no checkpoint yet: train one first"
    )
    table = f'<table class="t-table"><tr>{head}</tr>{"".join(lines)}</table>' if entries else ""
    return checkpoint_html.section("Checkpoints", aside) + f'<div class="t-scroll">{table}</div>'
