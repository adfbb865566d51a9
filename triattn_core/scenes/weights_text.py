"""Replaced attention in words: what became of the answer, against chance, and of the attention of other heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from triattn_core.sources.weight_change import Replaced
from triattn_core.trace.site import SIDES, Site
from triattn_core.views.lib.number_format import minus

STILL = 1e-6  # bits: a head that moves less only rounds otherwise
CLAUSES = {
    "even": "With even weights",
    "shuffled": "With shuffled weights",
    "mean row": "With the mean row in place of every row",
    "another text": "With the weights of another text",
    "edited row": "With one row edited",
    "off": "Switched off",
}


def describe_finding(becomes: str, replaced: Replaced, chosen: int, among: int) -> str:
    """What was done, and what became of the answer."""
    where = f"all {among} heads" if chosen == among else f"{chosen} of {among} heads"
    before, after = replaced.predictions[:2]
    label, now = before.labels[before.best], after.labels[after.best]
    at = after.labels.index(label)
    answer = f"the answer flips to “{now}”" if replaced.flipped[0] else "the answer stays"
    return minus(
        f"{CLAUSES[becomes]} in {where}, {answer}: probability of “{label[:60]}” "
        f"{before.probabilities[before.best]:.3f} before, {after.probabilities[at]:.3f} after "
        f"(log-odds {replaced.changes[0]:+.3g})."
    )


def describe_written(texts: Sequence[str]) -> str:
    """What a model writes of a text, as it is and with other weights at every step; empty without texts."""
    if not texts:
        return ""
    before, after = texts
    stop = "" if after.endswith((".", "!", "?", "…")) else "."
    if before == after:
        return f"It writes the same with these weights: “{before}”{stop}"
    return f"It writes “{before}”, and with these weights “{after}”{stop}"


def describe_chance(becomes: str, replaced: Replaced, chosen: int, among: int) -> str:
    """The same for draws at random, and how many of them change the answer as much."""
    changes = np.array(replaced.changes[1:])
    flips, count = sum(replaced.flipped[1:]), len(changes)
    larger = int((np.abs(changes) >= abs(replaced.changes[0])).sum())
    shuffled = chosen > among - chosen or becomes in ("another text", "edited row")
    what = "shuffled weights in the same heads" if shuffled else f"as many other heads ({chosen}) at random"
    spread = f" ± {changes.std(ddof=1):.2g} (standard deviation)" if count > 1 else ""
    return minus(
        f"Chance, {count} draws of {what}: {changes.mean():+.3g}{spread}, {flips} flip{'s' * (flips != 1)}; "
        f"{larger} of {count} change the log-odds as much or more, p = {(1 + larger) / (1 + count):.2g}."
    )


def nothing_moves(moved: pd.DataFrame) -> bool:
    """Whether no head but those that were changed moves its attention, as after the last layer."""
    rest = moved[~moved["changed"]].dropna(subset=["bits"])
    return not moved["changed"].all() and (rest.empty or rest["bits"].max() < STILL)


def describe_moved(moved: pd.DataFrame) -> str:
    """Which heads that were not changed move most."""
    rest = moved[~moved["changed"]].dropna(subset=["bits"])
    if moved["changed"].all():
        alive = moved.dropna(subset=["bits"])
        if alive.empty:
            return f"All {len(moved)} heads are off: none has weights."
        top = alive.loc[alive["bits"].idxmax()]
        return (
            f"All {len(moved)} heads were changed, by {alive['bits'].mean():.2g} bits in the mean (Jensen-Shannon "
            f"divergence, 0 to 1), most in {_name_head(top)}, by {top['bits']:.2g}."
        )
    if nothing_moves(moved):
        return f"None of {len(rest)} heads that were left as they are moves its attention."
    top = rest.loc[rest["bits"].idxmax()]
    return (
        f"Of {len(rest)} heads that were left as they are, {_name_head(top)} moves its attention "
        f"most, by {top['bits']:.2g} bits (Jensen-Shannon divergence, 0 to 1); their mean is {rest['bits'].mean():.2g}."
    )


def _name_head(row: pd.Series) -> str:
    """`layer 2 head 3`, of a model with encoder and decoder also which of its attentions."""
    role = Site.parse(str(row["site"])).role
    return f"layer {row['layer']} {f'{role} ' if role in SIDES else ''}head {row['head']}"
