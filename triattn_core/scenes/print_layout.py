"""The maps of a figure for print: read from what the figure sends to the browser, so that levels and colours are the
same ones."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from triattn_core.errors import TraceError
from triattn_core.scenes.print_sheet import Bar, Plate, Sheet
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.palette import LogScale, SignedScale, rgb

GREY = "#b9bfbf"  # a difference that seeds alone explain


class Reader:
    """The payload of a figure, unpacked."""

    def __init__(self, payload: Mapping, theme: str = "light"):
        self.payload, self.theme = payload, payload["themes"][theme]

    def bytes(self, packed: str, *shape: int, kind: str = "u1") -> np.ndarray:
        return np.frombuffer(base64.b64decode(packed), np.dtype(kind).newbyteorder("<")).reshape(shape)

    def table(self, scale: Mapping) -> np.ndarray:
        """The colours of a scale; a gate's are those of weights."""
        kind = "signed" if scale["kind"] == "signed" else "log"
        return self.bytes(self.theme["tables"][kind], -1, 3)

    def bar(self, scale: Mapping, title: str = "") -> Bar:
        title = ", ".join(filter(None, (title or scale["title"], scale.get("how"))))
        return Bar(title, self.table(scale), _ticks(scale))

    def labels(self, axis: str) -> list[str]:
        tokens = self.payload["axes"][axis]
        return ["-" * tied + label for tied, label in zip(tokens["joined"], tokens["label"])]

    def plate(
        self,
        levels: np.ndarray,
        scale: Mapping,
        title: str,
        axes: Sequence[str],
        cell: Sequence[int],
        place: tuple[int, int],
        out: np.ndarray | None = None,
    ) -> Plate:
        """levels: [rows, columns] on this scale.  axes: those down and across, by their names in the payload."""
        known = self.payload.get("axes", {})
        rows, columns = (
            self.labels(axis) if axis in known else [str(i + 1) for i in range(size)]
            for axis, size in zip(axes, levels.shape)
        )
        masked = np.zeros(levels.shape, bool) if out is None else np.asarray(out, bool)
        table, below = self.table(scale), np.zeros(levels.shape, bool)
        if scale["kind"] == "signed":
            below = (levels < len(table) / 2 - 1) & ~masked
        (down, across), (row, column) = axes, cell
        return Plate(
            title,
            (down, across),
            rows,
            columns,
            table[levels],
            masked,
            (row, column),
            place,
            below,
            ticks=_ticks(scale),
        )


def _scale(about: Mapping) -> LogScale | SignedScale:
    if about["kind"] == "log":
        return LogScale(about["low"], about["high"], about["uniform"])
    return SignedScale(about["limit"], about["power"])


def _levels(about: Mapping, values: np.ndarray) -> np.ndarray:
    """Values on a scale as a payload has it."""
    if about["kind"] == "linear":
        return np.round(np.clip(values / about["high"], 0, 1) * (about["steps"] - 1)).astype(np.uint8)
    return _scale(about).levels(values)


def _short(value: float) -> str:
    return f"{value:.2g}".replace("-", "−")


def _ticks(scale: Mapping) -> list[tuple[float, str]]:
    return [(_place(scale, value), _short(value)) for value in scale["ticks"]]


def _place(about: Mapping, value: float) -> float:
    return float(_levels(about, np.array([value]))[0]) / (about["steps"] - 1)


def plates(canvas: Canvas, theme: str = "light") -> Sheet:
    """The maps of a figure, in the colours of a theme.  Raises TraceError for a figure that cases are not kept of."""
    payload = canvas.payload
    if canvas.kind not in KINDS:
        raise TraceError(f"{canvas.title}: this figure has no maps to be printed")
    read = Reader(payload, theme)
    printed, bars = KINDS[canvas.kind](read)
    texts = " / ".join(text if len(text) <= 160 else text[:159] + "…" for text in payload["texts"].values())
    return Sheet(canvas.title.partition(":")[0], payload.get("caption", ""), texts[:400], canvas.alt, printed, bars)


def _cube(read: Reader) -> tuple[list[Plate], list[Bar]]:
    """The three slices through the chosen cell, as the explorer places them."""
    payload, order, roles = read.payload, read.payload["order"], read.payload["roles"]
    sizes = [len(payload["axes"][axis]["label"]) for axis in order]
    levels = read.bytes(payload["levels"], *sizes)
    first = [payload["axes"][axis]["position"][i] for axis, i in zip(order, payload["triples"]["cells"][0])]
    at = [payload["axes"][axis]["position"].index(p) for axis, p in zip(order, payload.get("cell") or first)]
    masked = read.bytes(payload["masked"], *sizes[:2]).astype(bool) if payload["masked"] else np.zeros(sizes[:2], bool)
    whole, plates = np.broadcast_to(masked[:, :, None], sizes), []
    for third, place in ((2, (0, 0)), (1, (0, 1)), (0, (1, 1))):
        left = [i for i in range(3) if i != third]
        names = [order[i] for i in left]
        word = payload["axes"][order[third]]["name"][at[third]]
        title = f"{roles[names[0]]} × {roles[names[1]]} at {roles[order[third]]} {word}"
        level_and_mask = (cube.take(at[third], axis=third) for cube in (levels, whole))
        shown, out = level_and_mask
        plates.append(read.plate(shown, payload["scale"], title, names, [at[i] for i in left], place, out))
    return plates, [read.bar(payload["scale"])]


