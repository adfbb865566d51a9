"""Colours and the scales that turn exact values into 256 levels: one place for every figure.

Cool is data, warm is selection.  Ramps are interpolated in OKLab (Björn Ottosson, 2020), so that equal steps look
equal; the low end of a sequential ramp and the zero of a diverging one meet the page.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

FONTS = (
    '"Source Sans", "Source Sans 3", "Source Sans Pro", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", '
    '"PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "WenQuanYi Micro Hei", sans-serif'
)

NAMES = (
    "page text muted hairline bar faint query key context query_mark key_mark context_mark accent bi bi_joint cbi tri "
    "mtsa coin series_2 series_3 series_4"
).split()
THEMES = {
    "light": dict(
        zip(
            NAMES,
            "#fcfcfb #1b2428 #5d686c #d9dcd9 #8fa3a8 #efefed #ce4116 #bb167c #9e6a00 #ffd5c4 #fcd4e6 #fbe6af "
            "#0f6e73 #8793a0 #38435a #4f86b4 #0f6e73 #7e57a0 #5f7d3c #b35806 #4a50c8 #a8326e".split(),
        )
    ),
    "dark": dict(
        zip(
            NAMES,
            "#12171a #dde4e4 #97a3a6 #333d42 #5d7076 #1c2327 #fb7f4c #f277b6 #f0c551 #5f2c1a #5f2644 #514013 "
            "#5cc9c0 #8d99a6 #d3dbe8 #5f9bd0 #5cc9c0 #b08fd6 #a9c47d #f0a35e #9aa5ff #f08fbc".split(),
        )
    ),
}
for _colours in THEMES.values():  # a figure has one third axis: context or feature
    _colours |= {"feature": _colours["context"], "feature_mark": _colours["context_mark"]}
SEQUENTIAL = {
    "light": "#f3f7f6 #b4dfdd #73bec2 #378faa #245889 #1a2c53 #0e1528".split(),
    "dark": "#181f22 #21344d #25567e #2983a2 #53b2bb #98ddd8 #e2fcf2".split(),
}
DIVERGING = {
    "light": "#5c300b #c79763 #f6f6f4 #60b2b3 #004654".split(),
    "dark": "#f9d9a6 #9a6739 #1b2121 #2d8286 #c0f0eb".split(),
}

DIFFERENCE = 0.7  # power of the scale of differences between maps of weights

_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def rgb(colour: str) -> np.ndarray:
    """`#rrggbb` as three numbers between 0 and 1."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def oklab(colours: np.ndarray) -> np.ndarray:
    """sRGB `[..., 3]` in 0…1 → OKLab `[..., 3]`."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ _LMS.T) @ _LAB.T


def srgb(lab: np.ndarray) -> np.ndarray:
    """OKLab `[..., 3]` → sRGB `[..., 3]`, clipped to 0…1."""
    linear = (lab @ np.linalg.inv(_LAB).T) ** 3 @ np.linalg.inv(_LMS).T
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def ramp(stops: list[str], steps: int = 256) -> np.ndarray:
    """Evenly spaced stops → uint8 `[steps, 3]`, straight lines in OKLab between them."""
    lab = oklab(np.stack([rgb(stop) for stop in stops]))
    places = np.linspace(0, len(stops) - 1, steps)
    mixed = np.stack([np.interp(places, np.arange(len(stops)), lab[:, i]) for i in range(3)], axis=-1)
    return np.round(srgb(mixed) * 255).astype(np.uint8)


def shades(colours: Sequence[str], theme: str = "light") -> list[str]:
    """The same colours; where one repeats, each repetition is closer to the colour of the text."""
    shaded, ink = [], oklab(rgb(THEMES[theme]["text"]))
    for i, colour in enumerate(colours):
        order, same_colour = list(colours[:i]).count(colour), list(colours).count(colour)
        lab = oklab(rgb(colour)) + (ink - oklab(rgb(colour))) * order / same_colour
        shaded.append("#" + "".join(f"{round(255 * part):02x}" for part in srgb(lab)) if order else colour)
    return shaded


def ink_on(colour: np.ndarray) -> str:
    """Black or white, whichever has more contrast with an sRGB colour `[3]` in 0…255: 4.5 to 1 at least (WCAG 2)."""
    share = np.asarray(colour, float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return "#000000" if linear @ [0.2126, 0.7152, 0.0722] > 0.179 else "#ffffff"


@dataclass(frozen=True)
class LogScale:
    """Weights: `low` and less is level 0, `high` is level 255, even steps of the logarithm between them."""

    low: float
    high: float
    uniform: float
    title: str = "weight, log scale"
    ends = "smallest to largest weight"  # what a legend says of them
    kind = "log"
    steps = 256

    @classmethod
    def of(cls, weights: np.ndarray, cells: int | float) -> LogScale:
        """From a seventh of the uniform weight `1 / cells` to the largest weight."""
        uniform = 1 / (cells or 1)
        top = float(np.max(weights, initial=uniform))
        return cls(uniform / 7, max(top, uniform), uniform)

    @classmethod
    def fit(cls, weights: np.ndarray, cells: int | float) -> LogScale:
        """As `of`, but where attention is diffuse from the smallest weight, and never over less than a factor of four.

        Else a map near uniform would be dark all over; a flat one now takes the middle of the ramp.  The scale ends at
        1, which only sums of weights pass.
        """
        scale = cls.of(weights, cells)
        low = max(float(np.min(weights, initial=scale.high)), scale.low)
        if scale.high / low >= 4:
            return replace(scale, low=low)
        high = min(2 * (low * scale.high) ** 0.5, max(1.0, scale.high))
        return replace(scale, low=high / 4, high=high)

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Exact values → uint8 of the same shape."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.log(np.asarray(values, float) / self.low) / np.log(self.high / self.low)
        return np.round(np.clip(np.nan_to_num(share, neginf=0, posinf=1), 0, 1) * 255).astype(np.uint8)

    def values(self, levels: np.ndarray) -> np.ndarray:
        """Levels → the values that they stand for."""
        return self.low * (self.high / self.low) ** (np.asarray(levels) / 255)

    def ticks(self) -> list[float]:
        """1, 2 and 5 of each decade while they are few, only the decades when they are many."""
        decades = range(int(np.floor(np.log10(self.low))), int(np.ceil(np.log10(self.high))) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            all_ticks = [d * 10.0**e for e in decades for d in digits]
            all_ticks = [v for v in all_ticks if self.low <= v <= self.high * 1.0001]
            if len(all_ticks) <= 6:
                break
        return all_ticks


@dataclass(frozen=True)
class SignedScale:
    """Relevances and differences: zero is level 127 of 0…254, `±limit` the ends.

    `power` 0.5 is the signed square root, which lifts small values; 1 is linear.
    """

    limit: float
    power: float = 0.5
    title: str = "relevance, centred per query"
    kind = "signed"
    steps = 255

    @classmethod
    def of(cls, values: np.ndarray, power: float = 0.5, title: str = title) -> SignedScale:
        """From the largest finite absolute value; 1 where all are zero."""
        values = np.asarray(values, float)
        top = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
        return cls(top if top > 0 else 1.0, power, title)

    @property
    def how(self) -> str:
        """What a legend says of it: even steps of colour are no even steps of the value."""
        return {1.0: "", 0.5: "square-root scale"}.get(self.power, f"power {self.power:g} scale")

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Exact values → uint8 of the same shape; what is not finite is drawn as zero."""
        share = np.clip(np.nan_to_num(np.asarray(values, float), posinf=0, neginf=0) / self.limit, -1, 1)
        return np.round(127 + 127 * np.sign(share) * np.abs(share) ** self.power).astype(np.uint8)

    def values(self, levels: np.ndarray) -> np.ndarray:
        """Levels → the values that they stand for."""
        share = (np.asarray(levels, float) - 127) / 127
        return self.limit * np.sign(share) * np.abs(share) ** (1 / self.power)

    def ticks(self) -> list[float]:
        """Both ends, zero, and a fifth between them."""
        step = float(f"{self.limit:.2g}")
        step = step if step <= self.limit else float(f"{self.limit * 0.99:.2g}")
        return [-step, -step / 5, 0.0, step / 5, step]


