"""Panels that stand side by side and the difference of two of them: their titles, their predictions in words, the cell
that is selected first, and the maps without special tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import cell_counts
from triattn_core.trace.axes import MECHANISM_LABELS, OTHER
from triattn_core.views.lib.content_words import FUNCTION_WORDS
from triattn_core.views.lib.strongest import labels

AXES = ("query", "key")


@dataclass(frozen=True)
class Panel:
    """One checkpoint: its maps [query, key] as `analysis.maps.compare` makes them, and what it says of the example.

    map_values: weights or centred relevances, what the map shows.  weights: always weights, for the numbers in the
    table.  entropy [query] in bits; rank [query, key]; right: None without a gold label; score: "Quora test accuracy
    85.1 %"; note: what the map is, by default that of the mechanism.  form: of a TAN, see `metadata.form`.  model: who
    says the label, by default the panel's title.
    """

    name: str
    mechanism: str
    similarity: str
    map_values: xr.DataArray = field(repr=False)
    weights: xr.DataArray = field(repr=False)
    entropy: np.ndarray = field(repr=False)
    rank: np.ndarray = field(repr=False)
    label: str
    probability: float
    right: bool | None
    score: str = ""
    note: str | None = None
    form: str = ""
    model: str = ""


@dataclass(frozen=True)
class Gap:
    """`left` minus `right`, positions in the list of panels, and the divergence [query] of their weights in bits.

    overlap [query]: how many of the `top` strongest keys are the same.  noise [query, key]: how far apart seeds of
    either lie, as `noisy` says in words; what differs by no more is drawn grey.
    """

    left: int
    right: int
    values: xr.DataArray = field(repr=False)
    divergence: np.ndarray = field(repr=False)
    overlap: np.ndarray | None = field(default=None, repr=False)
    top: int = 3
    noise: np.ndarray | None = field(default=None, repr=False)
    noisy: str = ""


def titles(models: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Short names for (checkpoint, mechanism, similarity, form): the mechanism, of a model of others its name, and the
    form where these differ; where that does not tell them apart with the similarity too, else
    the checkpoint's name."""
    plain = [
        name if mechanism == OTHER else MECHANISM_LABELS.get(mechanism, mechanism) for name, mechanism, _, _ in models
    ]
    longer = [f"{title} {similarity.replace('_', ' ')}".strip() for title, (_, _, similarity, _) in zip(plain, models)]
    forms = [form for *_, form in models]
    several = len(set(forms) - {""}) > 1
    for names in (plain, longer):
        if several:
            names = [f"{name}, {form}" if form else name for name, form in zip(names, forms)]
        if len(set(names)) == len(names):
            return names
    return [name for name, *_ in models]


def forms(left: str, right: str) -> tuple[str, str]:
    """Two titles without what they share: of "Tri, through attention" and "Tri, as published" the forms."""
    same, other = left.partition(", "), right.partition(", ")
    return (same[2], other[2]) if same[0] == other[0] and same[2] and other[2] else (left, right)


def minus(left: str, right: str) -> str:
    """What the difference of two titles is called."""
    return f"{left} − {forms(left, right)[1]}"


def panel_titles(panels: Sequence[Panel]) -> list[str]:
    """The same of panels."""
    return titles([(panel.name, panel.mechanism, panel.similarity, panel.form) for panel in panels])


NOBODY = "; none predicts the gold label"


def verdict(panels: Sequence[Panel]) -> tuple[str, str, str]:
    """Which model predicts what, as three parts of one sentence, the middle one to be emphasised."""
    names_of: dict[str, list[str]] = {}
    for title, panel in zip(panel_titles(panels), panels):
        names_of.setdefault(panel.label, []).append(title)
    gold = next((panel.label for panel in panels if panel.right), None)
    has_gold = panels[0].right is not None
    if len(names_of) == 1:
        only = panels[0].label
        lead = "Both predict" if len(panels) == 2 else f"All {('three', 'four')[len(panels) - 3]} predict"
        return lead, only, (", the gold label" if gold else "; the gold label differs") if has_gold else ""
    # The side that is worth a sentence: whoever stands alone, else whoever is right.
    alone = min(names_of, key=lambda answer: (len(names_of[answer]), answer != gold))
    names = names_of[alone]
    lead = f"Only {names[0]} predicts" if len(names) == 1 and len(panels) > 2 else _joined(names)
    if not has_gold:
        return lead, alone, ""
    return lead, alone, ", the gold label" if alone == gold else f"; the gold label is {gold}" if gold else NOBODY


