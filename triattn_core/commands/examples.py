"""One checkpoint and one example: `triattn explain` and `triattn verify`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.errors import DataError, InputError
from triattn_core.text.atomic_write import require_room
from triattn_core.trace.axes import TOKEN_AXES

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.inference.predictions import Prediction
    from triattn_core.trace import AttentionTrace
    from triattn_core.trace.token_grouping import TokenGrouping

REDUCED = ("mean", "sum", "max", "logsumexp")  # see `trace.reduce`
ROWS = (
    '{"text_a", "text_b"}, {"history", "candidates"}, {"passage", "question", "options"}, {"context", "question"}, '
    '{"text"} or, for laboratory tasks, {"query", "keys", "context"}'
)


JOINED = "joined: its softmax is the joined weight, it is no score of the model"
COUNTED = "(sites and positions count from 0, the pages from 1: layer.0, head 0 are their layer or block 1, head 1)"


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn explain`."""
    text = "a checkpoint, by name or folder; or the folder of a Hugging Face model, or FILE.py:FUNCTION"
    parser.add_argument("name", metavar="NAME", help=text)
    text = f"a JSON file with one row of the checkpoint's task: {ROWS}"
    parser.add_argument("input", type=Path, metavar="INPUT", help=text)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to save the trace (NetCDF)")
    text = "parts of a COIN model to ablate: blocks (layer.0 or 'block 1'), or the context term (context)"
    parser.add_argument("--ablate", nargs="+", action="extend", default=[], metavar="PART", help=text)
    text = "print one number of the trace instead of the list, such as layer.0/a_over_b/weight mean,3,5,0; AT has for "
    text += "each axis a position from 0 or a reduction: mean, sum, max or logsumexp (3.5 is read as 3,5)"
    parser.add_argument("--cell", nargs=2, action="append", default=[], metavar=("SITE", "AT"), help=text)
    text = "group the tokens of an axis by words, phrases, sentences or turns, such as query=words key=phrases"
    parser.add_argument("--group-by", nargs="+", default=[], metavar="AXIS=UNIT", help=text)
    text = "your own phrases for --group-by, separated by |"
    parser.add_argument("--phrases", default="", metavar="TEXT", help=text)
    text = "print the terms of a QA model's score of passage word P and question word Q, such as 13.6 or 13,6"
    parser.add_argument("--terms", metavar="P.Q", help=text)
    text = "print how a QA model's scores before the softmax spread; centred: each minus the mean of its row"
    parser.add_argument("--spread", choices=("relevance", "centred"), help=text)
    text = "trace this part of a long passage, or this one of the texts to choose from, counted from 1"
    parser.add_argument("--part", type=int, metavar="N", help=text)


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `triattn verify`."""
    parser.add_argument("name", metavar="NAME", help="a checkpoint, by name or folder")


def explain(options: argparse.Namespace) -> None:
    """Print the prediction; save the trace if requested."""
    from triattn_core.commands.evaluate_transformer import is_other

    if options.out:
        require_room(options.out, "save the trace")
    run = _explain_other if is_other(options.name) or _is_added(options.name) else _explain_own
    prediction, trace, terms, spread = run(options)
    if options.group_by:
        trace = _grouping(options.group_by, options.phrases, trace).trace(trace)
    cells = [cell(trace, *positions) for positions in options.cell]
    if options.out:
        trace.save(options.out)
    if options.json:
        fields = {**vars(prediction), "meta": dict(trace.meta), "sites": list(map(str, sorted(trace.sites)))}
        selection = {"cells": cells, "terms": terms, "spread": spread}
        print(json.dumps(fields | {name: found for name, found in selection.items() if found}, indent=1))
        return
    _print_prediction(prediction, trace)
    for cell_record in cells:
        note = f"  ({cell_record['note']})" if "note" in cell_record else ""
        print(f"{cell_record['value']:.6g}  {cell_record['site']}  {', '.join(cell_record['at'])}{note}")
    if terms:
        _print_terms(terms)
    for name, value in spread.items():
        print(f"{value:.6g}  {name}")
    for site in () if cells or terms or spread else sorted(trace.sites):
        array = trace.sites[site]
        print(f"{site}  {' x '.join(f'{axis} {size}' for axis, size in array.sizes.items())}")
    if not (terms or spread) and any(site.layer is not None for site in trace.sites):
        print(COUNTED, file=sys.stderr)  # the numbers on stdout are for scripts


Explained = tuple["Prediction", "AttentionTrace", dict[str, Any], dict[str, float]]


def _explain_own(options: argparse.Namespace) -> Explained:
    """Prediction and trace of a checkpoint of ours, and what --terms and --spread ask for."""
    from triattn_core.checkpoint.bundle import load
    from triattn_core.inference.explain import explain as explain_one
    from triattn_core.text.rows import read_json

    bundle = load(options.name, options.device)
    example = bundle.task.Example.from_row(read_json(options.input), str(options.input))
    example.check()
    warn_other_language(bundle, [example])
    option = None if options.part is None else options.part - 1
    if options.ablate:
        from triattn_core.analysis.intervention.coin_ablation import explain_ablated

        prediction, trace = explain_ablated(bundle, example, options.ablate, option)
    else:
        prediction, trace = explain_one(bundle, example, option=option)
    terms = _terms(options.terms, bundle, example, trace) if options.terms else {}
    spread = _spread(options.spread, bundle, trace) if options.spread else {}
    return prediction, trace, terms, spread


def _is_added(name: str) -> bool:
    """Whether it names what another source than a checkpoint of ours offers."""
    from triattn_core.sources import list_others

    return any(entry.name == name for entry in list_others())


def _explain_other(options: argparse.Namespace) -> Explained:
    """The same of a model of others.  Raises DataError for what only ours have."""
    from triattn_core.text.rows import read_json

    for name in ("ablate", "terms", "spread", "part"):
        if getattr(options, name):
            raise DataError(f"--{name} is of checkpoints of ours; {options.name} is a model of others")
    return *_explained_row(options, read_json(options.input)), {}, {}


def _explained_row(options: argparse.Namespace, row: dict[str, Any]) -> tuple[Prediction, AttentionTrace]:
    """Prediction and trace: of a folder or a Python file as it is given, else of what a source offers."""
    from triattn_core.commands.evaluate_transformer import is_other, load_other
    from triattn_core.importers.text_rows import row_texts
    from triattn_core.library import explain
    from triattn_core.recording.own_module import OwnModule
    from triattn_core.sources.own_text import OwnText

    if not is_other(options.name):
        return explain(options.name, row, device=options.device)
    model, texts = load_other(options.name, options.device), row_texts(row, str(options.input))
    if not isinstance(model, OwnModule):
        return explain(model, row)
    asked = OwnText.of(model, texts)
    trace = asked.trace()
    return asked.prediction(trace), trace


def _print_terms(terms: Mapping[str, Any]) -> None:
    """Print the numbers that the page Similarity shows of a cell."""
    for name, value in terms["terms"]:
        print(f"{value:+.6g}  {name}")
    print("{score:.6g}  score of {words}\n{centred:+.6g}  score minus its row's mean".format(**terms))
    flows = {"passage -> question": terms}
    if over := terms.get("over_passage"):
        flows["question -> passage" + ", one for all question words" * over["one_for_all"]] = over
    for flow, facts in flows.items():
        print(f"{facts['weight']:.6g}  weight, {flow}, rank {facts['rank']} of {facts['of']}")
        if facts["sentinel"]:
            print(f"{facts['sentinel']:.6g}  left to the sentinel")
    for term, dimension, value in terms["dimensions"]:
        print(f"{value:+.6g}  dimension {dimension + 1} of {terms['terms'][term][0]}, of {terms['width']}")


def _print_prediction(prediction: Prediction, trace: AttentionTrace) -> None:
    """Print labels with probabilities, the notes, and which option or window was traced."""
    candidates = getattr(prediction, "candidates", ())
    places = [f"  passage[{span.start}:{span.end}]" for span in getattr(prediction, "spans", ())]
    chances = [f"{probability:.4f}" for probability in prediction.probabilities]
    if candidates:  # the probability of a long one rounds to 0
        chances = [f"log p {one.log_probability:.2f}  score {one.score:.2f}" for one in candidates]
        places = ["" if one.ended else " …" for one in candidates]
    elif (whole := getattr(prediction, "log_probability", None)) is not None:
        chances = [f"log p {whole:.2f}"]
    shown = () if prediction.labels == ("",) and not candidates else prediction.labels  # of nothing predicted none
    for label, chance, place in zip_longest(shown, chances[: len(shown)], places, fillvalue=""):
        print(f"{chance}  {label}{place}")
    for note in prediction.notes:
        print(note)
    if "option" in trace.meta:
        parts, traced = getattr(prediction, "parts", 0), prediction.option
        print(f"traced: {f'part {traced + 1} of {parts}' if parts else prediction.labels[traced]}")


def _places(position: str) -> list[str]:
    """The parts of `3,5` or `3.5`; both options accept both forms."""
    return position.replace(".", ",").split(",")


def cell(trace: AttentionTrace, site: str, position: str) -> dict:
    """A number of a trace: its site, the tokens or numbers at its positions `3,5`, its value, and a note if it is a
    joined score.  An axis may be reduced instead: `mean,3,5`.

    Raises InputError if there is not one position per axis, TraceError if there is no such cell or a reduction does not
    fit.
    """
    from triattn_core.trace import Choice

    array, places = trace.site(site), _places(position)
    if len(places) != array.ndim or not all(place.isdecimal() or place in REDUCED for place in places):
        axes = " and ".join(map(str, array.dims))
        raise InputError(f"--cell {site} {position}: expected positions from 0, or {', '.join(REDUCED)}, for {axes}")
    axis_places = [(str(axis), place) for axis, place in zip(array.dims, places)]
    index = tuple((axis, int(place)) for axis, place in axis_places if place not in REDUCED)
    value = trace.pick(Choice(site, index, tuple(place for place in axis_places if place[1] in REDUCED)))
    names = [f"{place} of {axis}s" if place in REDUCED else f"{axis} {place}" for axis, place in axis_places]
    tokens = [
        f" {value[f'{axis}_token'].item()!r}" if f"{axis}_token" in value.coords else "" for axis, _ in axis_places
    ]
    is_joined = array.attrs["quantity"] == "relevance" and "folded" in array.attrs
    note = {"note": JOINED} if is_joined else {}
    return {"site": site, "at": [name + token for name, token in zip(names, tokens)], "value": float(value), **note}


def _grouping(settings: Sequence[str], phrases: str, trace: AttentionTrace) -> TokenGrouping:
    """Parse query=words key=phrases.  Raises InputError for an unknown unit, or an axis that is not in the trace."""
    from triattn_core.trace.text_units import UNITS
    from triattn_core.trace.token_grouping import TokenGrouping

    units: dict[str, Any] = {}
    for setting in settings:
        axis, _, unit = setting.partition("=")
        available = [name for name in TOKEN_AXES if any(name in site.dims for site in trace.sites.values())]
        if axis not in available or unit not in UNITS:
            expected = f"{', '.join(available)} to {', '.join(UNITS)}"
            raise InputError(f"--group-by {setting}: expected an axis and its unit, query=words; there are {expected}")
        units[axis] = unit
    return TokenGrouping.of([setting.strip() for setting in phrases.split("|") if setting.strip()], **units)


def _terms(cell_text: str, bundle: Bundle, example, trace: AttentionTrace) -> dict:
    """The exact numbers of a cell such as 13.6 (words from 0)."""
    from triattn_core.inference import span_decoding

    positions = [int(number) for number in _places(cell_text) if number.isdecimal()]
    if not bundle.kind.finds_spans or len(positions) != 2 or len(_places(cell_text)) != 2:
        raise DataError(f"--terms {cell_text}: expected two numbers such as 13.6, of a reader's passage and question")
    query, key = positions
    span_decoding.require_cell(trace, query, key)
    facts = span_decoding.cell_facts(
        trace, span_decoding.score_terms(bundle, example, query, key, int(trace.meta.get("option", 0))), query, key
    )
    weights = trace.site(span_decoding.ATTENTION.with_quantity("weight"))
    words = [weights[f"{axis}_token"].values[i] for axis, i in zip(("query", "key"), positions)]
    return {**facts, "words": " x ".join(map(str, words))}


def _spread(quantity: str, bundle: Bundle, trace: AttentionTrace) -> dict[str, float]:
    """The row of a reader in the table of the page Distributions."""
    from triattn_core.views.similarity.panels import FunctionPanel
    from triattn_core.views.similarity.spread import numbers

    if not bundle.kind.finds_spans:
        raise DataError(f"--spread {quantity}: {bundle.name} has no similarity function of a passage and a question")
    row = numbers([FunctionPanel(bundle.name, trace)], quantity).iloc[0].to_dict()
    names = {"even": "effective question words", "of": "question words", "cells": "scores"}
    names |= {"beyond": "left to the sentinel"}
    return {names.get(name, name): float(value) for name, value in row.items() if name != "function"}


def warn_other_language(bundle: Bundle, examples: Iterable) -> None:
    """Warn if the texts seem to be in another language than the checkpoint's."""
    from triattn_core.checkpoint.metadata import language_name
    from triattn_core.text.language import other_than

    language = bundle.config.language
    other = other_than(language, (text for example in examples for text in bundle.task.texts(example, 0).values()))
    if language and other:
        print(
            f"triattn: the texts look {language_name(other)}: {bundle.name} reads {language_name(language)}",
            file=sys.stderr,
        )


def verify(options: argparse.Namespace) -> int:
    """Print each check; returns 1 if one fails."""
    from triattn_core.checkpoint.verify import verify as verify_one

    checks = verify_one(options.name, options.device)
    if options.json:
        print(json.dumps([vars(check) for check in checks], indent=1))
    else:
        for check in checks:
            print(f"{'ok    ' if check.good else 'FAILED'}  {check.name}: {check.actual} (recorded: {check.expected})")
    return 0 if all(check.good for check in checks) else 1
