"""The weight of the words of a list, head by head, against the same number of other tokens of the same rows.

The null: where the words stand in their rows does not matter.  Each draw puts them in other places of the same row,
special tokens left out.  With n draws and k = floor(0.025 (n + 1)), the band runs from the k-th smallest to the k-th
largest of them; p = 2 (1 + min(draws <= mean, draws >= mean)) / (n + 1), at most 1 (Phipson and Smyth, 2010).  A mean
is beyond the band exactly where p <= 0.05.  The test says nothing of why a place counts: a word that always stands
first gets what the first place gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.analysis.maps.head_profiles import WAYS
from triattn_core.errors import InputError

DRAWS = 400
LEVEL = 0.05  # two-sided
DIGITS = 12  # after the point: sums of equal weights in another order are equal


def split_words(text: str) -> tuple[str, ...]:
    """The words of a list such as "not, never, no"; commas part them, and so do Chinese ones.  Raises InputError."""
    words = tuple(dict.fromkeys(filter(None, (word.strip().casefold() for word in text.replace("，", ",").split(",")))))
    if not words:
        raise InputError("Name at least one word: not, never, no")
    return words


def find_words(tokens: Sequence[str], glued: Sequence[bool], words: Sequence[str]) -> np.ndarray:
    """[tokens] bool: whether a token is one of the words or a piece of it.

    glued: whether a token follows the one before without a space.  A word in Latin letters ends where they end;
    Chinese has no such ends.
    """
    names, mask = [token.casefold() for token in tokens], np.zeros(len(tokens), bool)
    for start in range(len(names)):
        for word in words:
            end, text = start, ""
            while end < len(names) and len(text) < len(word) and (end == start or glued[end]):
                text, end = text + names[end], end + 1
            if text == word and not _goes_on(names, glued, start) and not _goes_on(names, glued, end):
                mask[start:end] = True
    return mask


def _goes_on(names: Sequence[str], glued: Sequence[bool], position: int) -> bool:
    """Whether a Latin word goes on over the border before a token."""
    around = names[position - 1 : position + 1]
    return 0 < position < len(names) and glued[position] and all(name.isascii() and name.isalnum() for name in around)


def weigh_words(table: pd.DataFrame, words: Sequence[str], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """A row for each site, head, way of `head_profiles.WAYS` and, by feature, feature: `places` of the words, in `rows`
    rows; `mean` over the places; `even`, `low` and `high`, mean and band of the draws; `p`, two-sided.

    A row's draws depend on its number, the site and the way alone: other rows, groups of heads or another order of the
    table do not change them.

    table: `head_profiles.profile_table` of several rows, with their `row`.  Raises InputError: none of the words.
    """
    sums: dict[tuple[str, str], list[Any]] = {}
    in_order = table.sort_values("row", kind="stable")  # the order of a sum shows in its last digits
    for row, _, site, direction, heads, marked, values in _places(in_order, words):
        valid = np.flatnonzero(marked >= 0)
        word_positions, count = valid[marked[valid] > 0], int((marked > 0).sum())
        order = _generator(seed, row, site, direction).random((draws, len(valid))).argsort(-1)[:, :count]
        flat = values.reshape(len(heads), len(marked), -1).astype(np.float64)  # [head, token, feature]
        samples = flat[:, valid][:, order].sum(2)  # [head, draw, feature]
        total = sums.setdefault((site, direction), [0.0, 0.0, 0, 0, heads])
        total[0] = total[0] + flat[:, word_positions].sum(1)
        total[1], total[2], total[3] = total[1] + samples, total[2] + count, total[3] + 1
    if not sums:
        raise InputError(f"None of these words occurs in the rows: {', '.join(words)}")
    return pd.concat([_summary(*key, *total) for key, total in sums.items()], ignore_index=True)


def _generator(seed: int, *identity: object) -> np.random.Generator:
    digest = sha256(repr((seed, *map(str, identity))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def band_and_p(means: np.ndarray, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`low` and `high`, the middle 95 % of the draws, and the two-sided `p` of each mean, all shaped as `means`: a mean
    lies beyond its band exactly where p <= 0.05.  Fewer than 39 draws cannot give so small a p: the band is then from
    the least to the greatest.

    means: [...].  samples: [draw, ...], of the null.
    """
    count = len(samples)
    rank = max(1, int(LEVEL / 2 * (count + 1) + 1e-9))  # from either end
    ordered = np.sort(samples, axis=0)
    tail = np.minimum((samples <= means).sum(0), (samples >= means).sum(0))
    return ordered[rank - 1], ordered[count - rank], np.minimum(1.0, 2 * (1 + tail) / (count + 1))


def _summary(
    site: str, direction: str, sums: np.ndarray, samples: np.ndarray, places: int, rows: int, heads
) -> pd.DataFrame:
    """sums: [head, feature] and samples: [head, draw, feature], over `places` places."""
    means, samples = np.round(sums / places, DIGITS), np.round(samples / places, DIGITS)
    low, high, p = band_and_p(means, np.moveaxis(samples, 1, 0))
    head, feature = (index.ravel() for index in np.indices(means.shape))
    numbers = {"mean": means, "even": samples.mean(1), "low": low, "high": high, "p": p}
    columns = {"site": site, "head": np.asarray(heads)[head], "way": direction, "places": places, "rows": rows}
    columns |= {"feature": feature if direction == "by_feature" else -1}
    return pd.DataFrame(columns | {name: values.ravel() for name, values in numbers.items()})


def list_places(table: pd.DataFrame, words: Sequence[str], site: str, head: int, direction: str) -> pd.DataFrame:
    """The places behind one number of `weigh_words`, those with most first: `row`, `id`, `word` and its `place` from 1,
    the `value` there (of features, their mean) and the mean of its row, `even`."""
    rows = []
    for row, name, _, _, _, marked, values in _places(
        table[(table["site"] == site) & (table["head"] == head)], words, direction
    ):
        shares = values[0].reshape(len(marked), -1).mean(-1)
        even = shares[marked >= 0].mean()
        tokens = name[1]
        for place in np.flatnonzero(marked > 0):
            place_row = {"row": row, "id": name[0], "word": tokens[place], "place": place + 1}
            rows.append(
                place_row | {"value": float(shares[place]), "even": float(even), "text": " ".join(filter(None, tokens))}
            )
    return pd.DataFrame(rows).sort_values("value", ascending=False, ignore_index=True) if rows else pd.DataFrame()


def _places(table: pd.DataFrame, words: Sequence[str], only: str | None = None) -> Iterator[tuple]:
    """Yield row, (id, tokens), site, way, heads, places [tokens] (1: one of the words, -1: a special token) and values
    [head, tokens(, features)], of each row and site in which one of the words stands."""
    for (row, site), heads in table.groupby(["row", "site"], sort=False):
        first = heads.iloc[0]
        for direction, axis in WAYS.items():
            tokens = first[f"tokens of {axis}"]
            if tokens is None or first[direction] is None or only not in (None, direction):
                continue
            marked = find_words(tokens, first[f"glued of {axis}"], words).astype(int)
            marked[[not token for token in tokens]] = -1
            if (marked > 0).any():
                values = np.stack(list(heads[direction]))
                yield row, (first["id"], tokens), site, direction, heads["head"].tolist(), marked, values
