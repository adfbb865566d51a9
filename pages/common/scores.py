"""What the checkpoints reached as one small table: a row a similarity, a column a mechanism, a block a data set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.common import cards, style
from triattn_core import records
from triattn_core.axes import MECHANISM_LABELS, MECHANISMS
from triattn_core.shelf import Card


def measured(shelf: Sequence[Card], most: int = 2) -> list[list[Card]]:
    """The cards with a score, those that may be compared together and the best on dev first; `most` groups of them."""
    groups = [[card for card in group if records.score(card) is not None] for group in records.groups(shelf).values()]
    return [group for group in groups if group][:most]


def table(groups: Sequence[Sequence[Card]]) -> str:
    """HTML: scores on test in per cent, that of the best on dev in each group in bold."""
    there = [{records.model(card, "mechanism") for card in group} for group in groups]
    kinds = [[kind for kind in MECHANISMS if kind in has] for has in there]
    heads = "".join(
        f'<th class="r" colspan="{len(of)}"><b>{escape(records.data(group[0]))}</b>'
        f", {escape(records.spoken(records.language(group[0])))}</th>"
        for group, of in zip(groups, kinds)
    )
    columns = [(group, kind, "r t-block" * (kind == of[0]) or "r") for group, of in zip(groups, kinds) for kind in of]
    names = "".join(
        f'<th class="{look}">{style.swatch(kind)}{MECHANISM_LABELS[kind]}</th>' for _, kind, look in columns
    )
    lines = "".join(
        f"<tr><td>{_named(similarity)}</td>{''.join(_cell(similarity, *one) for one in columns)}</tr>"
        for similarity in similarities([card for group in groups for card in group])
    )
    return f'<table class="t-table t-scores"><tr><th></th>{heads}</tr><tr><th></th>{names}</tr>{lines}</table>'


def similarities(shelf: Sequence[Card]) -> list[str]:
    """The similarities of these cards, as they are offered."""
    known = {records.model(card, "similarity"): records.place(card)[1:] for card in shelf}
    return sorted(known, key=known.__getitem__)


def _named(similarity: str) -> str:
    return escape(similarity.replace("_", " ")) or "its own"


def _cell(similarity: str, group: Sequence[Card], mechanism: str, look: str) -> str:
    wanted = (similarity, mechanism)
    card = next((c for c in group if (records.model(c, "similarity"), records.model(c, "mechanism")) == wanted), None)
    text = "" if card is None else cards.percent(records.score(card))
    return f'<td class="{look}">{f"<b>{text}</b>" if card is group[0] else text}</td>'
