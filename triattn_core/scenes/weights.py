"""Attention replaced in chosen heads: what becomes of the answer, against chance, and of the attention after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from triattn_core.cached import cached_property
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import InputError
from triattn_core.literal import one_of
from triattn_core.scenes import scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.intervene_parts import map_of
from triattn_core.scenes.intervene_text import describe_shift
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import MeanOrHead, ViewSettings
from triattn_core.scenes.weights_text import describe_chance, describe_finding, describe_moved, describe_written
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Models, Question
from triattn_core.sources.weight_change import RANDOM, WAYS, Head, Replaced, WeightChange
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import without_axes
from triattn_core.trace.site import SIDES, Side, Site
from triattn_core.views.charts import intervention as maps_view
from triattn_core.views.charts import replaced_weights as view

if TYPE_CHECKING:
    import xarray as xr

DRAWS = 20


class Settings(ViewSettings):
    """becomes: what the weights become, one of WAYS.  in_layers, in_heads: where, from 1; none means all.  in_sides: of
    a model with an encoder and a decoder, in which of SIDES; none means all.

    other: of `another text`, its row.  row, looks: of `edited row`, the token that looks and those at which it looks,
    from 0.  random: draws to compare with, from `seed`; 0 leaves them out.  layer, head, direction: of the maps, from
    1; no layer is the one after the first that changes, no head the mean of heads, and the direction of a model whose
    tokens attend to each other is not asked.  side: of the maps, one of SIDES; None is one that changes.
    """

    becomes: Annotated[str, one_of(WAYS)] = "even"
    in_layers: tuple[int, ...] = ()
    in_heads: tuple[int, ...] = ()
    in_sides: tuple[Side, ...] = ()
    other: dict[str, Any] | None = None
    row: int = Field(0, ge=0)
    looks: tuple[int, ...] = (0,)
    random: int = Field(DRAWS, ge=0)
    seed: int = 0
    layer: int | None = Field(None, ge=1)
    side: Side | None = None
    head: MeanOrHead = None
    direction: Literal["a_over_b", "b_over_a"] = "a_over_b"
    option: int | None = Field(None, ge=1)


@dataclass(frozen=True)
class WeightsScene(Scene):
    """chosen, among: how many heads change, of how many.  replaced: the original, the change, then the draws.

    moved: bits that each head's attention moves, a row a head.  maps: before, after, their labels and a sentence.
    """

    chosen: int = field(kw_only=True, default=0)
    among: int = field(kw_only=True, default=0)
    replaced: Replaced = field(kw_only=True, repr=False)
    moved: pd.DataFrame = field(kw_only=True, repr=False)
    site: Site = field(kw_only=True, default=Site())

    @cached_property
    def maps(self) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
        return _maps(self.explanations[0].trace, self.replaced.trace, self.site, self.settings.head)  # type: ignore[attr-defined]

    @property
    def draws(self) -> Sequence[float]:
        """The log-odds of the answer under each draw."""
        return self.replaced.log_odds[2:]

    @property
    def finding(self) -> str:
        """What became of the answer, in one sentence."""
        settings: Any = self.settings
        return describe_finding(settings.becomes, self.replaced, self.chosen, self.among)

    @property
    def rewritten(self) -> str:
        """What the model writes, as it is and with these weights; empty of one that writes nothing."""
        return describe_written(self.replaced.written)

    @property
    def chance(self) -> str:
        """How far chance would have come; empty without draws."""
        settings: Any = self.settings
        return describe_chance(settings.becomes, self.replaced, self.chosen, self.among) if self.draws else ""


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> WeightsScene:
    """The whole scene.  Raises InputError for a source that takes no other weights, a head, a layer or a position that
    is not there."""
    question = Question.put(models, entries[0], example, settings.option and settings.option - 1)
    trace = question.explanation.trace
    every = all_heads(trace)
    chosen = choose_heads(every, settings)
    other = None
    if settings.becomes == "another text":
        other = other_example(question, settings)
    change = WeightChange(settings.becomes, chosen, settings.seed, other, settings.row, settings.looks)
    draws = random_changes(settings, every, chosen, change)
    replaced = models.replace(question.entry, example, [change, *draws], question.option)
    layers = sorted({(site.layer or 0) + 1 for site, _ in every})
    shown = settings.layer or next((n for n in layers if n > (chosen[0][0].layer or 0) + 1), layers[-1])
    settings = settings.model_copy(update={"layer": shown})
    site = map_site(trace, settings)
    after = Explanation(
        question.entry, replaced.predictions[1], replaced.trace, question.explanation.source, stage="after"
    )
    number = None if question.option is None else question.option + 1
    built = WeightsScene(
        settings=settings.model_copy(update={"option": number}),
        draw=lambda: figures(built),
        tabulate=lambda: scene.stack_tables(**tables(built)),
        trace=trace,
        explanations=(question.explanation, after),
        chosen=len(chosen),
        among=len(every),
        replaced=replaced,
        moved=moved_heads(trace, replaced.trace, chosen),
        site=site,
    )
    _ = built.maps  # raises here where there is no such layer or head
    return built


def own_sites(trace: AttentionTrace) -> list[Site]:
    """The sites whose weights a model uses: of a model that reads its texts as one, not the views between them."""
    weights = [site for site in trace.sites if site.quantity == "weight"]
    whole = [site for site in weights if site.sides is None]
    order: dict[str, int] = {side: number for number, side in enumerate(SIDES)}
    return sorted(whole or weights, key=lambda site: (site.layer or 0, order.get(site.role, 0), site))


def all_heads(trace: AttentionTrace) -> tuple[Head, ...]:
    """Every head of a trace."""
    return tuple((site, head) for site in own_sites(trace) for head in range(trace.sites[site].sizes.get("head", 1)))


def sides_of(every: Sequence[Head]) -> list[Side]:
    """Those of SIDES that a model has; none of a model without encoder and decoder."""
    roles = {site.role for site, _ in every}
    return [side for side in SIDES if side in roles]


def choose_heads(every: Sequence[Head], settings: Settings) -> tuple[Head, ...]:
    """Those of the layers and heads that are asked for.  Raises InputError where none is there."""
    layers = {site.layer for site, _ in every}
    most = max(head for _, head in every) + 1
    if missing := [layer for layer in settings.in_layers if layer - 1 not in layers]:
        raise InputError(f"there is no layer {missing[0]}: layers are {_span(sorted((n or 0) + 1 for n in layers))}")
    if missing := [head for head in settings.in_heads if not 1 <= head <= most]:
        raise InputError(f"there is no head {missing[0]}: heads are 1 to {most}")
    if missing_side := set(settings.in_sides) - set(sides_of(every)):
        raise InputError(
            f"there is no {min(missing_side)}: only a model that translates has encoder, decoder and cross"
        )
    chosen = tuple(
        (site, head)
        for site, head in every
        if (not settings.in_layers or (site.layer or 0) + 1 in settings.in_layers)
        and (not settings.in_sides or site.role in settings.in_sides)
        and (not settings.in_heads or head + 1 in settings.in_heads)
    )
    if not chosen:
        raise InputError("no head is in the chosen layers and sides")
    return chosen


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"


def other_example(question: Question, settings: Settings) -> Any:
    """The other text.  Raises InputError where none is given."""
    if not settings.other:
        raise InputError("no other text is given, whose weights could be taken")
    task = "sentences" if set(settings.other) == {"text"} else question.entry.config["task"]
    return TASKS[task].Example.from_row(dict(settings.other), "other")


def random_changes(
    settings: Settings, every: Sequence[Head], chosen: Sequence[Head], change: WeightChange
) -> list[WeightChange]:
    """What chance would do: the same to as many other heads at random; where all are chosen, or the change is of one
    text, the chosen heads' own weights in drawn orders."""
    if not settings.random:
        return []
    rest = [head for head in every if head not in set(chosen)]
    if len(rest) < len(chosen) or change.how in ("another text", "edited row"):
        seeds = range(settings.seed + 1, settings.seed + 1 + settings.random)
        return [WeightChange(RANDOM, tuple(chosen), seed) for seed in seeds]
    draw = np.random.default_rng(settings.seed)
    picks = [draw.choice(len(rest), len(chosen), replace=False) for _ in range(settings.random)]
    return [WeightChange(change.how, tuple(rest[i] for i in sorted(pick)), settings.seed) for pick in picks]