@dataclass(frozen=True)
class LinearScale:
    """Shares: 0 is level 0, `high` and more is level 255, even steps between them."""

    high: float = 1.0
    title: str = "share"
    kind = "linear"
    steps = 256

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Exact values → uint8 of the same shape."""
        return np.round(np.clip(np.asarray(values, float) / self.high, 0, 1) * 255).astype(np.uint8)

    def values(self, levels: np.ndarray) -> np.ndarray:
        """Levels → the values that they stand for."""
        return self.high * np.asarray(levels) / 255

    def ticks(self) -> list[float]:
        """Both ends and their middle."""
        return [0.0, self.high / 2, self.high]


Scale = LogScale | SignedScale | LinearScale


def pack(values: np.ndarray) -> str:
    """The bytes of an array in row-major, little-endian order as base64, for `unpackBytes` of arrays.js."""
    array = np.ascontiguousarray(values)
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def scale_payload(scale: Scale) -> dict:
    """A scale as scales.js reads it."""
    if isinstance(scale, LogScale):
        ends: dict[str, Any] = {"low": scale.low, "high": scale.high, "uniform": scale.uniform}
    elif isinstance(scale, LinearScale):
        ends = {"high": scale.high}
    else:
        ends = {"limit": scale.limit, "power": scale.power, "how": scale.how}
    common = {"kind": scale.kind, "steps": scale.steps, "title": scale.title, "ticks": scale.ticks()}
    return {**common, **ends}


@cache
def colour_table(kind: str, theme: str = "light") -> np.ndarray:
    """The colours of a kind of scale (`log`, `signed`, `linear`) in a theme, uint8 [steps, 3]; read-only."""
    makers = {"log": (SEQUENTIAL, LogScale.steps), "signed": (DIVERGING, SignedScale.steps)}
    makers["linear"] = makers["log"]
    table = ramp(makers[kind][0][theme], makers[kind][1])
    table.setflags(write=False)
    return table


def theme_payload(*kinds: str) -> dict:
    """Both themes: the named colours, the font stack, and a packed table `[steps, 3]` for each kind of scale."""
    return {
        name: {**colours, "fonts": FONTS, "tables": {kind: pack(colour_table(kind, name)) for kind in kinds}}
        for name, colours in THEMES.items()
    }
