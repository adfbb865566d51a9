"""The description of a figure as it is sent, in fewer bytes; `renderer/shared.js` makes the description again.

Arrays of one name have one kind: it stands once in `kinds`, and panels have their data.  A panel that is `like` an
earlier one says only what differs.  A list of an axis that has one value is that value; one that is equal to another
list, or counts from 0, is left out.  An array that is the difference of two others is left to the script, where that
gives every bit of it.  A sentence about the chosen panel without cases is its text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

SAME = {"name": "label", "where": "place"}  # lists of an axis that are left out where they are equal to another
LISTS = ("joined", "place", "where", "text", "start", "end", "special", "cells")
WORTH = 12  # characters that the mark of a panel like another takes


def share(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a figure in the form in which it is sent."""
    panels = payload["panels"]
    kinds: dict[str, list] = {}
    for name, array in ((name, array) for panel in panels for name, array in panel.get("arrays", {}).items()):
        kinds.setdefault(name, [array["over"], array["type"]])
    sent = [_panel(panel, kinds) for panel in panels]
    return dict(payload) | {
        "axes": {name: _axis(axis) for name, axis in payload["axes"].items()},
        "kinds": kinds,
        "panels": [_like(panel, sent[:i]) for i, panel in enumerate(sent)],
        "readout": _readout(payload["readout"]),
    }


def _axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    count, sent = len(axis["label"]), dict(axis)
    for name, other in SAME.items():
        if sent[name] == axis[other]:
            del sent[name]
    if sent["position"] == list(range(count)):
        del sent["position"]
    alike = [name for name in LISTS if name in sent and count and len(set(sent[name])) == 1]
    return sent | {name: sent[name][0] for name in alike}


def _panel(panel: Mapping[str, Any], kinds: Mapping[str, list]) -> dict[str, Any]:
    if "arrays" not in panel:
        return _shorten_sentences(panel)
    arrays = panel["arrays"]
    return _shorten_sentences(panel) | {"arrays": {name: _array(arrays, name, kinds[name]) for name in arrays}}


def _array(arrays: Mapping[str, Mapping], name: str, kind: Sequence) -> Any:
    array = dict(arrays[name])
    data, minus = array["data"], array.pop("minus", None)
    noise = array.pop("noise", 0)
    if minus:
        first, second = (np.frombuffer(base64.b64decode(arrays[one]["data"]), "<f4") for one in minus)
        if difference(first, second, noise).tobytes() == base64.b64decode(data):
            return [*minus, noise]
    return data if [array["over"], array["type"]] == kind else array


def difference(first: np.ndarray, second: np.ndarray, noise: float) -> np.ndarray:
    """float32; what is no larger than `noise` is zero."""
    gap = first - second
    return np.where(np.abs(gap) > np.float32(noise), gap, np.float32(0))


def _like(panel: Mapping[str, Any], earlier: Sequence[Mapping]) -> dict[str, Any]:
    """What an earlier panel does not say too; that one has nothing that this one lacks but its arrays."""
    best, saved = dict(panel), WORTH
    for i, other in enumerate(earlier):
        alike = [name for name in panel if name != "arrays" and name in other and panel[name] == other[name]]
        size = sum(len(json.dumps({name: panel[name]})) for name in alike)
        if size > saved and set(other) - {"arrays"} <= set(panel):
            best, saved = {"like": i} | {k: v for k, v in panel.items() if k not in alike}, size
    return best


def _shorten_sentences(part: Mapping[str, Any]) -> dict[str, Any]:
    """Its sentences in the short form."""
    return dict(part) | {name: list(map(_sentence, part[name])) for name in ("sentences", "tip") if name in part}


def _sentence(part: Mapping[str, Any]) -> Any:
    plain = part["panel"] == -1 and len(part["cases"]) == 1 and set(part["cases"][0]) == {"text"}
    return part["cases"][0]["text"] if plain else part


def _readout(readout: Mapping[str, Any]) -> dict[str, Any]:
    numbers = [[number and _number(number) for number in row] for row in readout["numbers"]]
    return _shorten_sentences(readout) | {"numbers": numbers}


def _number(number: Mapping[str, Any]) -> Any:
    short = {name: value for name, value in number.items() if (name, value) != ("format", "number")}
    return short["array"] if set(short) == {"array"} else short
