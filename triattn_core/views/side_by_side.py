"""Two to four maps on one scale, and the difference of any two: of query × key under several mechanisms, or of
query × context with several options of one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.axes import MECHANISM_LABELS, QUANTITIES
from triattn_core.errors import TraceError
from triattn_core.views.canvas import Canvas, script
from triattn_core.views.palette import LogScale, Scale, SignedScale, pack, scale_payload, theme_payload
from triattn_core.views.strongest import labels
from triattn_core.views.tokens import named, tokens

NEEDS = ("query", "key")
FEWEST, MOST = 2, 4
NOISE = 1e-6  # models compute in float32: what differs by less is drawn as no difference
NOTES = {
    "weight": {"bi": "two-way", "cbi": "context added", "tri": "three-way, Σ context", "coin": "own context added"},
    "relevance": {"bi": "two-way", "cbi": "context added", "tri": "three-way, joined", "coin": "own context added"},
}
SCRIPTS = ("side_by_side_maps.js", "side_by_side_table.js", "side_by_side.js")


@dataclass(frozen=True)
class Panel:
    """One checkpoint: its maps [query, key] as `analysis.compare` makes them, and what it says of the example.

    drawn: weights or centred relevances, what the map shows.  weights: always weights, for the numbers in the table.
    entropy [query] in bits; rank [query, key]; right: None without a gold label; score: "Quora test accuracy 85.1 %";
    note: what the map is, by default that of the mechanism.
    """

    name: str
    mechanism: str
    similarity: str
    drawn: xr.DataArray = field(repr=False)
    weights: xr.DataArray = field(repr=False)
    entropy: np.ndarray = field(repr=False)
    rank: np.ndarray = field(repr=False)
    label: str
    probability: float
    right: bool | None
    score: str = ""
    note: str | None = None


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


def titles(named: Sequence[tuple[str, str, str]]) -> list[str]:
    """Short names for (checkpoint, mechanism, similarity): the mechanism where that tells them apart, else with its
    similarity, else the checkpoint's name."""
    plain = [MECHANISM_LABELS.get(mechanism, mechanism) for _, mechanism, _ in named]
    longer = [f"{title} {similarity.replace('_', ' ')}".strip() for title, (_, _, similarity) in zip(plain, named)]
    for found in (plain, longer):
        if len(set(found)) == len(found):
            return found
    return [name for name, _, _ in named]


def _titles(panels: Sequence[Panel]) -> list[str]:
    return titles([(panel.name, panel.mechanism, panel.similarity) for panel in panels])


NOBODY = "; nobody says what the gold label does"


def verdict(panels: Sequence[Panel]) -> tuple[str, str, str]:
    """Who says what, as three parts of one sentence, the middle one to be emphasised."""
    said: dict[str, list[str]] = {}
    for title, panel in zip(_titles(panels), panels):
        said.setdefault(panel.label, []).append(title)
    gold = next((panel.label for panel in panels if panel.right), None)
    known = panels[0].right is not None
    if len(said) == 1:
        only = panels[0].label
        lead = "Both say" if len(panels) == 2 else f"All {('three', 'four')[len(panels) - 3]} say"
        return lead, only, (", as the gold label does" if gold else ", the gold label does not") if known else ""
    # The side that is worth a sentence: whoever stands alone, else whoever is right.
    alone = min(said, key=lambda one: (len(said[one]), one != gold))
    names = said[alone]
    lead = f"Only {names[0]} says" if len(names) == 1 and len(panels) > 2 else _joined(names)
    if not known:
        return lead, alone, ""
    return lead, alone, ", as the gold label does" if alone == gold else ", against the gold label" if gold else NOBODY


def _joined(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} say{'s' if len(names) == 1 else ''}"


def scale_of(panels: Sequence[Panel]) -> Scale:
    """One scale for all maps: for weights log, for relevances signed square root.

    Log starts at the smallest weight, though not below a seventh of uniform nor above a quarter of the largest: maps
    near uniform keep their contrast, and noise is not blown up to fill the ramp.
    """
    values = np.stack([panel.drawn.values for panel in panels])
    values = values[~np.isnan(values)]
    if panels[0].drawn.attrs["quantity"] == "weight":
        scale = LogScale.of(values, panels[0].drawn.sizes["key"])
        return replace(scale, low=float(np.clip(values.min(), scale.low, max(scale.high / 4, scale.low))))
    return SignedScale.of(np.where(np.isfinite(values), values, 0.0))


