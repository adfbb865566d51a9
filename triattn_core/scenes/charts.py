"""Altair charts as figures of a case card: drawn without a browser, and as pages that need no network."""

from __future__ import annotations

import json
import re
import textwrap
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.map_mark import MapMark
from triattn_core.views.lib.palette import FONTS, THEMES

DOTS = 200  # an inch, of a PNG
LINE = 110  # letters of a line below the title of a chart
_TOP = ("$schema", "config", "datasets")  # of a Vega-Lite specification: what stands outside of its views
# A counter of the process is in these names: the same numbers must make the same bytes.
_DRAWN = re.compile(r'((?:id="|url\(#)(?:gradient_|clip))(\d+)')
# What draws takes one font for a whole text, and a Chinese one has quotation marks as wide as its characters.
_LATIN = f'"Noto Sans", "Segoe UI", "Helvetica Neue", "DejaVu Sans", {FONTS}'
_CHINESE = re.compile("[\u2e80-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_STYLE = ":root { color-scheme: light; } #figure { overflow-x: auto; } .sentence { max-width: 900px; }"
_MOUNT = """
function mount(root, payload) {
  const place = root.appendChild(document.createElement("div"));
  const sentence = root.appendChild(document.createElement("p"));
  sentence.className = "sentence";
  sentence.textContent = payload.spec.description;
  const look = { ast: true, renderer: "svg", actions: { export: true, source: false, compiled: false, editor: false } };
  vegaEmbed(place, payload.spec, look).then(() => (root.dataset.drawn = "true"));
}
"""


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification.  On its offline page numbers show where one points; in a notebook it is a drawing,
    for the page carries the library that draws it.  maps: for print; None where it prints as it is."""

    spec: Mapping[str, Any] = field(repr=False)
    title: str
    alt: str
    caption: str = ""
    maps: tuple[MapMark, ...] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, chart: Any, title: str, alt: str, caption: str = "", maps: tuple[MapMark, ...] | None = None) -> Chart:
        """From an Altair chart in the light theme.  Selection parameters are replaced by
        their selected values; a parameter that nothing of the chart refers to is left out."""
        spec = chart.to_dict()
        params = spec.pop("params", [])
        text = json.dumps(spec)
        if used := [param for param in params if param["name"] in text]:
            spec["params"] = used
        configuration = {"background": THEMES["light"]["page"], "description": alt}
        return cls(spec | configuration, title, alt, caption, maps)

    def html(self) -> str:
        payload = {"caption": self.caption, "spec": self.spec}
        script = library(self.version) + _MOUNT
        return Canvas(payload, script, _STYLE, self.title, self.alt, caption=self.caption).html()

    def svg(self) -> bytes:
        import vl_convert

        numbers: dict[str, int] = {}
        drawing = vl_convert.vegalite_to_svg(self.titled(), vl_version=self.version)
        return _DRAWN.sub(lambda match: f"{match[1]}{numbers.setdefault(match[2], len(numbers))}", drawing).encode()

    def png(self, dots: int = DOTS) -> bytes:
        import vl_convert

        return repack_png(vl_convert.vegalite_to_png(self.titled(), vl_version=self.version, ppi=dots))

    @property
    def version(self) -> str:
        """Of Vega-Lite, as the specification names it: "6.4"."""
        named = re.search(r"/v(\d+\.\d+)", self.spec["$schema"])
        assert named, self.spec["$schema"]
        return named[1]

    def titled(self) -> dict[str, Any]:
        """The specification with title, caption and sentence above it, as pictures have them."""
        palette = THEMES["light"]
        fonts = self._fonts
        title: dict[str, Any] = {
            "text": self.title,
            "subtitle": [line for text in (self.caption, self.alt) for line in textwrap.wrap(text, LINE)],
            "color": palette["text"],
            "subtitleColor": palette["muted"],
        }
        title |= {"font": fonts, "subtitleFont": fonts, "fontSize": 15, "fontWeight": 700, "subtitleFontSize": 12}
        return self.framed(title | {"anchor": "start", "offset": 14}, 14)

    @property
    def _fonts(self) -> str:
        texts = json.dumps([self.spec, self.title, self.caption], ensure_ascii=False)
        return FONTS if _CHINESE.search(texts) else _LATIN

    def framed(self, title: Mapping[str, Any] | None, padding: int) -> dict[str, Any]:
        """The specification with a title above it, or none, in fonts that are there without a browser."""
        fonts = self._fonts
        outer = {name: self.spec[name] for name in (*_TOP, "background", "description") if name in self.spec}
        outer["config"] = {**outer.get("config", {}), "font": fonts}
        inner = {name: value for name, value in self.spec.items() if name not in outer}
        params = inner.pop("params", [])
        for where, those in (
            (inner, [param for param in params if "select" in param]),  # of a view, the others of all
            (outer, [param for param in params if "select" not in param]),
        ):
            where |= {"params": those} if those else {}
        return outer | ({"title": title} if title else {}) | {"vconcat": [inner], "padding": padding}

    def _repr_html_(self) -> str:
        drawing = b64encode(self.svg()).decode()
        return f'<img alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{drawing}">'


@cache
def library(version: str) -> str:
    """JavaScript that defines `vegaEmbed`, and loads nothing."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)


def repack_png(png: bytes) -> bytes:
    """The same picture with its pixels packed again: what draws it packs in haste, to three times the size."""
    offset, chunks, pixels = 8, [], b""
    while offset < len(png):
        size = int.from_bytes(png[offset : offset + 4])
        chunk = png[offset + 4 : offset + 8 + size]  # its name and what is in it; a checksum follows
        if chunk.startswith(b"IDAT"):
            pixels += chunk[4:]
        else:
            chunks.append(chunk)
        offset += 12 + size
    chunks.insert(-1, b"IDAT" + zlib.compress(zlib.decompress(pixels), 9))
    packed = ((len(chunk) - 4).to_bytes(4) + chunk + zlib.crc32(chunk).to_bytes(4) for chunk in chunks)
    return png[:8] + b"".join(packed)
