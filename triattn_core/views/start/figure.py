"""The figure of the first screen: cards, languages, the cube's cells and two-way attention, at any step of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import theme_payload

SCRIPT, STYLE = "start/start.js", ("start/start.css",)
SWATCHES = dict(
    zip(
        "blue red green yellow black white brown pink grey orange purple silver".split(),
        "#2f6fb5 #c8372d #3d8b4f #e8c53a #23272b #f5f5f2 #7a4f2c #e58fb0 #8a9197 #e08a2e #7b4fa3 #c3c9ce".split(),
    )
)  # what a card of that colour looks like, on any ground


def figure(screen: Mapping[str, Any], language: int, frame: int) -> Canvas:
    """The first screen on a language and a frame; a choice sends `cell`, `[language, frame]`.

    screen: as `results.first_screen.first_screen` reads it.
    """
    models = {name: screen[name] for name in ("tri", "two_way")}
    payload = {
        **{name: screen[name] for name in ("asked", "cards", "languages", "right", "colours", "rows", "scale")},
        "swatches": SWATCHES,
        "models": models,
        "at": [language, frame],
        "themes": theme_payload("log"),
        "alt": describe(screen, language, frame),
    }
    words = [word for word, _ in screen["cards"]]
    return Canvas(
        payload,
        script(SCRIPT),
        style(*STYLE),
        title="Which card is the fish?",
        alt=payload["alt"],
        caption=f"{models['tri']['checkpoint']} beside {models['two_way']['checkpoint']}. {screen['why']}",
        texts={"cards": ", ".join(words), "language": screen["languages"][language]},
    )


def describe(screen: Mapping[str, Any], language: int, frame: int) -> str:
    """The figure in two sentences."""
    right = screen["cards"][screen["right"][language]][0]
    tri, two_way = (screen[name]["frames"][frame] for name in ("tri", "two_way"))
    share = tri["weights"][language][screen["right"][language]] / screen["scale"]
    spread = max(two_way["weights"][language]) / screen["scale"]
    answers = [
        f"{named_card(screen, model['answers'][language])} ({model['probabilities'][language] / screen['scale']:.0%})"
        for model in (tri, two_way)
    ]
    return (
        f"In {screen['languages'][language]} the {screen['asked']} is {right}; after {tri['step']:,} steps three-way "
        f"attention gives that one cell {share:.0%} of its weight and answers {answers[0]}. "
        f"Two-way attention gives no word more than {spread:.0%} and answers {answers[1]}."
    )


def named_card(screen: Mapping[str, Any], answer: int) -> str:
    """The word on the card of a colour; the colour where no card has it."""
    colour = screen["colours"][answer]
    return _by_colour(screen["cards"]).get(colour, f"{colour}, which is on no card")


def _by_colour(cards: Sequence[Sequence[str]]) -> dict[str, str]:
    return {colour: word for word, colour in cards}