def _joined(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} predict{'s' if len(names) == 1 else ''}"


def first_cell(panels: Sequence[Panel], gap: Gap | None) -> tuple[int, int]:
    """Where to look first: in the query whose rows diverge most, the key whose weight differs most; both of content
    words, where there are some, else of words."""
    if gap is None:
        moved = np.nan_to_num(panels[0].weights.values)
        spread = moved.max(axis=1)
    else:
        moved = np.nan_to_num(np.abs(panels[gap.left].weights.values - panels[gap.right].weights.values))
        spread = np.nan_to_num(gap.divergence)
    query = int(np.argmax(np.where(_wordlike(panels[0].weights, "query"), spread, -1.0)))
    return query, int(np.argmax(np.where(_wordlike(panels[0].weights, "key"), moved[query], -1.0)))


def _wordlike(array: xr.DataArray, axis: str) -> np.ndarray:
    tokens = [str(token) for token in array[f"{axis}_token"].values]
    words = np.array([any(map(str.isalnum, token)) for token in tokens]) & (array[f"{axis}_special"].values == 0)
    content = words & [token.lower() not in FUNCTION_WORDS for token in tokens]
    return content if content.any() else words if words.any() else ~words


KEPT = "Sums, ranks and bits still count them, and nothing is renormalised."
HIDDEN = "hidden"  # in the attrs: of each axis what was left out, as positions and as cells of the model


def without(panels: Sequence[Panel], gap: Gap) -> tuple[list[Panel], Gap]:
    """The same without special tokens, and without what is marked as a sink in any of the panels.

    Nothing is renormalised: numbers of rows (entropy, rank, divergence, overlap) stay those of whole rows.  A map of
    special tokens alone keeps them.
    """
    first, keep = panels[0].weights, {}
    for axis in AXES:
        special = np.any([panel.weights[f"{axis}_special"].values > 0 for panel in panels], axis=0)
        keep[axis] = np.flatnonzero(~special) if not special.all() else np.arange(first.sizes[axis])
    removed = {axis: np.setdiff1d(np.arange(first.sizes[axis]), keep[axis]) for axis in AXES}
    hidden = {HIDDEN: {axis: [len(removed[axis]), int(cell_counts(first, axis)[removed[axis]].sum())] for axis in AXES}}
    rows = keep["query"]

    def cut(array: xr.DataArray) -> xr.DataArray:
        places = {f"{axis}_at": (axis, keep[axis]) for axis in AXES}
        return array.isel(keep).assign_coords(places).assign_attrs({**array.attrs, **hidden})

    def square(values: np.ndarray) -> np.ndarray:
        return values[np.ix_(rows, keep["key"])]

    visible_panels = [
        replace(
            panel,
            map_values=cut(panel.map_values),
            weights=cut(panel.weights),
            entropy=panel.entropy[rows],
            rank=square(panel.rank),
        )
        for panel in panels
    ]
    overlap = None if gap.overlap is None else gap.overlap[rows]
    noise = None if gap.noise is None else square(gap.noise)
    return visible_panels, replace(
        gap, values=cut(gap.values), divergence=gap.divergence[rows], overlap=overlap, noise=noise
    )


def hidden(
    panels: Sequence[Panel],
    visible_panels: Sequence[Panel],
    texts: dict[str, str],
    above: float | None = None,
    across: str = "key",
) -> str:
    """A sentence: which of the panels' tokens are not shown, and how much of the weight of each panel they hold.

    above: how many times an even share a sink receives.  across: what the maps' second axis really is.
    """
    parts, first = [], panels[0].weights
    for axis in AXES:
        visible_positions = set(visible_panels[0].weights[f"{axis}_at"].values.tolist())
        names = labels(first, texts, axis)
        parts += [
            f"“{names[i]}” as {across if axis == 'key' else axis}"
            for i in range(len(names))
            if i not in visible_positions
        ]
    if not parts:
        none = f": no token receives more than {above:g} times an even share" if above else ""
        return f"Nothing is hidden{none}."
    shares = []
    for name, panel, visible in zip(panel_titles(panels), panels, visible_panels):
        rows = panel.weights.isel(query=visible.weights["query_at"].values)
        total = float(rows.sum())
        shares.append(f"{100 * (1 - float(visible.weights.sum()) / total) if total else 0:.3g} % in {name}")
    return f"Hidden: {', '.join(parts)}. Of the mass of the rows that are shown they hold {', '.join(shares)}. " + KEPT