def figure(
    panels: Sequence[Panel],
    gap: Gap | None,
    texts: Mapping[str, str],
    cell: tuple[int, int],
    caption: str = "",
    across: str = "key",
    lines: Sequence[str] | None = None,
    what: str = "mechanism",
) -> Canvas:
    """The canvas of two to four panels with the same tokens.

    `cell` is the (query, key) that is chosen at first; `caption` stands under what is saved.  `across`: what the maps'
    second axis, named key, really is (see `folds.exchanged`).  `lines`: what is said of the scale.
    `what`: what tells the maps apart.  NaN is what an input does not have, drawn as a gap.
    Raises TraceError for another number of panels.
    """
    if not FEWEST <= len(panels) <= MOST:
        raise TraceError(f"{FEWEST} to {MOST} maps stand side by side, got {len(panels)}")
    first, scale, names = panels[0].drawn, scale_of(panels), _titles(panels)
    quantity, keys = first.attrs["quantity"], first.sizes["key"]
    axes = {axis: tokens(first, dict(texts), axis, np.arange(first.sizes[axis])) for axis in NEEDS}
    axes = {axis: _twins(panels, axis, one) for axis, one in axes.items()}
    payload = {
        "quantity": quantity,
        "says": QUANTITIES,
        "texts": dict(texts),
        "themes": theme_payload("log", "signed"),
        "axes": axes,
        "panels": [_panel(panel, title, scale, quantity) for panel, title in zip(panels, names)],
        "scale": scale_payload(scale),
        "across": across,
        "what": what,
        "names": named(texts),
        "lines": list(lines) if lines is not None else _lines(panels, quantity, keys),
        "caption": caption,
        "gap": _gap(gap, names, panels, quantity) if gap else None,
        "cell": list(cell),
        "alt": alt(panels, gap, dict(texts), across),
    }
    return Canvas(
        payload, script(*SCRIPTS), script("side_by_side.css"), "Side by side: " + ", ".join(names), payload["alt"]
    )


def _twins(panels: Sequence[Panel], axis: str, tokens: dict[str, list]) -> dict[str, list]:
    """Tokens of two inputs: what only one of them has is marked − or +, and `also` is the span of what both have in the
    second.  Those of one input as they are."""
    first = panels[0].drawn
    if f"{axis}_twin_start" not in first.coords:
        return tokens
    ends = zip(*(first[f"{axis}_twin_{what}"].values.tolist() for what in ("start", "end")))
    there = ~np.isnan(panels[0].weights.values).all(axis=1 - NEEDS.index(axis))
    also = [None if one[0] < 0 else list(one) for one in ends]
    signs = ["" if one else "−" if before else "+" for one, before in zip(also, there)]
    return tokens | {"also": also, "label": [sign + label for sign, label in zip(signs, tokens["label"])]}


def _panel(panel: Panel, title: str, scale: Scale, quantity: str) -> dict:
    said = {"label": panel.label, "probability": panel.probability, "right": panel.right, "score": panel.score}
    rows = {"weights": pack(panel.weights.values.astype(np.float32)), "ranks": pack(panel.rank.astype(np.uint8))}
    named = {
        "title": title,
        "name": panel.name,
        "mechanism": panel.mechanism,
        "note": NOTES[quantity].get(panel.mechanism, "") if panel.note is None else panel.note,
    }
    bits = _numbers(panel.entropy, 6)
    return {
        **named,
        **said,
        **rows,
        "entropy": bits,
        "share": f"{panel.probability:.3f}",
        **_values(panel.drawn, scale),
    }


def _numbers(values: np.ndarray, digits: int) -> list[float | None]:
    """Rounded; None for what is not there."""
    return [None if np.isnan(value) else round(float(value), digits) for value in values]


def _values(array: xr.DataArray, scale: Scale) -> dict:
    return {"levels": pack(scale.levels(array.values)), "values": pack(array.values.astype(np.float32))}


def _gap(gap: Gap, names: Sequence[str], panels: Sequence[Panel], quantity: str) -> dict:
    left, right = names[gap.left], names[gap.right]
    values = gap.values.where(~(np.abs(gap.values) <= NOISE), 0.0)
    known = np.where(np.isfinite(values.values), values.values, 0.0)
    scale = SignedScale.of(known, power=0.7, title=f"difference in {quantity}")
    more = {}
    if gap.overlap is not None:
        a, b = ((~np.isnan(panels[i].weights.values)).any(axis=0) for i in (gap.left, gap.right))
        chance = gap.top**2 * (a & b).sum() / max(1, a.sum() * b.sum())  # each of k keys stands in the other's k of b
        more = {"overlap": _numbers(gap.overlap, 0), "top": gap.top, "chance": round(float(chance), 4)}
    if gap.noise is not None:
        more["within"] = pack((np.abs(values.values) <= gap.noise).astype(np.uint8))
    return {
        **more,
        "title": f"{left} − {right}",
        "lines": [f"teal: {left} is higher", f"brown, −: {right} is higher", *filter(None, [gap.noisy])],
        "divergence_lines": ["Jensen–Shannon", "of weights, bits"],
        "divergence": _numbers(gap.divergence, 7),
        "scale": scale_payload(scale),
        **_values(values, scale),
    }


