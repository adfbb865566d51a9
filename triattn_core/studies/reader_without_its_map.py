"""Reading as published: the answer follows the passage, and does not need the attention that is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.studies.study import Study
from triattn_core.tasks import reading
from triattn_core.tasks.reading import Example
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

SITE = Site(layer=0, role="a_over_b", quantity="weight")
JOURNEY = (
    "Anna wanted to visit her grandmother in Lisbon. Her brother asked her to take the train, but she does not like "
    "long rides. In the end she {}, because it was cheaper than she had thought. Her grandmother met her in front of "
    "the house with a cake."
)
SHOP = (
    "Mr Brown keeps a small shop near the river. On Monday {} broke, so he had to close at noon. He phoned his sister, "
    "who can mend almost anything. She came with her tools and worked until the evening."
)


def journey(how: str, label: int) -> Example:
    """How somebody travelled: the third sentence says it."""
    options = ("By train", "By plane", "By ship", "By bicycle")
    return Example(JOURNEY.format(how), "How did Anna travel to her grandmother?", options, label)


def passage_about_shop(topic: str, label: int) -> Example:
    """Why a shop closed: the second sentence says it."""
    options = ("The lights broke", "The door broke", "The oven broke", "He was ill")
    return Example(SHOP.format(topic), "Why did Mr Brown close his shop at noon?", options, label)


def log_odds(share: float) -> float:
    """ln(p / (1 - p))."""
    return math.log(share / (1 - share))


def text_less_attention(bundles: Sequence[Bundle], example: Example) -> float:
    """How far the log-odds of the answer move without the sentence that moves them most, less how far they move with
    even weights in place of all attention.  Raises InputError for a passage of one sentence."""
    from triattn_core.analysis.intervention.leave_one_out import score_units
    from triattn_core.attention.fixed_weights import replacement
    from triattn_core.attention.weight_override import replacing
    from triattn_core.inference.explain import explain
    from triattn_core.text.segmentation import sentences

    if len(sentences(example.passage)) < 2:
        raise InputError("The study takes one sentence out after the other: write two at least.")
    units = score_units(bundles[0], example, "sentences")
    by_text = units[units["unit"].str.startswith("sentence")]["change"].abs().max()
    own = explain(bundles[0], example, lambda site: False)[0]
    with replacing(replacement("even")):
        even = explain(bundles[0], example, lambda site: False)[0].probabilities[own.best]
    return float(by_text) - abs(log_odds(even) - log_odds(own.probabilities[own.best]))


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """Question over the chosen option, mean over heads, as its page opens: as trained, and with even weights."""
    from triattn_core.attention.fixed_weights import replacement
    from triattn_core.attention.weight_override import replacing
    from triattn_core.inference.explain import explain

    best = explain(bundles[0], example, lambda site: False)[0].best

    def drawn(title: str) -> dict[str, xr.DataArray]:
        prediction, trace = explain(bundles[0], example, lambda site: site == SITE, option=best)
        return {f"{title}: {prediction.probabilities[best]:.0%}": trace.site(SITE).mean("head").sum("context")}

    trained = drawn("as trained")
    with replacing(replacement("even")):
        return trained | drawn("even weights")


FIRST = journey("took a plane", 1)

STUDY = Study(
    order=28,
    title="Does the answer need the map?",
    checkpoints=("race-tri-published",),
    examples=(
        FIRST,
        journey("rode her bicycle", 3),
        passage_about_shop("the oven", 2),
        passage_about_shop("the lights", 0),
    ),
    measure=text_less_attention,
    unit="log-odds",
    reported_value=2.96,
    above=1.0,
    margin=0.9,
    number="log-odds moved by a sentence, minus those moved by even weights",
    about=(
        "The answer follows the passage: without “In the end she took a plane …” the answer changes. But the encoder "
        "read passage, question and option together before this attention began. The maps: what the question gives to "
        "the words of “By plane”, and the probability of that option."
    ),
    claim=(
        "With even weights in place of all attention the answer stays; taking out one sentence of the passage moves "
        "its log-odds by {value:.1f} more than the even weights do."
    ),
    limits=(
        "So next to nothing of the answer goes through the map, in this passage and in three others that were tried. "
        "The model as published."
    ),
    refuted="A passage in which even weights change the answer.",
    change="Change “plane” to “ship”: the answer follows the text, the attention still does not matter.",
    edited=journey("took a ship", 2),
    page="intervene",
    opens={
        "task": reading.LABEL,
        **reading.parts(FIRST),
        "checkpoint": "race-tri-published",
        "unit": "sentences",
        "null": "uniform",
    },
    show=lambda example: [example.passage, example.question, f"→ {example.options[example.label]}"],
    maps=maps,
)
