"""What a page sent to its figures: each description whole again, as `renderer/shared.js` makes it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from triattn_core.views.lib.sharing import LISTS, difference


def sent_messages(app: AppTest) -> list[dict[str, Any]]:
    """The messages to all components of a page that got one, with whole payloads."""
    return [message(one.proto.json) for one in app.get("bidi_component") if one.proto.json]


def message(text: str) -> dict[str, Any]:
    """One of them, of its JSON."""
    content = json.loads(text)
    return content | ({"payload": restored(content["payload"])} if "payload" in content else {})


def restored(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a figure out of what `share` made of it; any other payload as it is."""
    if "kinds" not in sent:
        return dict(sent)
    payload = {name: value for name, value in sent.items() if name != "kinds"}
    panels: list[dict] = []
    for panel in sent["panels"]:
        like = {k: v for k, v in panels[panel["like"]].items() if k != "arrays"} if "like" in panel else {}
        panels.append(like | {k: v for k, v in _panel(panel, sent["kinds"]).items() if k != "like"})
    axes = {name: _axis(axis) for name, axis in sent["axes"].items()}
    numbers = [[number and _number(number) for number in row] for row in sent["readout"]["numbers"]]
    return payload | {"axes": axes, "panels": panels, "readout": _told(sent["readout"]) | {"numbers": numbers}}


def _axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    count = len(axis["label"])
    lists = {
        name: axis[name] if isinstance(axis[name], list) else [axis[name]] * count for name in LISTS if name in axis
    }
    whole = {"name": axis["label"], "position": list(range(count))} | dict(axis) | lists
    return whole | {"where": whole.get("where", whole["place"])}


def _panel(panel: Mapping[str, Any], kinds: Mapping[str, list]) -> dict[str, Any]:
    arrays: dict[str, dict] = {}
    for name, array in panel.get("arrays", {}).items():
        kind = dict(zip(("over", "type"), kinds[name]))
        arrays[name] = array if isinstance(array, dict) else kind | ({"data": array} if isinstance(array, str) else {})
    for name, array in panel.get("arrays", {}).items():
        if isinstance(array, list):
            first, second = (np.frombuffer(base64.b64decode(arrays[one]["data"]), "<f4") for one in array[:2])
            arrays[name]["data"] = base64.b64encode(difference(first, second, array[2]).tobytes()).decode()
            arrays[name] |= {"minus": array[:2], "noise": array[2]}
    return _told(panel) | ({"arrays": arrays} if arrays else {})


def _told(part: Mapping[str, Any]) -> dict[str, Any]:
    sentences = {name: [_sentence(one) for one in part[name]] for name in ("sentences", "tip") if name in part}
    return dict(part) | sentences


def _sentence(part: Any) -> Any:
    return {"panel": -1, "cases": [{"text": part}]} if isinstance(part, str) else part


def _number(number: Any) -> dict[str, Any]:
    return {"format": "number"} | ({"array": number} if isinstance(number, str) else number)
