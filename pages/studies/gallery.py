"""What the page offers beside its studies: test scores, and which model its examples open in."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.shared import attention_worth, checkpoint_html, models
from pages.studies import score_table
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import InputForm, form

CUBE = "pages/cube/page.py"


def first_tri(entries: Sequence[Entry]) -> Entry | None:
    """The first Tri-Attention checkpoint among these, which the cube opens on."""
    return next((entry for entry in entries if metadata.model_setting(entry, "mechanism") == "tri"), None)


def scores() -> str:
    """HTML: what was reached on the test sets; empty where nothing was measured."""
    entries = models.entries()
    pairs = [entry for entry in entries if form(entry.config["task"]) is InputForm.PAIR]
    groups = score_table.measured(pairs) or score_table.measured(entries)
    if not groups:
        return ""
    first = groups[0][0]
    larger = checkpoint_html.percent(metadata.metric_value(first, "test", "majority"))
    note = (
        f"{metadata.metric_name(first).capitalize()} on test, one seed each, the best on dev in bold. Always saying "
        f"the larger class of {escape(metadata.dataset_name(first))} gives {larger}. {attention_worth.LIVING}"
    )
    return f'<div class="t-scroll">{score_table.table(groups)}</div><p class="t-note">{note}</p>'
