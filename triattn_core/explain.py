"""One example through one checkpoint: what it says, and what its attention was."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import xarray as xr

from triattn_core.attention.tap import Record, recording
from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle
from triattn_core.text.roles import Role, Roles
from triattn_core.trace import AttentionTrace


@dataclass(frozen=True)
class Prediction:
    """Labels with their probabilities; `best` and `gold` are indices; `notes` are sentences for the reader."""

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    best: int
    gold: int | None = None
    notes: tuple[str, ...] = ()


def explain(
    bundle: Bundle, example, wanted: Callable[[str], bool] = lambda site: True
) -> tuple[Prediction, AttentionTrace]:
    """The prediction for an example of the bundle's task, and a trace of the sites that are wanted.

    Raises InputError in one line where the input cannot be read.
    """
    example.check()
    roles = bundle.task.roles([example], bundle.tokenizer, bundle.config.max_tokens)[0]
    batch = collate([roles], bundle.tokenizer)
    started = time.perf_counter()
    with recording(wanted) as record:
        probabilities = bundle.logits(batch).softmax(-1)[0].tolist()
    seconds = time.perf_counter() - started
    prediction = Prediction(
        labels=bundle.task.LABELS,
        probabilities=tuple(probabilities),
        best=max(range(len(probabilities)), key=probabilities.__getitem__),
        gold=example.label,
        notes=roles.notes,
    )
    model = bundle.config.model
    meta = {
        "checkpoint": bundle.name,
        "digest": bundle.digest,
        "mechanism": model.mechanism,
        "similarity": model.similarity,
        "layers": model.layers,
        "heads": model.heads,
        "device": bundle.device,
        "seconds": seconds,
    }
    return prediction, AttentionTrace(sites(record, roles), bundle.task.texts(example), meta)


def sites(record: Record, roles: Roles) -> dict[str, xr.DataArray]:
    """The recorded tensors of the first example as labelled arrays."""
    found = {}
    for site, tapped in record.sites.items():
        query, key = (roles.query, roles.key) if "a_over_b" in site else (roles.key, roles.query)
        coords: dict = {}
        for axis, role in (("query", query), ("key", key), ("context", roles.context)):
            if axis in tapped.axes:
                coords.update(coordinates(axis, role))
        attrs = {"quantity": tapped.quantity, "sums_over": ",".join(tapped.sums_over)}
        found[site] = xr.DataArray(tapped.tensor[0].float().cpu().numpy(), coords, tapped.axes, attrs=attrs)
    return found


def coordinates(axis: str, role: Role) -> dict:
    """The coords of one axis; see `axes.COORDINATES`."""
    return {
        f"{axis}_token": (axis, list(role.strings)),
        f"{axis}_text": (axis, list(role.texts)),
        f"{axis}_start": (axis, [start for start, _ in role.spans]),
        f"{axis}_end": (axis, [end for _, end in role.spans]),
        f"{axis}_special": (axis, [int(flag) for flag in role.special]),
    }
