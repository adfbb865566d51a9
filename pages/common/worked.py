"""The worked examples of the first page: a picture of each page from real numbers, and one finding beneath it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from streamlit.delta_generator import DeltaGenerator

from pages.common import cards, languages, models, scores, style
from pages.common.inputs import number
from triattn_core import records
from triattn_core.errors import CheckpointError, TriattnError
from triattn_core.shelf import Card
from triattn_core.tasks import pairs
from triattn_core.trace import Choice, reduce
from triattn_core.views import strongest, thumbnail

HEIGHT = 196  # pixels of the picture, kept free while it is computed


@dataclass(frozen=True)
class Worked:
    """`draw(theme)` gives a picture and a finding, both HTML, and what the link opens with (parameters of the URL); it
    raises TriattnError where no model fits."""

    page: str
    title: str
    draw: Callable[[str], tuple[str, str, dict[str, str]]]


def first_tri(here: Sequence[Card]) -> Card | None:
    """What the cube opens on among these."""
    return next((card for card in here if records.model(card, "mechanism") == "tri"), None)


def trio(language: str) -> list[Card]:
    """Bi, C-Bi and Tri of the first similarity as the pages open on them: in this language where there is any of it."""
    by = languages.by_language(models.shelf(pairs.NAME))
    here = by.get(language) or next(iter(by.values()), [])
    tri = first_tri(here)
    if tri is None:
        raise CheckpointError("No Tri-Attention checkpoint here yet: train one with the command triattn train.")
    alike = [card for card in here if records.model(card, "similarity") == records.model(tri, "similarity")]
    first = {records.model(card, "mechanism"): card for card in reversed(alike)}
    return [first[name] for name in ("bi", "cbi", "tri") if name in first]


def example(card: Card) -> pairs.Example:
    """The first example of the language that the card reads."""
    return pairs.examples(records.language(card))[0]


def site(trace) -> Choice:
    """What both pages open on: the first layer, A over B, the mean of the heads."""
    return Choice("layer.0/a_over_b/weight", reduce=(("head", "mean"),))


def telling(trace):
    """The head, and in it the row, of the largest weight among three words: no mark, no special token."""
    found = []
    for head in range(int(trace.meta["heads"])):
        choice = Choice("layer.0/a_over_b/weight", index=(("head", head),))
        rows = strongest.strongest(trace, choice, hide_special=True)
        said = [rows[axis].str.lower() for axis in thumbnail.AXES]
        fit = said[0].str.isalpha() & said[1].str.isalpha() & said[2].str.isalpha() & (said[0] != said[1])
        found += [(float(row["weight"]), head, row) for _, row in rows[fit].head(1).iterrows()]
    if not found:
        raise TriattnError("This pair has no three words to show.")
    return max(found, key=lambda one: one[0])[1:]


def cube(theme: str) -> tuple[str, str, dict[str, str]]:
    """The slices through the strongest triple of words."""
    card = trio("en")[-1]
    trace = models.explain(card, example(card)).trace
    head, first = telling(trace)
    choice = Choice("layer.0/a_over_b/weight", index=(("head", head),))
    cell = {axis: int(first[f"{axis}_at"]) for axis in thumbnail.AXES}
    words = {axis: f'<b class="t-{axis}">{escape(str(first[axis]))}</b>' for axis in thumbnail.AXES}
    finding = (
        f"{words['query']} gives {100 * first['weight']:.3g} % of its attention to {words['key']} read with "
        f"{words['context']}: in head {head + 1} of layer 1 no other three words weigh more."
    )
    axes = " × ".join(f'<b class="t-{axis}">{axis}</b>' for axis in thumbnail.AXES).replace(" × <b", "<br>× <b")
    drawn = picture(thumbnail.slices(trace, choice, theme, cell), "Three slices of the cube through this cell.")
    opens = {"head": str(head + 1), "hide": "true", "cell": ".".join(map(str, cell.values()))}
    return f'<div class="t-picture">{drawn}<div class="t-corner">{axes}</div></div>', finding, opens


def side_by_side(theme: str) -> tuple[str, str, dict[str, str]]:
    """The maps of three mechanisms on one scale, and what each says."""
    arrays, titles, said = [], "", {}
    three = trio("zh")
    pair = example(three[0])
    for card in three:
        found = models.explain(card, pair)
        array = found.trace.pick(site(found.trace))
        arrays.append(reduce(array, "context", "sum") if "context" in array.dims else array)
        titles += f"<span>{style.swatch(found.mechanism)}{escape(cards.label(card))}</span>"
        best = found.prediction.best
        share = number(found.prediction.probabilities[best])
        said.setdefault(found.prediction.labels[best], []).append(f"{cards.label(card)} {share}")
    drawn = picture(thumbnail.maps(arrays, theme), "Weights of the mechanisms on one scale.")
    verdicts = "; ".join(f"<b>{escape(label)}</b> ({escape(', '.join(names))})" for label, names in said.items())
    texts = f'<span lang="{records.language(three[0])}">{escape(pair.text_a)} / {escape(pair.text_b)}</span>'
    finding = f"{texts}: they say {verdicts}. Gold: {escape(pairs.LABELS[pair.label or 0])}."
    return f'<div class="t-titles">{titles}</div>{drawn}', finding, {}


def checkpoints(theme: str) -> tuple[str, str, dict[str, str]]:
    """What was reached on the test sets."""
    groups = scores.measured(models.shelf(pairs.NAME)) or scores.measured(models.shelf())
    if not groups:
        raise CheckpointError("No checkpoint has been measured yet.")
    first = groups[0][0]
    larger = cards.percent(records.value(first, "test", "majority"))
    finding = (
        f"{records.metric_name(first).capitalize()} on test, one seed each, the best on dev in bold. Always saying the "
        f"larger class of {escape(records.data(first))} gives {larger}."
    )
    return scores.table(groups), finding, {}


def picture(svg: str, alt: str) -> str:
    """HTML of a picture: as data, for Streamlit takes SVG elements out of HTML."""
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'


PAGES = (
    Worked("pages/cube.py", "Tri-Attention cube", cube),
    Worked("pages/side_by_side.py", "Side by side", side_by_side),
    Worked("pages/checkpoints.py", "Checkpoints", checkpoints),
)


def place(worked: Worked, column: DeltaGenerator) -> Callable[[], None]:
    """A card with room for picture and finding; what it returns fills them in."""
    column.html('<hr class="t-rule">')
    slot = column.skeleton(height=HEIGHT)
    look = {"label": worked.title, "icon": ":material/chevron_right:", "icon_position": "right"}
    link = column.empty()
    link.page_link(worked.page, **look)
    finding = column.empty()

    def fill() -> None:
        try:
            drawn, said, opens = worked.draw("dark" if style.dark() else "light")
            slot.html(f'<div class="t-thumb">{drawn}</div>')
            link.page_link(worked.page, **look, query_params=opens)
        except TriattnError as error:
            said = escape(str(error))
            slot.empty()
        finding.html(f'<p class="t-note">{said}</p>')

    return fill