def _lines(panels: Sequence[Panel], quantity: str, keys: int) -> list[str]:
    tri = any(panel.mechanism == "tri" for panel in panels)
    if quantity == "weight":
        return [
            "One scale for all maps.",
            f"Line: uniform, 1/{keys}.",
            *(["Tri is summed over context."] if tri else []),
        ]
    centred = "Each row is centred: softmax does not see the shift."
    return ["One scale for all maps.", centred, *(["Tri is joined by log-sum-exp over context."] if tri else [])]


def alt(panels: Sequence[Panel], gap: Gap | None, texts: dict[str, str], across: str = "key") -> str:
    """What the figure shows in words: sizes, what each says, and where two differ most."""
    names, words = _titles(panels), labels(panels[0].drawn, texts, "query")
    said = "; ".join(f"{n} says {p.label} with probability {p.probability:.3f}" for n, p in zip(names, panels))
    sizes = panels[0].drawn.sizes
    size = f"{sizes['query']} query by {sizes['key']} {across} positions"
    more = ""
    if gap is not None and not np.isnan(gap.divergence).all():
        worst = int(np.nanargmax(gap.divergence))
        more = f" {names[gap.left]} and {names[gap.right]} differ most for query “{words[worst]}”, "
        more += f"by {gap.divergence[worst]:.3g} bits."
    return f"Maps of {size}, one for each of {', '.join(names)}. {said}.{more}"


def first_cell(panels: Sequence[Panel], gap: Gap | None) -> tuple[int, int]:
    """Where to look first: in the query whose rows diverge most, the key whose weight differs most.

    Punctuation is passed over where there are words.
    """
    if gap is None:
        moved = np.nan_to_num(panels[0].weights.values)
        spread = moved.max(axis=1)
    else:
        moved = np.nan_to_num(np.abs(panels[gap.left].weights.values - panels[gap.right].weights.values))
        spread = np.nan_to_num(gap.divergence)
    query = int(np.argmax(np.where(_wordlike(panels[0].weights, "query"), spread, -1.0)))
    return query, int(np.argmax(np.where(_wordlike(panels[0].weights, "key"), moved[query], -1.0)))


def _wordlike(array: xr.DataArray, axis: str) -> np.ndarray:
    words = np.array([any(letter.isalnum() for letter in str(token)) for token in array[f"{axis}_token"].values])
    words &= array[f"{axis}_special"].values == 0
    return words if words.any() else ~words


def table(panels: Sequence[Panel], gap: Gap | None, texts: Mapping[str, str], across: str = "key") -> pd.DataFrame:
    """Every cell as a row, for CSV: query, key (or what is `across`) and their positions, then for each panel its
    weight, rank and, where relevance is drawn, relevance; last the difference, how far apart seeds lie where there are
    any, and of the row's query the divergence in bits and how many of its strongest keys are the same."""
    first, names = panels[0].drawn, _titles(panels)
    at = np.indices(first.shape).reshape(2, -1)
    columns: dict = {}
    for axis, where in zip(NEEDS, at):
        name = across if axis == "key" else axis
        columns |= {name: np.array(labels(first, dict(texts), axis), object)[where], f"{name}_at": where}
    for name, panel in zip(names, panels):
        columns |= {f"{name} weight": panel.weights.values.ravel(), f"{name} rank": panel.rank.ravel()}
        if first.attrs["quantity"] == "relevance":
            columns[f"{name} relevance"] = panel.drawn.values.ravel()
    if gap is not None:
        columns[f"{names[gap.left]} − {names[gap.right]}"] = gap.values.values.ravel()
        if gap.noise is not None:
            columns["between seeds"] = gap.noise.ravel()
        columns["divergence, bits"] = gap.divergence[at[0]]
        if gap.overlap is not None:
            columns[f"same of top {gap.top}"] = gap.overlap[at[0]]
    return pd.DataFrame(columns)