def map_site(trace: AttentionTrace, settings: Settings) -> Site:
    """Whose maps are drawn."""
    sites = own_sites(trace)
    of_layer = [site for site in sites if (site.layer or 0) + 1 == settings.layer]
    if not of_layer:
        numbers = sorted({(site.layer or 0) + 1 for site in sites})
        raise InputError(f"there is no layer {settings.layer}: layers are {_span(numbers)}")
    wanted = [settings.side, *settings.in_sides, "cross", settings.direction]
    return next((site for role in wanted for site in of_layer if site.role == role), of_layer[0])


def moved_heads(before: AttentionTrace, after: AttentionTrace, chosen: Sequence[Head]) -> pd.DataFrame:
    """A row a head: `site`, `layer`, `head`, `changed`, and `bits`, the mean Jensen-Shannon divergence of its rows."""
    from triattn_core.analysis.maps.compare import jensen_shannon
    from triattn_core.analysis.maps.joint_keys import with_context_key

    rows, changed = [], set(chosen)
    for site in own_sites(before):
        if site not in after.sites:
            continue
        pairs = [without_axes(with_context_key(trace.sites[site])) for trace in (before, after)]
        for head in range(pairs[0].sizes.get("head", 1)):
            one, two = (array.isel(head=head) if "head" in array.dims else array for array in pairs)
            alive = bool(np.abs(two.values).sum())
            bits = float(np.nanmean(jensen_shannon(one, two))) if alive else float("nan")
            here = {"site": str(site), "layer": (site.layer or 0) + 1, "head": head + 1}
            rows.append({**here, "bits": bits, "changed": (site, head) in changed})
    return pd.DataFrame(rows)


