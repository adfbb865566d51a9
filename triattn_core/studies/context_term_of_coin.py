"""COIN: without its context term, the paraphrase is not recognised ("Context-aware Interaction Network", Eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triattn_core.studies.study import Study
from triattn_core.tasks.pairs import Example
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle


def with_and_without(bundle: Bundle, example: Example) -> tuple:
    """Prediction and trace of the model, and of the same weights with the context term ablated."""
    from triattn_core.analysis.intervention.coin_ablation import explain_ablated
    from triattn_core.inference.explain import explain

    return explain(bundle, example), explain_ablated(bundle, example, ["context"])


def measure_loss(bundles: Sequence[Bundle], example: Example) -> float:
    """P(paraphrase) minus that without the context term, in points."""
    (own, _), (ablated, _) = with_and_without(bundles[0], example)
    return 100 * (own.probabilities[1] - ablated.probabilities[1])


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """Cross-attention of the first block, with and without the context term."""
    site = Site(layer=0, role="a_over_b", quantity="weight")
    results = with_and_without(bundles[0], example)
    return {title: trace.site(site) for title, (_, trace) in zip(("with the context term", "without"), results)}


STUDY = Study(
    order=60,
    title="Is “did not forget” the same as “remembered”?",
    checkpoints=("quora-coin",),
    examples=(
        Example("She did not forget to lock the door.", "She remembered to lock the door.", 1),
        Example("He did not forget to feed the cat.", "He remembered to feed the cat.", 1),
        Example("I did not forget to pay the rent.", "I remembered to pay the rent.", 1),
        Example("They did not forget to close the gate.", "They remembered to close the gate.", 1),
    ),
    measure=measure_loss,
    unit="points",
    reported_value=14.7,
    above=4.0,
    margin=4.0,
    number="P(paraphrase) minus that without the context term",
    about="Before it looks across, COIN gives each word the context of its own sentence.",
    claim=(
        "With that context term ablated the paraphrase loses {value:.1f} points of probability, and here the answer "
        "flips."
    ),
    limits=(
        "It does not tell a paraphrase from its opposite: in “She did not remember to lock the door.” it adds 13.5 "
        "points to the paraphrase as well."
    ),
    refuted=(
        "A pair of the form “did not forget to … / remembered to …” whose probability does not fall when the context "
        "term is ablated."
    ),
    change="Change “forget” to “remember”: the pair is no longer a paraphrase, and the term still favours one.",
    edited=Example("She did not remember to lock the door.", "She remembered to lock the door."),
    page="coin",
    opens={
        "a": "She did not forget to lock the door.",
        "b": "She remembered to lock the door.",
        "checkpoint": "quora-coin",
    },
    show=lambda example: [example.text_a, example.text_b],
    maps=maps,
)
