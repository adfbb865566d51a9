"""What a page sent to its figures; arrays of a described one, with the shape that its coordinates give them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest


def sent_array(payload: Mapping[str, Any], panel: int, name: str) -> np.ndarray:
    """An array of a panel, as it was sent."""
    array, sizes = payload["panels"][panel]["arrays"][name], dict(payload["coordinates"])
    shape = tuple(sizes[axis] for axis in array["over"]) or (-1,)  # a list that stands over nothing
    data = base64.b64decode(array["data"])
    if array["type"] != "b1":
        return np.frombuffer(data, f"<{array['type']}").reshape(shape)
    return np.unpackbits(np.frombuffer(data, np.uint8), count=int(np.prod(shape))).reshape(shape).astype(bool)


def group_arrays(payload: Mapping[str, Any], number: int) -> dict[str, np.ndarray]:
    """All arrays of a group of panels, which its first panel has; empty where it is not there."""
    index, panel = next(
        (i, one) for i, one in enumerate(payload["panels"]) if one.get("group") == f"block {number + 1}"
    )
    return {name: sent_array(payload, index, name) for name in panel.get("arrays", ())}


def is_comparison(payload: Mapping[str, Any]) -> bool:
    """Whether it is side by side with a difference."""
    return "difference" in payload.get("scales", ())


def sent_messages(app: AppTest) -> list[dict[str, Any]]:
    """The messages to all components of a page that got one."""
    return [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]
