"""What attention maps say of the chosen pair: its numbers in every map, and source2token of the chosen head."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.trace.axes import QUANTITIES
from triattn_core.views.lib.panel import Panel
from triattn_core.views.lib.readout import CHOSEN, Case, Number, Readout, Row, Sentence

TIMES_VALUE = "What the value of the key is multiplied by: signed"
PAIR = "“{query:plain}” to “{key:plain}”"
AS_DRAWN = "What the map shows: the score as its softmax takes it, minus its mean over keys"


def readout(panels: Sequence[Panel], quantity: str) -> Readout:
    """quantity: what the maps show."""
    if quantity == "contribution":
        return _signed_readout(panels)
    arrays = panels[0].arrays
    scored, drawn = "scores" in arrays, "values" if "values" in arrays else "weights"
    columns = [
        ("weight", QUANTITIES["weight"]),
        *([] if quantity == "weight" else [("as drawn", AS_DRAWN)]),
        *([("score", QUANTITIES["relevance"])] if scored else []),
        ("rank", "Largest weight first, among what may be attended to"),
        ("against even", "The weight over an even share of what the mask leaves"),
    ]
    pair = [
        Number("weights", masked="masked"),
        *([] if quantity == "weight" else [Number("values", masked="")]),
        *([Number("scores", masked="")] if scored else []),
        Number("ranks", "rank", of="open", masked=""),
        Number("weights", "times", over="even", masked=""),
    ]
    sources = [("{head}: source2token, mean", "mean")] if "mean" in arrays else []
    sources += [("{head}: source2token, feature {order:rank}", "source")] if "source" in arrays else []
    rows = [Row("{title}", index, pair) for index in range(len(panels))]
    rows += [Row(name, CHOSEN, _source_numbers(kind, panels[0], quantity, scored)) for name, kind in sources]
    return Readout(PAIR, columns, rows, _sentences(panels[0], quantity), _tip(panels[0], drawn))


def _signed_readout(panels: Sequence[Panel]) -> Readout:
    """Of signed maps, whose numbers are no shares of anything."""
    columns = [("signed", TIMES_VALUE), ("rank", "Largest first, whatever its sign, among what may be attended to")]
    pair = [Number("weights", masked="masked"), Number("ranks", "rank", of="open", masked="")]
    said = Case("In {title}, “{query}” takes {weights} times the value of “{key}”.")
    hidden = Case("“{query}” may not attend to “{key}” in {title}.", "masked")
    rows = [Row("{title}", index, pair) for index in range(len(panels))]
    return Readout(PAIR, columns, rows, [Sentence([hidden, said])], _tip(panels[0], "weights"))


def _source_numbers(kind: str, panel: Panel, quantity: str, scored: bool) -> list[Number | None]:
    """The columns of what a dependent has by itself.  kind: `mean` or `source`, one feature."""
    weights = f"{kind}_weights" if f"{kind}_weights" in panel.arrays else kind
    scores = Number(f"{kind}_scores") if f"{kind}_scores" in panel.arrays else None
    return [
        Number(weights),
        *([] if quantity == "weight" else [Number(kind)]),
        *([scores] if scored else []),
        Number(f"{kind}_ranks", "rank", of="keys"),
        Number(weights, "times", over="source_even"),
    ]


def _sentences(panel: Panel, quantity: str) -> list[Sentence]:
    own = "token2token " if {"scores", "mean"} <= set(panel.arrays) else ""
    said = [
        Case("“{query}” is left nothing to attend to in {title}: its row is zeros.", "open", 0),
        Case("“{query}” may not attend to “{key}” in {title}.", "masked"),
        Case(f"In {{title}}, “{{query}}” gives {{weights:percent}} of its {own}weight to “{{key}}”."),
    ]
    if "mean" not in panel.arrays or quantity != "weight":
        return [Sentence(said)]
    alone = " By itself, “{key:plain}” holds {mean:percent} of source2token on average"
    alone += ", and {source:percent} in feature {order:rank}." if "source" in panel.arrays else "."
    return [Sentence(said), Sentence([Case(alone)])]


def _tip(panel: Panel, drawn: str) -> list[Sentence]:
    source = "source2token of “{key:plain}”, feature {order:rank}: {source}"
    return [
        Sentence([Case("“{query}” to “{key}”")]),
        Sentence([Case("{title} masked", "masked"), Case(f"{{title}} {{{drawn}}}")]),
        *([Sentence([Case(source)])] if "source" in panel.arrays else []),
    ]
