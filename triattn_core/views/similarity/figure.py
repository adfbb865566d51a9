"""Similarity: what functions of the QA study make of one passage and question (the T-trilinear paper, Figure 8).

Question words stand across, passage words down: a few rows around the chosen one can be read, the rest are thin.
Beside the maps each word's probability to start and to end the answer.  What is sent are levels of 256; the exact
numbers of a chosen cell follow as `facts`, and an offline file has them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.errors import InputError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import AXES, FUNCTION_LABELS, MECHANISM_LABELS, QUANTITIES
from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale, centred, pack, scale_payload, theme_payload
from triattn_core.views.lib.strongest import words
from triattn_core.views.lib.tokens import named, tokens

MOST = 4  # functions side by side
SCRIPT = "similarity/similarity.js"
STYLE = ("lib/map_figure.css", "lib/linked_maps.css", "similarity/similarity.css")
SAME = 1e-6  # between weights: less is rounding
SYSTEMS = {name: MECHANISM_LABELS[name] for name in ("bidaf", "dcn", "qanet")}
SCALES = {
    "relevance": "relevance, before softmax",
    "centred": "relevance, centred per row",
    "weight": "weight, log scale",
}


@dataclass(frozen=True)
class FunctionPanel:
    """One function: its sites in a trace of a window of the passage, and what its reader answers.

    spans: (first character, the one after the last, probability), the best first.  right: exact match with a known
    answer, None where none is known.  elsewhere: the window (from 1) that the best answer is in, where it is not drawn.
    """

    title: str
    trace: AttentionTrace = field(repr=False)
    spans: tuple[tuple[int, int, float], ...] = ()
    right: bool | None = None
    elsewhere: int | None = None

    def site(self, name: str) -> xr.DataArray:
        """A site, its passage words first."""
        array = self.trace.site(name)
        return array.transpose("query", "key") if "key" in array.dims else array

    def values_of(self, quantity: str) -> xr.DataArray:
        """[query, key] of a quantity of `SCALES`."""
        if quantity == "weight":
            return self.site("attention/weight")
        scores = self.site("attention/relevance")
        return centred(scores) if quantity == "centred" else scores


def title(mechanism: str, similarity: str) -> str:
    """A reader's function, after its system where that is not the baseline."""
    function = FUNCTION_LABELS.get(similarity, similarity.replace("_", " "))
    return f"{SYSTEMS[mechanism]} {function}" if mechanism in SYSTEMS else function


def titles(settings: Mapping[str, Mapping]) -> dict[str, str]:
    """Titles of readers by name from their `model` settings: the function, the system where it is not the baseline,
    O_1 or O_2 where both are there; the name itself where that is not enough."""
    several = len({setting.get("output") for setting in settings.values()}) > 1
    texts = {}
    for name, setting in settings.items():
        function = title(str(setting.get("mechanism", "")), str(setting.get("similarity", "")))
        texts[name] = function + (f", {setting.get('output')}" if several else "")
    counts = Counter(texts.values())
    return {name: text if counts[text] == 1 else f"{text} ({name})" for name, text in texts.items()}


def scales(panels: Sequence[FunctionPanel], quantity: str, shared: bool) -> list[Scale]:
    """The scale of each panel: one for all, or each its own."""
    arrays = [panel.values_of(quantity).values for panel in panels]

    def fit(values: np.ndarray) -> Scale:
        if quantity == "weight":
            return LogScale.fit(values, panels[0].site("attention/weight").sizes["key"])
        return SignedScale.of(values, title="")

    if shared:
        return [fit(np.concatenate([array.ravel() for array in arrays]))] * len(panels)
    return [fit(array) for array in arrays]


def figure(
    panels: Sequence[FunctionPanel],
    quantity: str = "relevance",
    shared: bool = False,
    cell: Sequence[int] | None = None,
    caption: str = "",
    facts: Sequence[Mapping] | None = None,
    exact: bool = False,
    counted: str = "",
) -> Canvas:
    """The canvas.  cell: (passage word, question word, panel) that is chosen at first; counted: of the passage's words.

    facts: of each panel what `span_decoding.cell_facts` says of that cell.  exact: send all numbers, for a file that
    stands alone.  Raises InputError where the panels are not of the same words.
    """
    first = panels[0].values_of(quantity)
    if any(panel.values_of(quantity).shape != first.shape for panel in panels):
        raise InputError("These readers cut the passage in different places: choose those with the same max_tokens.")
    texts = dict(panels[0].trace.texts)
    payload: dict[str, Any] = {
        "quantity": quantity,
        "says": QUANTITIES | AXES,
        "texts": texts,
        "names": named(texts),
        "themes": theme_payload("log", "signed"),
        "title": SCALES[quantity] + (", one scale" if shared and len(panels) > 1 else ""),
        "axes": {axis: tokens(first, texts, axis, np.arange(first.sizes[axis])) for axis in ("query", "key")},
        "panels": [_panel(*pair, quantity, exact) for pair in zip(panels, scales(panels, quantity, shared))],
        "caption": caption,
        "counted": counted,
        "cell": list(cell or first_cell(panels)),
        "facts": list(facts or ()),
        "notes": _notes(panels, quantity),
        "alt": alt(panels),
    }
    question = shorten(texts["question"], 90, placeholder=" …")
    return Canvas(payload, script(SCRIPT), style(*STYLE), question, payload["alt"], kind="similarity")