def maps_at(built: WeightsScene, settings: Settings) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
    """The maps of another layer or head: before, after, their labels and a sentence.  Raises as `build` does."""
    before = built.explanations[0].trace
    return _maps(before, built.replaced.trace, map_site(before, settings), settings.head)


def _maps(
    before: AttentionTrace, after: AttentionTrace, site: Site, head: int | None
) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
    from triattn_core.analysis.maps.compare import jensen_shannon

    (one, labels), (two, _) = (map_of(trace, site, head) for trace in (before, after))
    if not np.abs(two.values).any():
        return one, two, labels, "Switched off, this attention has no weights."
    return one, two, labels, describe_shift(one, two, labels, float(np.nanmean(jensen_shannon(one, two))))


def figures(built: WeightsScene) -> Mapping[str, Chart]:
    """The figures of the page, as they are exported."""
    settings: Any = built.settings
    caption = f"{built.explanations[0].entry.name}, {settings.becomes}{scene.input_line(built.explanations[0])}"
    before, after, labels, sentence = built.maps
    charts = {}
    if built.draws:
        draw = view.draws(built.replaced.log_odds, width=640)
        said = " ".join(filter(None, (built.finding, built.rewritten, built.chance)))
        charts["draws"] = Chart.of(draw, "Against chance", said, caption)
    charts["moved"] = Chart.of(view.moved(built.moved), "Attention that moves", describe_moved(built.moved), caption)
    charts["maps"] = Chart.of(maps_view.maps(before, after, labels), "Before and after", sentence, caption)
    return charts


def tables(built: WeightsScene) -> dict[str, pd.DataFrame]:
    """The numbers of the figures."""
    before, after, labels, _ = built.maps
    names = ["as it is", "changed", *(f"draw {number + 1}" for number in range(len(built.draws)))]
    odds = pd.DataFrame({"run": names, "log-odds": built.replaced.log_odds, "flips": [False, *built.replaced.flipped]})
    cells = scene.with_positions(maps_view.cells(before, after, labels))
    return {"draws": odds, "moved": built.moved, "maps": cells}
