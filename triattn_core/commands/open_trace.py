"""`triattn open`: open attention from any source as a trace."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.errors import DataError
from triattn_core.text.atomic_write import require_room, require_trace_name
from triattn_core.trace.array_axes import AXIS_NAMES

if TYPE_CHECKING:
    from triattn_core.trace import AttentionTrace


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "a .npy, .npz, .nc, .safetensors or .pt file; nothing is unpickled"
    parser.add_argument("file", type=Path, metavar="FILE", help=text)
    parser.add_argument("--name", help="name of the array, if the file has several")
    text = (
        'a .json file with ["the", "cat"] or {"query": […], "key": […], "context": […]}; or a text file with one token '
    )
    text += "per line"
    parser.add_argument("--tokens", type=Path, metavar="FILE", help=text)
    text = (
        "what the numbers are: weight, relevance (scores before the softmax), gate or contribution (default: weight if "
    )
    parser.add_argument("--quantity", help=text + "rows sum to one)")
    text = (
        "the axes in the order of the file, from layer, head, query, key, context, feature, batch; query=residue gives "
    )
    text += "the query axis your own name"
    parser.add_argument("--axes", nargs="+", metavar="AXIS", help=text)
    text = "the axes over which weights sum to one (default: key, and context if present)"
    parser.add_argument("--sums-over", nargs="+", metavar="AXIS", help=text)
    text = "positions to keep, counted from 0, such as query=0:64 key=10:74 (default: the first 256 of each axis)"
    parser.add_argument("--crop", nargs="+", default=[], metavar="AXIS=FROM:TO", help=text)
    text = "the position of an axis that is dropped, counted from 0: one example of a batch, batch=3"
    parser.add_argument("--select", nargs="+", default=[], metavar="AXIS=POSITION", help=text)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to save the trace (NetCDF)")


def run(options: argparse.Namespace) -> None:
    """Print the contents of the file; save the trace if requested."""
    from triattn_core.importers.open_file import open_file
    from triattn_core.importers.token_files import read_tokens
    from triattn_core.trace.from_array import notes_of

    if options.out:
        require_trace_name(options.out)
        require_room(options.out, "save the trace")
    axes, names = parse_axes(options.axes)
    tokens = read_tokens(options.tokens) if options.tokens else None
    settings = {"quantity": options.quantity, "axes": axes, "sums_over": options.sums_over, "names": names}
    crop, select = crops(options.crop), selections(options.select)
    trace = open_file(options.file, options.name, tokens=tokens, crop=crop, select=select, **settings)
    if options.out:
        trace.save(options.out)
    if options.json:
        print(json.dumps({"sites": sites(trace), "notes": notes_of(trace), "digest": trace.meta.get("digest", "")}))
        return
    print_sites(trace)


def print_sites(trace: AttentionTrace) -> None:
    """Prints a line for each site with its axes and what its rows sum over, then the notes."""
    from triattn_core.trace.from_array import notes_of

    for site in sites(trace):
        sums_text = f", rows over {' × '.join(site['sums_over'])}" if site["sums_over"] else ""
        print(f"{site['site']}  {' x '.join(f'{axis} {size}' for axis, size in site['axes'].items())}{sums_text}")
    for note in notes_of(trace):
        print(note)


def sites(trace: AttentionTrace) -> list[dict]:
    """Name, axes with sizes, and axes that rows sum over, of each site, layer by layer."""
    from triattn_core.trace.sites import layer_by_layer

    return [
        {
            "site": str(site),
            "axes": {str(axis): int(size) for axis, size in array.sizes.items()},
            "sums_over": [axis for axis in array.attrs.get("sums_over", "").split(",") if axis],
        }
        for site in layer_by_layer(sorted(trace.sites))
        for array in [trace.site(site)]
    ]


def parse_axes(axes: Sequence[str] | None) -> tuple[list[str] | None, dict[str, str]]:
    """Parse axes and your labels for them, from `head`, `query=residue i`."""
    if axes is None:
        return None, {}
    parts = [text.partition("=") for text in axes]
    return [axis for axis, _, _ in parts], {axis: label for axis, _, label in parts if label}


def split_axes(text: str) -> list[str]:
    """Axes from one line: `head query=residue i key=residue j`; words that name no axis go on with a label."""
    parts: list[str] = []
    for word in text.split():
        starts = word.partition("=")[0] in AXIS_NAMES
        if starts or not parts or "=" not in parts[-1]:
            parts.append(word)
        else:
            parts[-1] += f" {word}"
    return parts


def crops(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Parse the positions of each axis, from `query=0:64`.  Raises DataError for another form."""
    positions = {}
    for text in texts:
        axis, _, part = text.partition("=")
        start, colon, stop = part.partition(":")
        if not colon or not (start.isdecimal() and stop.isdecimal()):
            raise DataError(f"--crop {text}: expected an axis and its positions, such as query=0:64")
        positions[axis] = (int(start), int(stop))
    return positions


def selections(texts: Sequence[str]) -> dict[str, int]:
    """Parse the position of each axis, from `batch=3`.  Raises DataError for another form."""
    positions = {}
    for text in texts:
        axis, _, position = text.partition("=")
        if not position.isdecimal():
            raise DataError(f"--select {text}: expected an axis and one position, such as batch=3")
        positions[axis] = int(position)
    return positions