def counted(trace: AttentionTrace, part: int = 0, parts: int = 1) -> str:
    """What of a passage is drawn: part `part`, from 0.  trace: as it is, with a row a word."""
    if parts == 1:
        rows = trace.site("attention/weight").sizes["query"]
        return f"{rows} word{'s' * (rows != 1)} and marks"
    over = f"probabilities of answers are over all {parts} parts, the curves of start and end over this one"
    return f"part {part + 1} of {parts} drawn: {over}"


def _notes(panels: Sequence[FunctionPanel], quantity: str) -> str:
    """What was folded; of all panels that say it otherwise."""
    what = "weight" if quantity == "weight" else "relevance"
    sentences = dict.fromkeys(describe_aggregation(panel.site(f"attention/{what}")) for panel in panels)
    return " ".join(filter(None, [*sentences, ENDS * any(sentences)]))


ENDS = "The answer's start and end are added up over the passage; the answer itself is the reader's, word by word."


def _panel(panel: FunctionPanel, scale: Scale, quantity: str, exact: bool) -> dict:
    payload: dict[str, Any] = {
        "title": panel.title,
        "spans": [list(span) for span in panel.spans],
        "right": panel.right,
    }
    payload |= {"elsewhere": panel.elsewhere, "levels": pack(scale.levels(panel.values_of(quantity).values))}
    payload["scale"] = {**scale_payload(scale), "title": ""}
    for end in ("start", "end"):
        payload[end] = pack(panel.site(f"{end}/weight").values.astype(np.float32))
    if exact:
        payload |= {name: pack(panel.values_of(name).values.astype(np.float32)) for name in ("relevance", "weight")}
    return payload


def answer_words(panel: FunctionPanel) -> list[int]:
    """The passage words of the best answer; none where it is in another window."""
    start, end = panel.spans[0][:2] if panel.spans else (0, 0)
    array = panel.site("start/weight")
    spans = zip(array["query_start"].values.tolist(), array["query_end"].values.tolist())
    return [i for i, (a, b) in enumerate(spans) if a < end and b > start]


def first_cell(panels: Sequence[FunctionPanel]) -> tuple[int, int, int]:
    """Where to look first: of the last panel, at the first word of its answer, the question word it weighs most."""
    last = len(panels) - 1
    row = (answer_words(panels[last]) or [int(panels[last].site("start/weight").values.argmax())])[0]
    return row, int(panels[last].site("attention/weight").values[row].argmax()), last


def alt(panels: Sequence[FunctionPanel]) -> str:
    """What the figure shows in words: sizes, and the answer that comes of each function."""
    weights, passage = panels[0].site("attention/weight"), panels[0].trace.texts["passage"]
    answers = "; ".join(f"{panel.title} answers {_answer(panel, passage)}" for panel in panels)
    sizes = [_size(weights, axis, name) for axis, name in PARTS.items()]
    return " ".join([f"Maps of {' by '.join(sizes)}: {answers}.", *filter(None, map(_describe_constant_rows, panels))])


PARTS = {"query": "passage", "key": "question"}


def _size(weights: xr.DataArray, axis: str, part: str) -> str:
    size = weights.sizes[axis]
    if f"{axis}_cells" in weights.coords:
        return f"{size} group{'s' * (size != 1)} of {part} words"
    return f"{size} {part} word{'s' * (size != 1)}"


def _describe_constant_rows(panel: FunctionPanel) -> str:
    """Whether the passage word matters for what is attended to, where it does not."""
    weights = panel.site("attention/weight").values
    if min(weights.shape) > 1 and np.ptp(weights, axis=0).max() < SAME:
        return f"{panel.title} gives every passage word the same weights: what it attends to is the question's alone."
    return ""


def _answer(panel: FunctionPanel, passage: str) -> str:
    if not panel.spans:
        return "nothing"
    start, end, probability = panel.spans[0]
    return f"“{shorten(passage[start:end], 60, placeholder=' …')}” with probability {chance(probability)}"


def chance(probability: float) -> str:
    """In three digits, as the figure writes it: what is not quite none or all does not look so."""
    if 0 < probability < 0.0005:
        return "< 0.001"
    return "> 0.999" if 0.9995 <= probability < 1 else f"{probability:.3f}"


def table(panels: Sequence[FunctionPanel]) -> pd.DataFrame:
    """Every cell of every function as a row, for CSV: words and positions, relevance and weight, start and end."""
    parts = []
    for panel in panels:
        weights, texts = panel.site("attention/weight"), dict(panel.trace.texts)
        at = np.indices(weights.shape).reshape(2, -1)
        columns: dict = {"function": panel.title, "checkpoint": str(panel.trace.meta.get("checkpoint", ""))}
        for axis, name, where in zip(("query", "key"), ("passage", "question"), at):
            columns |= {name: np.array(words(weights, texts, axis), object)[where], f"{name}_at": where}
            if f"{axis}_cells" in weights.coords:
                columns[f"{name}_words"] = weights[f"{axis}_cells"].values[where]
        columns |= {"relevance": panel.site("attention/relevance").values.ravel(), "weight": weights.values.ravel()}
        columns |= {end: panel.site(f"{end}/weight").values[at[0]] for end in ("start", "end")}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def joined(panels: Sequence[FunctionPanel]) -> AttentionTrace:
    """The traces of all panels as one: sites begin with the function's name."""
    sites = {f"{panel.title}/{name}": array for panel in panels for name, array in panel.trace.sites.items()}
    names = ", ".join(str(panel.trace.meta.get("checkpoint", "")) for panel in panels)
    return AttentionTrace(sites, panels[0].trace.texts, {"checkpoints": names})