def _side(read: Reader) -> tuple[list[Plate], list[Bar]]:
    """The maps in one row, their difference below."""
    payload, axes = read.payload, ("query", "key")
    shape = [len(payload["axes"][axis]["label"]) for axis in axes]
    hidden_mask = [~np.isfinite(read.bytes(panel["values"], *shape, kind="f4")) for panel in payload["panels"]]
    plates = [
        read.plate(
            read.bytes(panel["levels"], *shape),
            payload["scale"],
            panel["title"],
            axes,
            payload["cell"],
            (0, i),
            out,
        )
        for i, (panel, out) in enumerate(zip(payload["panels"], hidden_mask))
    ]
    plates = [
        replace(
            plate,
            answer=", ".join(filter(None, (panel["label"], panel["share"]))),
            score=panel["score"],
            badge=read.theme.get(panel["mechanism"], ""),
        )
        for panel, plate in zip(payload["panels"], plates)
    ]
    bars, gap = [read.bar(payload["scale"])], payload["gap"]
    if gap:
        levels = read.bytes(gap["levels"], *shape)
        out = np.isnan(read.bytes(gap["values"], *shape, kind="f4"))
        plate = read.plate(levels, gap["scale"], gap["title"], axes, payload["cell"], (1, 0), out)
        if "within" in gap:
            grey = (255 * rgb(GREY)).round().astype(np.uint8)
            within = read.bytes(gap["within"], *shape).astype(bool)
            colours = np.where(within[..., None], grey, plate.colours)
            plate = replace(plate, colours=colours, below=plate.below & ~within)
        plates.append(plate)
        bars.append(read.bar(gap["scale"]))
    return plates, bars


def _heads(read: Reader) -> tuple[list[Plate], list[Bar]]:
    """The maps in one row; below each its source2token, where features are drawn."""
    payload, axes = read.payload, ("query", "key")
    shape, plates = [len(payload["axes"][axis]["label"]) for axis in axes], []
    query, key, chosen, spot = payload["cell"]
    for i, panel in enumerate(payload["panels"]):
        out = read.bytes(panel["masked"], *shape) if panel["masked"] else None
        levels = read.bytes(panel["levels"], *shape)
        plate = read.plate(levels, payload["scale"], panel["title"], axes, (query, key), (0, i), out)
        plates.append(replace(plate, answer=panel["note"]))
        if "source_levels" in panel:
            levels = read.bytes(panel["source_levels"], shape[1], -1)
            title = f"{panel['title'].partition(',')[0]}: source2token, features in order of likeness"
            plate = read.plate(levels, payload["scale"], title, ("key", "feature"), (key, spot), (1, i))
            plates.append(replace(plate, columns=[str(feature + 1) for feature in panel["order"]]))
    return plates, [read.bar(payload["scale"])]


def _coin(read: Reader) -> tuple[list[Plate], list[Bar]]:
    """A row a block: with the context term, without it, what that changed."""
    payload, axes, plates = read.payload, ("query", "key"), []
    shape = [len(payload["axes"][axis]["label"]) for axis in axes]
    maps = (("weight", "weight", "scale"), ("plain", "without context", "scale"), ("changed", "difference", "gap"))
    for i, block in enumerate(payload["blocks"]):
        for j, (name, title, scale) in enumerate(maps):
            if block and block[name]:
                levels = _levels(payload[scale], read.bytes(block[name], *shape, kind="f4"))
                plate = (f"block {i + 1}: {title}", axes, payload["cell"][:2], (i, j))
                plates.append(read.plate(levels, payload[scale], *plate))
    signed = [read.bar(payload["gap"])] if any(block and block["changed"] for block in payload["blocks"]) else []
    return plates, [read.bar(payload["scale"]), *signed]


def _similarity(read: Reader) -> tuple[list[Plate], list[Bar]]:
    """A map a function, passage words down; a colour bar each."""
    payload, axes = read.payload, ("query", "key")
    shape = [len(payload["axes"][axis]["label"]) for axis in axes]
    at, plates = payload["cell"][:2], []
    for i, panel in enumerate(payload["panels"]):
        levels = read.bytes(panel["levels"], *shape)
        plates.append(read.plate(levels, panel["scale"], panel["title"], ("query", "key"), at, (0, i)))
    return plates, [read.bar(panel["scale"], f"{panel['title']}: {payload['title']}") for panel in payload["panels"]]


def _grid(read: Reader) -> tuple[list[Plate], list[Bar]]:
    """All heads, a row a layer; below each its measure."""
    payload, plates = read.payload, []
    shape, values = payload["shape"], payload["measures"][payload["measure"]]["values"]
    for i, layer in enumerate(payload["layers"]):
        for head, levels in enumerate(read.bytes(layer["levels"], -1, *shape)):
            title = f"{layer['title']}.{head + 1}" if layer["title"] else str(head + 1)
            plate = read.plate(levels, payload["scale"], title, ("rows", "columns"), (0, 0), (i, head))
            value = values[i][head]
            plates.append(replace(plate, answer="" if value is None else f"{value:.2g}", thumb=True))
    return plates, [read.bar(payload["scale"])]


# By the kind of a canvas: how its payload is read.
KINDS: dict[str, Callable[[Reader], tuple[list[Plate], list[Bar]]]] = {
    "cube": _cube,
    "coin": _coin,
    "similarity": _similarity,
    "side_by_side": _side,
    "heads": _heads,
    "head_grid": _grid,
}
