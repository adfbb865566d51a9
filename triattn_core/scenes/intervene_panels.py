"""The figures of an intervention with what is said of each, as its page shows them and as they are exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from triattn_core.scenes import intervene_text, scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.intervene_parts import Intervention
from triattn_core.scenes.intervene_text import Nulls
from triattn_core.views.charts import intervention as view
from triattn_core.views.lib.map_mark import MapMark

WIDE = 640  # pixels of a figure that is exported


@dataclass(frozen=True)
class ReportPanel:
    """A figure: `draw(theme=…, width=…)` makes it, None where it would show nothing; what it shows in words; its rows,
    None where another figure has the same.  lead: what an export says before the sentence.  maps: for print."""

    title: str
    sentence: str
    caption: str
    rows: pd.DataFrame | None
    draw: Callable[..., Any] | None
    wide: int | None = WIDE
    lead: str = ""
    maps: tuple[MapMark, ...] | None = None

    def chart(self) -> Chart:
        """As it is exported."""
        assert self.draw  # is asked where there is a figure
        size = {"width": self.wide} if self.wide else {}
        return Chart.of(self.draw(**size), self.title, f"{self.lead} {self.sentence}".strip(), self.caption, self.maps)


def panels(
    parts: Intervention, change: str, random: pd.DataFrame | None = None, nulls: Nulls | None = None
) -> dict[str, ReportPanel]:
    """By name, in the order of the page.  change: what was done, in a sentence; random, nulls: where they are known."""
    question, settings = parts.question, parts.settings
    caption, texts = f"{question.entry.name}, {parts.spec.operation}", scene.input_line(question.explanation)
    head = "mean of heads" if settings.head is None else f"head {settings.head}"
    place = f"{caption}, {settings.direction.replace('_', ' ')}, layer {settings.layer}, {head}{texts}"
    before, after, labels, sentence = parts.maps
    by_name = {
        "maps": ReportPanel(
            "Attention before and after",
            sentence,
            place,
            scene.with_positions(view.cells(before, after, labels)),
            partial(view.maps, before, after, labels),
            None,
            f"{parts.finding} {change}",
            view.map_marks(before, after, labels),
        ),
        **_each_alone(parts, caption + texts),
    }
    if random is not None:
        by_name["random"] = ReportPanel(
            "Units at random", change, caption, random.rename(columns={"unit": "draw"}), None
        )
    if nulls is not None:
        draw = partial(view.draws, nulls.log_odds.tolist(), nulls.original, two=question.option is None)
        where = f"{caption}, seed {settings.seed}{texts}"
        sentence = intervene_text.describe_null(nulls)
        by_name["draws"] = ReportPanel("Is this map signal?", sentence, where, nulls.rows, draw)
    return by_name


def _each_alone(parts: Intervention, caption: str) -> dict[str, ReportPanel]:
    """What each unit does alone, to the answer and to the attention; none where that is not asked."""
    alone = parts.alone
    if alone is None:
        return {}
    words = [parts.units[name] for name in alone["unit"]]
    draw, width = partial(view.unit_bars, alone, words, parts.spec.names), max(WIDE, 22 * len(alone))
    return {
        "alone": ReportPanel(
            "Each unit alone, change of the log-odds",
            intervene_text.describe_each(alone, parts.units),
            caption,
            alone.assign(text=words),
            draw if intervene_text.changes_answer(alone) else None,
            width,
        ),
        "moved": ReportPanel(
            "Each unit alone, bits that attention moved",
            intervene_text.describe_each_shift(alone, parts.units),
            caption,
            None,
            partial(draw, measure="moved") if intervene_text.moves_attention(alone) else None,
            width,
        ),
    }
