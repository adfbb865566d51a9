"""What can be taken away of a trace alone, such as one that was opened from a file: its case card, and its figure for a
paper."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from triattn_core.case_card.archive import trace_file, zip_files
from triattn_core.case_card.manifest import FORMAT, versions
from triattn_core.case_card.paper_figure import PaperFigure
from triattn_core.importers import trace_store
from triattn_core.scenes import trace_scenes
from triattn_core.scenes.cli_settings import card_command
from triattn_core.scenes.trace_scenes import RenderedTrace
from triattn_core.text.atomic_write import write_whole
from triattn_core.trace import AttentionTrace

FILE = "trace.nc"


@dataclass(frozen=True, repr=False)
class SavedTrace(RenderedTrace):
    """A view of a trace that can be saved as a case card."""

    def case_card(self) -> bytes:
        """The case card: a zip, as Export of the page Open makes it."""
        return pack_card(self)

    def save(self, path: str | Path) -> None:
        """Write the case card.  Raises DataError if the file cannot be written."""
        write_whole(Path(path), pack_card(self))


def draw_trace(view: str, trace: AttentionTrace, **settings: Any) -> SavedTrace:
    """`trace_scenes.draw_trace`, as a view that can be saved."""
    rendered = trace_scenes.draw_trace(view, trace, **settings)
    return SavedTrace(**{field.name: getattr(rendered, field.name) for field in fields(RenderedTrace)})


README = """A case card of triattn.

{view}.html, .svg, .png            {title}
data.csv, data.parquet             every cell that is drawn, as a row
trace.nc                           all that was opened (NetCDF-4; xarray reads it)
manifest.json                      the view, its settings, the digest of the numbers, versions

The page needs no network. This makes the card again, with the same numbers:

    {command}
"""


def command(rendered: RenderedTrace, *tail: str, file: str = FILE) -> str:
    """What makes its card again from the saved trace, or what else is asked in the tail.  file: where the trace is."""
    return card_command(rendered.view, [file], rendered.settings, *(tail or ("--out", f"{rendered.view}.zip")))


def pack_card(rendered: RenderedTrace) -> bytes:
    """The bytes of its case card: a zip."""
    return zip_files(_files(rendered))


def _files(rendered: RenderedTrace) -> Iterator[tuple[str, bytes]]:
    figure, meta = rendered.figure, rendered.trace.meta
    about = {
        "format": FORMAT,
        "command": command(rendered),
        "view": rendered.view,
        "trace": str(meta.get("checkpoint", "")),
        "digest": str(meta.get("digest", "")),
        "settings": rendered.settings.model_dump(mode="json"),
        "figures": {rendered.view: {"title": figure.title, "alt": figure.alt}},
        "versions": versions(),
    }
    yield "README.txt", README.format(view=rendered.view, title=figure.title, command=command(rendered)).encode()
    yield "manifest.json", (json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode()
    yield f"{rendered.view}.html", figure.html().encode()
    yield f"{rendered.view}.svg", figure.svg()
    yield f"{rendered.view}.png", figure.png()
    yield "data.csv", rendered.table.to_csv(index=False).encode("utf-8-sig")
    yield "data.parquet", rendered.table.to_parquet(index=False)
    yield FILE, trace_file(rendered.trace)


def paper_of(rendered: RenderedTrace, *tail: str, file: str = FILE) -> PaperFigure:
    """Its figure for a paper; tail, file: of the command that stands in the caption."""
    name = str(rendered.trace.meta.get("checkpoint", "trace"))
    models = {name: str(rendered.trace.meta.get("digest", "")) or trace_store.digest(rendered.trace)}
    return PaperFigure(rendered.figure, lambda: rendered.table, models, command(rendered, *tail, file=file))
