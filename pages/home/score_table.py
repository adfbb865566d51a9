"""What the checkpoints reached as one small table: a row a similarity and form, a column a mechanism in a data set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.shared import checkpoint_html, style
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.axes import MECHANISM_LABELS, MECHANISMS


def measured(shelf: Sequence[Entry], most: int = 2) -> list[list[Entry]]:
    """The cards with a score, those that may be compared together and the best on dev first; `most` groups of them."""
    groups = [
        [card for card in group if metadata.main_score(card) is not None]
        for group in metadata.comparable_groups(shelf).values()
    ]
    return [group for group in groups if group][:most]


def table(groups: Sequence[Sequence[Entry]]) -> str:
    """HTML: scores on test in per cent, that of the best on dev in each group in bold."""
    there = [{metadata.model_setting(card, "mechanism") for card in group} for group in groups]
    kinds = [[kind for kind in MECHANISMS if kind in has] for has in there]
    heads = "".join(
        f'<th class="r" colspan="{len(of)}"><b>{escape(metadata.dataset_name(group[0]))}</b>'
        f", {escape(metadata.language_name(metadata.language(group[0])))}</th>"
        for group, of in zip(groups, kinds)
    )
    columns = [(group, kind, "r t-block" * (kind == of[0]) or "r") for group, of in zip(groups, kinds) for kind in of]
    names = "".join(
        f'<th class="{look}">{style.swatch(kind)}{MECHANISM_LABELS[kind]}</th>' for _, kind, look in columns
    )
    lines = "".join(
        f"<tr><td>{_row_title(*row, groups)}</td>{''.join(_cell(row, *column) for column in columns)}</tr>"
        for row in rows([card for group in groups for card in group])
    )
    return f'<table class="t-table t-scores"><tr><th></th>{heads}</tr><tr><th></th>{names}</tr>{lines}</table>'


def rows(shelf: Sequence[Entry]) -> list[tuple[str, bool]]:
    """The similarities of these cards as they are offered, and of each whether in the living form; published first."""
    order = {_row(card): metadata.sort_key(card)[2:] for card in shelf}
    return sorted(order, key=lambda row: (row[1], order[row]))


def _row(card: Entry) -> tuple[str, bool]:
    return metadata.model_setting(card, "similarity"), metadata.is_living(card)


def _row_title(similarity: str, living: bool, groups: Sequence[Sequence[Entry]]) -> str:
    """The similarity; of a mechanism that has but one, whose it is."""
    owner = next(card for group in groups for card in group if _row(card) == (similarity, living))
    return escape(similarity.replace("_", " ") or f"{checkpoint_html.label(owner)}'s own") + ", living" * living


def _cell(row: tuple[str, bool], group: Sequence[Entry], mechanism: str, look: str) -> str:
    cards = (card for card in group if _row(card) == row and metadata.model_setting(card, "mechanism") == mechanism)
    card = next(cards, None)
    text = "" if card is None else checkpoint_html.percent(metadata.main_score(card))
    return f'<td class="{look}">{f"<b>{text}</b>" if card is group[0] else text}</td>'
