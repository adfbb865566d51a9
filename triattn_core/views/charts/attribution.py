"""Attributions as figures: what each method gives each token, on one scale; and how far the methods agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import isfinite
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from triattn_core.trace.listing import listing
from triattn_core.views.charts.grids import label_expression, with_style, with_titles
from triattn_core.views.lib.labels import labels_of
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.number_format import minus
from triattn_core.views.lib.palette import DIVERGING, THEMES, SignedScale, ramp
from triattn_core.views.lib.strongest import numbered

ROLES = ("query", "key", "context")
MIXED = (
    " Ranks across roles also reflect the roles: the tokens of a role share its mass of attention, and roles "
    "differ in their number of tokens."
)
NUMERALS = {3: "three", 4: "four", 5: "five", 6: "six"}
LONGEST = 40  # letters of a token
LARGE_GAP = 10.0  # per cent of what is to be attributed
SHARE, AGAINST = "share of the method's total", "\u2212 against the answer"
LESS = -0.002  # a share below this is said to be against the answer


def scale_of(table: pd.DataFrame, shares: pd.DataFrame) -> SignedScale:
    """The one scale of all methods and roles, special tokens aside."""
    return SignedScale.of(shares[table["special"] == 0].fillna(0).to_numpy(), title="share")


def words(table: pd.DataFrame) -> pd.Series:
    """The tokens that are not special, each told apart from its like in the same role by a small number."""
    tokens = table.loc[table["special"] == 0, "token"].astype(str)
    return tokens.groupby(table["role"], group_keys=False).transform(numbered)


def abbreviate(token: str, limit: int) -> str:
    """A token of at most `limit` letters: of a longer one the words that fit, and an ellipsis; a long word is cut."""
    if len(token) <= limit:
        return token
    whole_words = token[: limit - 1].rpartition(" ")[0]
    return f"{whole_words} …" if whole_words else token[: limit - 1] + "…"


def strips(
    table: pd.DataFrame, shares: pd.DataFrame, names: Mapping[str, str], theme: str = "light"
) -> alt.HConcatChart:
    """The tokens of each role down, the methods across; a dash where a share is against the answer.

    table: of `methods.Attributed`; shares: its `shares()`.  names: what plays query and key.  A role of which a method
    says nothing stays empty there.
    """
    palette, scale, charts = THEMES[theme], scale_of(table, shares), []
    for role in filter(set(table["role"]).__contains__, ROLES):
        in_role = (table["role"] == role) & (table["special"] == 0)
        tokens, methods = words(table[in_role]).tolist(), list(shares)
        rows = shares[in_role].assign(place=range(len(tokens)), token=tokens)
        rows = rows.melt(["place", "token"], var_name="method", value_name="share").dropna()
        token_labels = label_expression([abbreviate(token, LONGEST) for token in tokens])
        axis = alt.Axis(labelExpr=token_labels, ticks=False, domain=False, labelLimit=260)
        y = alt.Y("place:O", title=None, axis=axis, scale=alt.Scale(domain=[*range(len(tokens))]))
        top = alt.Axis(orient="top", labelAngle=-45, ticks=False, domain=False)
        x = alt.X("method:N", title=None, axis=top, scale=alt.Scale(domain=methods))
        tips: list[Any] = ["method:N", "token:N", alt.Tooltip("share:Q", format="+.3%")]
        grid = alt.Chart(rows).mark_rect(stroke=palette["page"], strokeWidth=0.7)
        grid = grid.encode(x, y, _share(scale, theme), tooltip=tips)
        strong = f"abs(datum.share) > {scale.limit / 4}"
        ink = alt.condition(strong, alt.value(palette["page"]), alt.value(palette["text"]))
        less = alt.Chart(rows[rows["share"] < LESS]).mark_text(text="\u2212", fontSize=11).encode(x, y, color=ink)
        title = f"{role}: {names[role]}" if role in names else role
        charts.append(alt.layer(grid, less).properties(title=title, width=120, height=17 * len(tokens)))
    return with_titles(alt.hconcat(*charts, spacing=26).resolve_scale(color="shared"), theme)


def map_marks(
    table: pd.DataFrame, shares: pd.DataFrame, names: Mapping[str, str], short: Mapping[str, str]
) -> tuple[MapMark, ...]:
    """The maps of `strips` for print.  short: of each method its name above a column."""
    scale, columns = replace(scale_of(table, shares), title=f"{SHARE}, {AGAINST}"), [short[method] for method in shares]
    marks: list[MapMark] = []
    for role in filter(set(table["role"]).__contains__, ROLES):
        in_role = (table["role"] == role) & (table["special"] == 0)
        values, tokens = shares[in_role].to_numpy(float), words(table[in_role]).tolist()
        title = f"{role}: {names[role]}" if role in names else role
        place, empty = (0, len(marks)), np.isnan(values)
        rows = labels_of(tokens, np.abs(np.nan_to_num(values)).max(1))
        marks.append(
            MapMark(title, (role, "feature"), rows, labels_of(columns), scale.levels(values), scale, None, place, empty)
        )
    return tuple(marks)


def fill_of(share: float, scale: SignedScale, theme: str) -> np.ndarray:
    """The colour of one share, uint8 [3]."""
    return _colours(theme)[scale.levels(np.array([share]))[0]]


@cache
def _colours(theme: str) -> np.ndarray:
    return ramp(DIVERGING[theme], SignedScale.steps)


def _share(scale: SignedScale, theme: str) -> alt.Color:
    """The colours of `SignedScale`: straight lines between 33 of its levels."""
    levels = np.linspace(0, SignedScale.steps - 1, 33).round().astype(int)
    colours = ["#" + bytes(colour.tolist()).hex() for colour in _colours(theme)[levels]]
    domain = scale.values(levels).tolist()
    kind = alt.Scale(type="pow", exponent=scale.power, domain=domain, range=colours, clamp=True)
    title = f"{SHARE}, {scale.how}; {AGAINST}"
    options: dict[str, Any] = {"orient": "bottom", "direction": "horizontal", "gradientLength": 380, "titleLimit": 620}
    label = "datum.value ? format(datum.value, '+.2~%') : '0'"
    legend = alt.Legend(title=title, labelExpr=label, values=scale.ticks(), **options)
    return alt.Color("share:Q", scale=kind, legend=legend)


def ranks(correlations: pd.DataFrame, short: Sequence[str], theme: str = "light") -> alt.LayerChart:
    """Spearman's correlation of each two methods, as `Attributed.correlations` gives it; a dash where there is none.

    short: the methods where there is little room.
    """
    palette, names = THEMES[theme], list(correlations)
    rows = [
        {"a": names[a], "b": short[b], "with": names[b], "rank": correlations.iloc[a, b]}
        for a in range(len(names))
        for b in range(a)
    ]
    rows = pd.DataFrame(rows, columns=["a", "b", "with", "rank"])
    rows["said"] = [minus(f"{rank:.2f}") if np.isfinite(rank) else "–" for rank in rows["rank"]]
    stops = np.linspace(-1, 1, len(DIVERGING[theme])).tolist()
    colour = alt.Color("rank:Q", scale=alt.Scale(domain=stops, range=DIVERGING[theme]), legend=None)
    plain = alt.Axis(ticks=False, domain=False)
    y = alt.Y("a:N", sort=names[1:], title=None, axis=plain)
    x = alt.X("b:N", sort=list(short[:-1]), title=None, axis=alt.Axis(labelAngle=0, orient="bottom", ticks=False))
    tips: list[Any] = ["a:N", "with:N", alt.Tooltip("rank:Q", format="+.3f", title="Spearman")]
    base = alt.Chart(rows).encode(x, y, tooltip=tips)
    ink = alt.condition("abs(datum.rank) > 0.5", alt.value(palette["page"]), alt.value(palette["text"]))
    cells = base.mark_rect(stroke=palette["page"]).encode(colour)
    layers = alt.layer(cells, base.mark_text(fontSize=12).encode(text="said:N", color=ink))
    return with_style(layers.properties(width=74 * (len(names) - 1), height=30 * (len(names) - 1)), theme)


def percent(share: float) -> str:
    """A signed share with three digits at most."""
    return minus(f"{100 * share:+.3g} %") if abs(share) >= 5e-4 else "0 %"


def describe_strongest(table: pd.DataFrame, shares: pd.DataFrame, names: Mapping[str, str]) -> str:
    """A sentence: the strongest token of each method, methods that name the same one together.  names: as `strips`."""
    real, texts = table["special"] == 0, words(table)
    by: dict[tuple[str, str], list[str]] = {}
    for method in shares:
        values = shares.loc[real, method].abs()
        if values.sum():
            strongest = values.idxmax()
            by.setdefault((texts[strongest], plays(table.at[strongest, "role"], names)), []).append(method)
    several = table.loc[real, "role"].nunique() > 1  # of one text its role says nothing
    count = NUMERALS.get(len(shares.columns), "")
    parts = [
        f"{f'all {count} methods' if count and len(methods) == len(shares.columns) else listing(methods)}: "
        f"“{token}”{f' as {role}' if several else ''}"
        for (token, role), methods in by.items()
    ]
    kind = "[CLS] and [SEP]" if (table["role"] == "context").any() else "Special tokens"
    held = 100 * shares[~real].abs().sum()
    most = held.max()
    specials = f" {kind} are left out; they hold up to {most:.2g} % ({held.idxmax()})." if most > 0.05 else ""
    return f"Strongest by {'; by '.join(parts)}.{specials}" if parts else "No method says anything of this text."


def plays(role: str, names: Mapping[str, str]) -> str:
    """A role by what the task calls it: "candidate", "A", "context"."""
    return names.get(role, role)


def completeness(attributions: pd.Series, gap: float, odds: float) -> list[tuple[str, str]]:
    """Names and numbers: what integrated gradients add up to, and what is missing of F(x) - F(x'), their due sum."""
    total = float(attributions.sum())
    share = _missing_share(attributions, gap)
    part = "–" if share is None else f"{share:.{'0f' if share >= 100 else '2g'}} %"
    rows = [
        ("log-odds of the answer", f"{odds:+.3g}"),
        ("with every word blanked", f"{odds - total + gap:+.3g}"),
        ("difference of these", f"{total - gap:+.3g}"),
        ("attributions add up to", f"{total:+.3g}"),
        ("completeness gap", f"{abs(gap):.2g}, {part} of the difference"),
    ]
    return [(name, minus(text)) for name, text in rows]


def _missing_share(attributions: pd.Series, gap: float) -> float | None:
    due = float(attributions.sum()) - gap
    return 100 * abs(gap / due) if due else None


def completeness_warning(attributions: pd.Series, gap: float) -> str:
    """A sentence where the gap is large beside what is to be attributed; otherwise empty."""
    share = _missing_share(attributions, gap)
    if share is not None and share <= LARGE_GAP:
        return ""
    return "The gap is large: integrated gradients do not account for the difference, so do not trust their sizes here."


def agreement(correlations: pd.DataFrame, count: int, bar: float, several: bool = False) -> str:
    """A sentence: which two agree most, which least, and what chance alone would give.  count: of tokens; bar: below
    which no correlation over so many is evidence; several: whether these are of several roles."""
    pairs = [
        (float(correlations.loc[a, b]), a, b)
        for a, b in combinations(correlations, 2)
        if isfinite(correlations.loc[a, b])
    ]
    if not pairs:
        return "Too few tokens to rank."
    (most, a, b), (least, c, d) = max(pairs), min(pairs)
    sentence = f"{a} and {b} rank the tokens most alike ({most:.2f}), {c} and {d} least "
    sentence += f"({least:.2f}). Over {count} tokens "
    sentence += f"less than {bar:.2f} is" if bar < 0.995 else "that is"
    sentence += f" no evidence (5 %, for the most extreme of {len(pairs)} correlations of ranks drawn at random)."
    return minus(sentence + MIXED * several)
