"""The labels of an axis, and the rule by which screen and paper lay them out.

The rule is `label_ways.json`, in sizes of type.  Of each kind of labels it has the ways to draw them, in the order in
which they are tried: the first is taken in which all have room, else the last, and there labels give way by rank.
`apart` is the least distance from one to the next, without it that of the widest label and `gap`; those that do not
stand `lean` by 45 degrees; in two `lines` they take turns; `size`: of smaller type.  A label is cut at `longest`;
`line`: from one line of labels to the next.
A renderer only measures text.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["flat", "letters", "words", "wide"]


@dataclass(frozen=True)
class Labels:
    """Labels as they are drawn.  kind: `flat`, of which none leans: numbers and names of groups; `letters`: single
    ones; `words`; `wide`: words with Chinese among them.  rank: of each its place in the order in which they are named
    where not all have room; empty for that in which they stand.  stands: which never lean: single letters.
    """

    texts: Sequence[str]
    kind: Kind = "flat"
    rank: Sequence[int] = field(default=(), repr=False)
    stands: Sequence[bool] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def order(self) -> list[int]:
        """Places, those first that are named first."""
        return np.argsort(self.rank).tolist() if self.rank else list(range(len(self)))

    def payload(self) -> dict[str, Any]:
        """What the script needs of an axis, without what is empty."""
        wide = [int(is_wide(text)) for text in self.texts]
        fields = {"rank": list(self.rank), "stands": list(map(int, self.stands)), "wide": wide if any(wide) else []}
        return {
            "label": list(self.texts),
            "kind": self.kind,
            **{name: list_ for name, list_ in fields.items() if list_},
        }


def labels_of(
    texts: Sequence[str],
    strengths: np.ndarray | None = None,
    flat: bool = False,
    special: Sequence[int] = (),
    first: Sequence[int] = (),
) -> Labels:
    """Labels of which the strongest are named first.

    strengths: [labels], by default all alike.  flat: none leans.  special: 1 for a token of no text, which may lean
    among letters.  first: 1 where a label is named before all others.
    """
    if flat or all(text.isdecimal() for text in texts):
        return Labels(tuple(texts))
    stands = tuple(_is_letter(text) for text in texts)
    single = all(map(max, stands, special or stands))
    kind: Kind = "letters" if single else "wide" if any(map(is_wide, texts)) else "words"
    if strengths is None:
        return Labels(tuple(texts), kind, (), stands)
    later = np.lexsort((-strengths.astype(float), -np.array(first or [0] * len(texts))))
    return Labels(tuple(texts), kind, tuple(np.argsort(later).tolist()), stands)


@cache
def label_ways() -> dict[str, Any]:
    """The rule."""
    return json.loads(Path(__file__).with_name("label_ways.json").read_text("utf-8"))


def is_wide(text: str) -> bool:
    """Whether all its letters are as wide as they are high, as those of Chinese."""
    return text != "" and all(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def _is_letter(text: str) -> bool:
    """Whether a reader sees one letter, with or without accents."""
    return sum(unicodedata.category(letter) not in ("Mn", "Me", "Mc", "Cf", "Sk") for letter in text) <= 1
