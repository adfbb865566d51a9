"""Below the tensor: the sum that made the chosen cell, and the features that disagree on its pair, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import canvas_component, checkpoint_html, figures
from triattn_core.scenes.tensor import TensorScene
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.views.attention_maps.terms import SAYS, Profile, Terms, profile, terms
from triattn_core.views.lib.palette import DIVERGING
from triattn_core.views.lib.strongest import words as token_words

if TYPE_CHECKING:
    from triattn_core.analysis.maps.clusters import Clusters

LISTED = 6  # features a side


def show_cell(scene: TensorScene, choice: Choice, cell: Sequence[int], theme: str) -> None:
    """Shows the terms of a cell's score, and whether the features agree on its pair."""
    trace, layer, array = scene.trace, scene.settings.layer, scene.trace.site(choice.site)
    pair = tuple(token_words(array, dict(trace.texts), axis)[i] for axis, i in zip(("query", "key"), cell))
    with st.container(key="main"):
        left, right = st.columns([1.15, 1], gap="large")
    left.html(sum_of(terms(trace, layer, cell), trace, pair, cell[2], theme))
    right.html(agreement(profile(trace, layer, cell), scene.clusters.assignments.tolist(), pair, cell[2]))


def show_clusters(scene: TensorScene, key: str) -> None:
    """The maps that stand for clusters of features.  key: of their figure."""
    st.html(checkpoint_html.section("Features clustered by their maps", describe_clusters(scene.clusters)))
    figures.note(
        "Each map is the mean of a cluster: again a distribution over keys in every row. Ward's method, Hellinger "
        "distance; clusters are numbered as they stand in the figure above."
    )
    canvas_component.show(scene.below, key)
    figures.numbers("The clusters' maps as numbers", scene.cluster_table, "means")


def describe_clusters(clusters: Clusters) -> str:
    """A sentence: the number of clusters, and how much of the features' variance they explain."""
    count = len(clusters.prototypes)
    count_text = f"{count} cluster{'s' * (count > 1)} of {len(clusters.assignments)} features"
    return f"{count_text} explain{'s' * (count == 1)} {100 * clusters.explained_share:.3g} % of how their maps differ"


def format_number(value: float) -> str:
    """Three significant digits, with its sign; a mask may say -∞."""
    if isnan(value):
        return "–"
    if not isfinite(value):
        return "−∞" if value < 0 else "∞"
    return f"{value:+#.3g}".replace("-", "−") if value else "0"


def sum_of(terms: Terms, trace: AttentionTrace, words: tuple[str, str], feature: int, theme: str) -> str:
    """HTML: each term as a bar that starts where the previous one ends, and as a number.

    words: the query and the key.
    """
    query, key = (escape(word) for word in words)
    scale_texts = [SAYS[str(trace.meta[name])] for name in ("scale_t", "scale_s")]
    mask = escape(str(trace.meta["mask"]).replace(":", " "))
    parts = terms.parts
    allowed = "allowed" if not parts["mask"] else "less, the farther" if isfinite(parts["mask"]) else "left out"
    first, second = parts["token2token"], parts["token2token"] + parts["source2token"]
    rows = [  # name, what it is, where its bar begins (None: a total, from zero) and ends, its value
        ("token2token", scale_texts[0].format(f"{query} · {key} / √D"), 0.0, first, first),
        (
            "source2token",
            scale_texts[1].format(f"feature {feature + 1} of {key}"),
            first,
            second,
            parts["source2token"],
        ),
        ("mask", f"{mask}: {allowed}", second, terms.score, parts["mask"]),
        ("score", "sum of the three", None, terms.score, terms.score),
        # Its bar goes the way it is taken off; the number keeps its own sign.
        ("log-sum-exp", f"of all that {query} may attend to", terms.score, terms.log_probability, terms.whole),
        ("log probability", "score − log-sum-exp", None, terms.log_probability, terms.log_probability),
    ]
    if not isfinite(terms.whole):
        rows[-2:] = [("log-sum-exp", f"there is nothing that {query} may attend to", None, nan, nan)]
    ends = [number for number in (first, second, terms.score, terms.log_probability) if isfinite(number)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    lines = "".join(_line(row, low, max(high - low, 1e-9), theme) for row in rows)
    last = (
        f'<tr class="t-total"><td>probability</td><td class="t-muted">its exponential: the weight of this cell</td><td>'
        f'</td><td class="r"><b class="t-large">{terms.probability:#.3g}</b></td></tr>'
    )
    return checkpoint_html.section("What made this weight", f"{words[0]} → {words[1]}, feature {feature + 1}") + (
        f'<table class="t-facts t-sum">{lines}{last}</table>'
    )


def _line(row: tuple, low: float, span: float, theme: str) -> str:
    name, meaning, start, end, value = row
    total, start = start is None, start or 0.0
    bar = f'<b style="left:{100 * (0.0 - low) / span:.2f}%"></b>'  # the zero line, from row to row
    if isfinite(start) and isfinite(end):
        left, width = 100 * (min(start, end) - low) / span, 100 * abs(end - start) / span
        colour = "var(--t-text)" if total else DIVERGING[theme][1 if end < start else 3]
        bar += f'<i style="left:{left:.2f}%;width:max({width:.2f}%, 1px);background:{colour}"></i>'
    number = format_number(value)
    label = f"<b>{name}</b>" if total else name
    return (
        f'<tr><td>{label}</td><td class="t-muted">{meaning}</td><td><span class="t-fall">{bar}</span></td>'
        f'<td class="r">{f"<b>{number}</b>" if total else number}</td></tr>'
    )


def agreement(profile: Profile, cluster_of: list[int], words: tuple[str, str], feature: int) -> str:
    """HTML: how many features are above and below a uniform share, and the extremes with their clusters."""
    title = checkpoint_html.section("Do the features agree on this pair?", f"{words[0]} → {words[1]}")
    if not profile.even:
        return title + '<p class="t-note">The mask leaves this pair out: every feature gives it 0.</p>'
    above, below, other = profile.above(), profile.below(), profile.disagree()
    side = "less" if profile.mean >= profile.even else "more"
    verdict = (
        f"<b>{len(other)}</b> of {len(profile.weights)} disagree: they give it {side} than an even share, the mean of "
        f"all gives {'more' if side == 'less' else 'less'}."
        if other
        else f"All {len(profile.weights)} agree on the side of an even share."
    )
    numbers = f"Even share {profile.even:.3g}, mean {profile.mean:.3g} ± {profile.spread:.2g} (standard deviation)."
    ends = "".join(
        _side(name, features[:LISTED], profile, cluster_of, feature, set(other))
        for name, features in ((f"Most, {len(above)} above", above), (f"Least, {len(below)} below", below))
    )
    return title + f'<p class="t-note">{verdict} {numbers}</p><div class="t-sides">{ends}</div>'


def _side(
    name: str, features: list[int], profile: Profile, cluster_of: list[int], feature: int, other: set[int]
) -> str:
    rows = "".join(
        f'<tr class="{"t-mark" if i == feature else ""}"><td>feature {i + 1}{" *" if i in other else ""}</td>'
        f'<td class="t-muted">cluster {cluster_of[i] + 1}</td><td class="r">{profile.weights[i]:#.3g}</td>'
        f'<td class="r t-muted">× {profile.weights[i] / profile.even:#.3g}</td></tr>'
        for i in features
    )
    none = '<tr><td class="t-muted">none</td></tr>'
    return f'<table class="t-facts"><tr><td class="t-muted" colspan="4">{name}</td></tr>{rows or none}</table>'
