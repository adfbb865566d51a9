"""What the checkpoints reached as one small table: a row a similarity and form, a column a mechanism in a data set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.shared import checkpoint_html, style
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.axes import MECHANISM_LABELS, MECHANISMS

Row = tuple[str, bool, bool]  # similarity, living, with a loss at each block


def measured(entries: Sequence[Entry], limit: int = 2) -> list[list[Entry]]:
    """`limit` groups of comparable checkpoints with a score, the best on dev first."""
    groups = [
        [entry for entry in group if metadata.main_score(entry) is not None]
        for group in metadata.comparable_groups(entries).values()
    ]
    return [group for group in groups if group][:limit]


def table(groups: Sequence[Sequence[Entry]]) -> str:
    """HTML: scores on test in per cent, that of the best on dev in each group in bold."""
    mechanism_sets = [{metadata.model_setting(entry, "mechanism") for entry in group} for group in groups]
    kinds = [[kind for kind in MECHANISMS if kind in mechanisms] for mechanisms in mechanism_sets]
    heads = "".join(
        f'<th class="r" colspan="{len(group_kinds)}"><b>{escape(metadata.dataset_name(group[0]))}</b>'
        f", {escape(metadata.language_name(metadata.language(group[0])))}</th>"
        for group, group_kinds in zip(groups, kinds)
    )
    columns = [
        (group, kind, "r t-block" * (kind == group_kinds[0]) or "r")
        for group, group_kinds in zip(groups, kinds)
        for kind in group_kinds
    ]
    names = "".join(
        f'<th class="{css_class}">{style.swatch(kind)}{MECHANISM_LABELS[kind]}</th>' for _, kind, css_class in columns
    )
    lines = "".join(
        f"<tr><td>{_row_title(row, groups)}</td>{''.join(_cell(row, *column) for column in columns)}</tr>"
        for row in rows([entry for group in groups for entry in group])
    )
    return f'<table class="t-table t-scores"><tr><td></td>{heads}</tr><tr><td></td>{names}</tr>{lines}</table>'


def rows(entries: Sequence[Entry]) -> list[Row]:
    """Their similarities as they are offered, and of each whether in the living form, and whether with a loss at each
    block; published first."""
    order = {_row(entry): metadata.sort_key(entry)[2:] for entry in entries}
    return sorted(order, key=lambda row: (row[1:], order[row]))


def _row(entry: Entry) -> Row:
    has_block_loss = bool(metadata.flatten(entry.config).get("model.block_loss"))
    return metadata.model_setting(entry, "similarity"), metadata.is_living(entry), has_block_loss


def _row_title(row: Row, groups: Sequence[Sequence[Entry]]) -> str:
    """The similarity; of a mechanism that has but one, whose it is."""
    similarity, living, has_block_loss = row
    owner = next(entry for group in groups for entry in group if _row(entry) == row)
    title = escape(similarity.replace("_", " ") or f"{checkpoint_html.label(owner)}'s own")
    return title + ", through attention" * living + ", loss at each block" * has_block_loss


def _cell(row: Row, group: Sequence[Entry], mechanism: str, css_class: str) -> str:
    entries = (
        entry for entry in group if _row(entry) == row and metadata.model_setting(entry, "mechanism") == mechanism
    )
    entry = next(entries, None)
    text = "" if entry is None else checkpoint_html.percent(metadata.main_score(entry))
    return f'<td class="{css_class}">{f"<b>{text}</b>" if entry is group[0] else text}</td>'
