"""Two to four maps on one scale, and the difference of any two: of query × key under several mechanisms, or of
query × context with several options of one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.axes import QUANTITIES
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import DIFFERENCE, LogScale, Scale, SignedScale, pack, scale_payload, theme_payload
from triattn_core.views.lib.strongest import labels
from triattn_core.views.lib.tokens import named, tokens
from triattn_core.views.side_by_side.panels import HIDDEN, Gap, Panel, forms, minus
from triattn_core.views.side_by_side.panels import named as called

NEEDS = ("query", "key")
FEWEST, MOST = 2, 4
ROLES = {axis: axis for axis in NEEDS}
NOTHING = {axis: [0, 0] for axis in NEEDS}  # is hidden
NOISE = 1e-6  # models compute in float32: what differs by less is drawn as no difference
NOTES = {
    "weight": {
        "bi": "two-way",
        "bi_joint": "its keys alone",
        "cbi": "context added",
        "tri": "three-way, Σ context",
        "coin": "own context added",
    },
    "relevance": {
        "bi": "two-way",
        "bi_joint": "its keys alone",
        "cbi": "context added",
        "tri": "three-way, joined",
        "coin": "own context added",
    },
}
SCRIPT = "side_by_side/side_by_side.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css")


def scale_of(panels: Sequence[Panel]) -> Scale:
    """One scale for all maps: for weights `LogScale.fit`, as everywhere, for relevances signed square root."""
    values = np.stack([panel.drawn.values for panel in panels])
    values = values[~np.isnan(values)]
    if panels[0].drawn.attrs["quantity"] == "weight":
        return LogScale.fit(values, _keys(panels[0].weights))
    return SignedScale.of(np.where(np.isfinite(values), values, 0.0))


def _keys(weights: xr.DataArray) -> int:
    """How many keys a row has, with those that are hidden."""
    return weights.sizes["key"] + weights.attrs.get(HIDDEN, NOTHING)["key"][0]


def figure(
    panels: Sequence[Panel],
    gap: Gap | None,
    texts: Mapping[str, str],
    cell: tuple[int, int],
    caption: str = "",
    across: str = "key",
    lines: Sequence[str] | None = None,
    what: str = "mechanism",
    notes: str = "",
    roles: Mapping[str, str] | None = None,
) -> Canvas:
    """The canvas of two to four panels with the same tokens.

    `cell` is the (query, key) that is chosen at first; `caption` stands under what is saved.  `across`: what the maps'
    second axis, named key, really is (see `text_units.exchange_key_context`).  `lines`: what is said of the scale.
    `what`: what tells the maps apart.  `notes`: what was folded, and what is hidden.  `roles`: the labels of both axes,
    where these have labels of their own.  NaN is what an input does not have, drawn as a gap.
    Raises TraceError for another number of panels.
    """
    if not FEWEST <= len(panels) <= MOST:
        raise TraceError(f"{FEWEST} to {MOST} maps stand side by side, got {len(panels)}")
    first, scale, names = panels[0].drawn, scale_of(panels), called(panels)
    roles = roles or {"query": "query", "key": across}
    quantity, weights = first.attrs["quantity"], panels[0].weights
    axes = {axis: tokens(first, dict(texts), axis, np.arange(first.sizes[axis])) for axis in NEEDS}
    axes = {axis: _twins(panels, axis, values) for axis, values in axes.items()}
    payload = {
        "quantity": quantity,
        "says": QUANTITIES,
        "texts": dict(texts),
        "themes": theme_payload("log", "signed"),
        "axes": axes,
        "panels": [_panel(panel, title, scale, quantity) for panel, title in zip(panels, names)],
        "scale": scale_payload(scale),
        "across": across,
        "roles": dict(roles),
        "what": what,
        "names": named(texts),
        "lines": list(lines) if lines is not None else _lines(panels, quantity),
        "caption": caption,
        "gap": _gap(gap, names, panels, quantity) if gap else None,
        "cell": list(cell),
        "hidden": weights.attrs.get(HIDDEN, NOTHING)["key"],
        "notes": notes,
        "alt": alt(panels, gap, dict(texts), roles),
    }
    title = "Side by side: " + ", ".join(names)
    return Canvas(payload, script(SCRIPT), style(*STYLE), title, payload["alt"], kind="side_by_side")


def _twins(panels: Sequence[Panel], axis: str, tokens: dict[str, list]) -> dict[str, list]:
    """Tokens of two inputs: what only one of them has is marked − or +, and `also` is the span of what both have in the
    second.  Those of one input as they are."""
    first = panels[0].drawn
    if f"{axis}_twin_start" not in first.coords:
        return tokens
    ends = zip(*(first[f"{axis}_twin_{what}"].values.tolist() for what in ("start", "end")))
    there = ~np.isnan(panels[0].weights.values).all(axis=1 - NEEDS.index(axis))
    also = [None if end[0] < 0 else list(end) for end in ends]
    signs = ["" if shared else "−" if before else "+" for shared, before in zip(also, there)]
    return tokens | {"also": also, "label": [sign + label for sign, label in zip(signs, tokens["label"])]}


def _panel(panel: Panel, title: str, scale: Scale, quantity: str) -> dict:
    payload = {"label": panel.label, "probability": panel.probability, "right": panel.right, "score": panel.score}
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
        **payload,
        **rows,
        "entropy": bits,
        "share": f"{panel.probability:.3f}" if panel.label else "",
        **_values(panel.drawn, scale),
    }


def _numbers(values: np.ndarray, digits: int) -> list[float | None]:
    """Rounded; None for what is not there."""
    return [None if np.isnan(value) else round(float(value), digits) for value in values]


def _values(array: xr.DataArray, scale: Scale) -> dict:
    return {"levels": pack(scale.levels(array.values)), "values": pack(array.values.astype(np.float32))}


def _gap(gap: Gap, names: Sequence[str], panels: Sequence[Panel], quantity: str) -> dict:
    left, right = names[gap.left], names[gap.right]
    short = forms(left, right)
    values = gap.values.where(~(np.abs(gap.values) <= NOISE), 0.0)
    known = np.where(np.isfinite(values.values), values.values, 0.0)
    scale = SignedScale.of(known, power=DIFFERENCE, title=f"difference in {quantity}")
    more = {}
    if gap.overlap is not None:
        a, b = ((~np.isnan(panels[i].weights.values)).any(axis=0) for i in (gap.left, gap.right))
        gone = _keys(panels[0].weights) - len(a)  # keys that are hidden are among the strongest too
        a, b, both = a.sum() + gone, b.sum() + gone, (a & b).sum() + gone
        chance = gap.top**2 * both / max(1, a * b)  # each of k keys stands in the other's k of b
        more = {"overlap": _numbers(gap.overlap, 0), "top": gap.top, "chance": round(float(chance), 4)}
    if gap.noise is not None:
        more["within"] = pack((np.abs(values.values) <= gap.noise).astype(np.uint8))
    return {
        **more,
        "title": minus(left, right),
        "lines": [f"teal: {short[0]} is higher", f"brown, −: {short[1]} is higher", *filter(None, [gap.noisy])],
        "divergence_lines": ["Jensen–Shannon", "of weights, bits"],
        "divergence": _numbers(gap.divergence, 7),
        "scale": scale_payload(scale),
        **_values(values, scale),
    }


def _lines(panels: Sequence[Panel], quantity: str) -> list[str]:
    keys, even = _keys(panels[0].weights), "an even share" if "folded" in panels[0].weights.attrs else "uniform"
    tri = any(panel.mechanism == "tri" for panel in panels)
    if quantity == "weight":
        return [
            f"One scale for all maps: {LogScale.ends}.",
            f"Line: {even}, 1/{keys}.",
            *(["Tri is summed over context."] if tri else []),
        ]
    centred = "Each row is centred: softmax does not see the shift."
    return ["One scale for all maps.", centred, *(["Tri is joined by log-sum-exp over context."] if tri else [])]


def alt(panels: Sequence[Panel], gap: Gap | None, texts: dict[str, str], roles: Mapping[str, str] = ROLES) -> str:
    """What the figure shows in words: sizes, what each says, and where two differ most."""
    names, words = called(panels), labels(panels[0].drawn, texts, "query")
    each = dict.fromkeys(  # two heads of one model say one thing
        f"{p.model or n} says {p.label} with probability {p.probability:.3f}" for n, p in zip(names, panels) if p.label
    )
    sizes = panels[0].drawn.sizes
    size = f"{sizes['query']} {roles['query']} by {sizes['key']} {roles['key']} positions"
    more = ""
    if gap is not None and _keys(panels[0].weights) == 1:
        more = f" As this is read there is one {roles['key']}: every weight is 1, nothing to compare."
    elif gap is not None and not np.isnan(gap.divergence).all():
        worst = int(np.nanargmax(gap.divergence))
        more = f" {names[gap.left]} and {names[gap.right]} differ most for {roles['query']} “{words[worst]}”, "
        more += f"by {gap.divergence[worst]:.3g} bits."
    answers = f" {'; '.join(each)}." if each else ""
    return f"Maps of {size}, one for each of {', '.join(names)}.{answers}{more}"


def table(panels: Sequence[Panel], gap: Gap | None, texts: Mapping[str, str], across: str = "key") -> pd.DataFrame:
    """Every cell as a row, for CSV: query, key (or what is `across`) and their positions, then for each panel its
    weight, rank and, where relevance is drawn, relevance; last the difference, how far apart seeds lie where there are
    any, and of the row's query the divergence in bits and how many of its strongest keys are the same."""
    first, names = panels[0].drawn, called(panels)
    at = np.indices(first.shape).reshape(2, -1)
    columns: dict = {}
    for axis, where in zip(NEEDS, at):
        name = across if axis == "key" else axis
        places = first[f"{axis}_at"].values if f"{axis}_at" in first.coords else np.arange(first.sizes[axis])
        columns |= {name: np.array(labels(first, dict(texts), axis), object)[where], f"{name}_at": places[where]}
        if f"{axis}_cells" in first.coords:
            columns[f"{name}_tokens"] = first[f"{axis}_tokens"].values[where]
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
