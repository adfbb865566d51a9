"""Canvas: a figure drawn by a script of ours, the same in the app, in a notebook and in an offline HTML file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import FONTS
from triattn_core.views.lib.script_bundle import bundle_script

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 24px 28px; font: 14px/1.5 {fonts}; color: light-dark(#1b2428, #dde4e4);
  background: light-dark(#fcfcfb, #12171a); }}
h1 {{ font-size: 21px; font-weight: 650; margin: 0 0 2px; }}
.caption {{ color: light-dark(#5d686c, #97a3a6); margin: 0 0 18px; }}
{style}
</style>
</head>
<body>
<h1>{title}</h1>
<p class="caption">{caption}</p>
<div id="figure"></div>
<script id="payload" type="application/json">{payload}</script>
<script>
{script}
mount(document.getElementById("figure"), JSON.parse(document.getElementById("payload").textContent), {{}});
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class CellAxis:
    """One coordinate of a cell: its label, the positions that it takes, and the word at each, where there are words."""

    label: str
    positions: Sequence[int] = field(repr=False)
    words: Sequence[str] = field(default=(), repr=False)


@dataclass(frozen=True)
class Canvas:
    """A payload, the script that draws it, and its style; and the same figure for those who do not draw it.

    payload: plain JSON values; arrays as `palette.pack`.
    script: JavaScript that defines `mount(root, payload, host)`.  It draws into the element `root`, may be called
        again with a new payload on the same root, keeps its state on `root.triattn`, and returns a function that
        cleans up.  `host.send(name, value)`, where there is one, tells the page what the user chose.
    style: CSS for what is inside `root`.
    title, alt: plain text; `alt` is what a screen reader hears in place of the drawing.
    caption: the settings in words.  texts: the input, by name.
    cell, axes: the cell on which it opens, and each of its coordinates; empty where no cell is chosen.
    maps: its maps for print; None for a figure that has none.
    """

    payload: Mapping = field(repr=False)
    script: str = field(repr=False)
    style: str = field(repr=False)
    title: str
    alt: str
    height: int = 720
    caption: str = ""
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    cell: tuple[int, ...] = ()
    axes: tuple[CellAxis, ...] = ()
    maps: tuple[MapMark, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def extents(self) -> tuple[Sequence[int], ...]:
        """The positions that each coordinate of a cell takes."""
        return tuple(axis.positions for axis in self.axes)

    def html(self) -> str:
        """One document that needs no network: its policy forbids loading anything."""
        # "<" cannot end the script element early, and U+2028/9 are line ends to some JavaScript readers.
        payload = json.dumps(dict(self.payload), ensure_ascii=False, separators=(",", ":"))
        for raw, safe in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
            payload = payload.replace(raw, safe)
        escaped = {"title": escape(self.title), "caption": escape(self.caption)}
        return _PAGE.format(
            policy=_POLICY, fonts=FONTS, style=self.style, script=self.script, payload=payload, **escaped
        )

    def _repr_html_(self) -> str:
        """For notebooks: a frame of its own, so that neither style nor script meets the notebook's."""
        frame = 'style="width:100%;border:0" sandbox="allow-scripts allow-downloads"'
        page = f'title="{escape(self.alt)}" srcdoc="{escape(self.html())}"'
        return f'<iframe {frame} height="{self.height}" {page}></iframe>'


@cache
def script(entry: str) -> str:
    """The script of a figure: the module `entry` and all that it imports, in one piece; a path below the views."""
    return bundle_script(entry)


@cache
def style(*names: str) -> str:
    """The named style sheets, one after the other; paths below the views."""
    return "\n".join((Path(__file__).parent.parent / name).read_text(encoding="utf-8") for name in names)
