"""Dialogue: the last turn names nothing; the response that fits is decided by what an earlier turn named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.studies.study import Study
from triattn_core.tasks import dialogue
from triattn_core.tasks.dialogue import Example
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

SITE, HEAD = (
    Site(layer=0, role="b_over_a", quantity="weight"),
    0,
)  # the response asks; the head, from 0, that looks for what it names
FIRST = {
    "wireless": "my wireless does not connect any more since the upgrade",
    "sound": "my sound card does not play any more since the upgrade",
    "printer": "my printer does not print any more since the upgrade",
}
ANSWERS = {
    "wireless": "then look whether the wireless card needs firmware, lspci names it",
    "sound": "then open alsamixer, one of the sound channels may be muted",
    "printer": "then remove the printer and add it again, cups may have the wrong driver",
}


def make_dialogue(thing: str, ending: str) -> Example:
    """Something does not work, the first advice does not help, and three responses are about three things."""
    history = (FIRST[thing], "switch it off and on again and restart the session", ending)
    return Example(history, tuple(ANSWERS.values()), list(ANSWERS).index(thing))


def with_first_turn(example: Example, thing: str) -> Example:
    """The same dialogue with another first turn."""
    return replace(example, history=(FIRST[thing], *example.history[1:]))


def falls_without_it(bundles: Sequence[Bundle], example: Example) -> float:
    """Probability of the right response minus its mean when the first turn names another thing, in points.

    An edited dialogue has no label: its right response is that of the dialogue which the study shows.
    """
    from triattn_core.inference.explain import explain

    right = FIRST_EXAMPLE.label if example.label is None else example.label
    assert right is not None
    if len(example.candidates) != len(ANSWERS):
        raise InputError(f"The study needs its {len(ANSWERS)} candidates: edit the turns alone.")

    def probability(dialogue: Example) -> float:
        return explain(bundles[0], dialogue, lambda site: False)[0].probabilities[right]

    others = [probability(with_first_turn(example, thing)) for i, thing in enumerate(FIRST) if i != right]
    return 100 * (probability(example) - sum(others) / len(others))


def first_turn(bundle: Bundle, example: Example) -> xr.DataArray:
    """What each word of the right response gives to “it” of the last turn, read with each word of the first."""
    from triattn_core.inference.explain import explain

    cube = explain(bundle, example, lambda site: site == SITE, option=example.label)[1].site(SITE)
    it = [str(token) for token in cube["key_token"].values].index("it")
    weights = cube.isel(head=HEAD, key=it, drop=True)
    return weights[:, weights["context_text"].values == "turn.1"].rename(context="key")


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """The same response in the dialogue that it fits, and in one that it does not."""
    return {
        "the first turn is about it": first_turn(bundles[0], example),
        "about something else": first_turn(bundles[0], with_first_turn(example, "printer")),
    }


ENDINGS = ("did that, it still does not work", "i tried that, no difference")
FIRST_EXAMPLE = make_dialogue("wireless", ENDINGS[0])

STUDY = Study(
    order=27,
    title="Does an earlier turn decide?",
    checkpoints=("ubuntu-tri-living",),
    examples=tuple(make_dialogue(thing, ending) for ending in ENDINGS for thing in ("wireless", "sound")),
    measure=falls_without_it,
    unit="points",
    reported_value=82.5,
    above=30.0,
    margin=30.0,
    number="P(right response) minus its mean with another fault in turn 1",
    about=(
        "The last turn only says “it”. Each word of a response weighs the last turn together with the history: in "
        "head 1 all of them, “card” too, look at “it” read with the first turn (the maps)."
    ),
    claim=(
        "With another fault named in the first turn (the sound card, the printer) the response loses {value:.1f} "
        "points of probability on average."
    ),
    limits=(
        "So the attention counts (with even weights the loss is 49 points), but not which word goes with which turn: "
        "with the product of the marginals the loss is 82 as well. And the verb matters most: “my laptop does not "
        "connect” costs only 11.4 points, and with “my printer does not connect” the wireless card is still the "
        "answer."
    ),
    refuted=(
        "A first turn about another fault, with a verb other than “connect”, for which the response keeps its "
        "probability."
    ),
    change=(
        "Choose Edit and change “wireless” to “screen”: the response loses most of its probability. To “wired”: it "
        "keeps it."
    ),
    edited=replace(FIRST_EXAMPLE, history=tuple(turn.replace("wireless", "screen") for turn in FIRST_EXAMPLE.history)),
    page="cube",
    opens={
        "task": dialogue.LABEL,
        **dialogue.parts(FIRST_EXAMPLE),
        "checkpoint": "ubuntu-tri-living",
        "direction": "candidate over turn",
        "head": str(HEAD + 1),
        "option": "1",
        "context": "tokens",
        "cell": "5.3.1",  # “card”, “it”, “wireless”
    },
    control={
        "task": dialogue.LABEL,
        **dialogue.parts(FIRST_EXAMPLE),
        "checkpoint": "ubuntu-tri-living",
        "option": "1",
    },
    show=lambda example: [*example.history, f"→ {example.candidates[example.label]}"],
    maps=maps,
)
