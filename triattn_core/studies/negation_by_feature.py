"""MTSA: one map per head hides that its features attend differently (Shen et al., "Tensorized Self-Attention")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.studies.study import Study
from triattn_core.tasks.sentences import Example
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

LAYER, HEAD = Site(layer=0), 4  # from 0


def tensor(bundle: Bundle, example: Example) -> xr.DataArray:
    """The weights [query, key, feature] of the head."""
    from triattn_core.analysis.maps.mtsa_tensor import head_tensor
    from triattn_core.inference.explain import explain

    weights = head_tensor(explain(bundle, example)[1], LAYER, HEAD).site((LAYER / "tensor").with_quantity("weight"))
    return weights.transpose("query", "key", "feature")


def share_of_not(array: xr.DataArray) -> xr.DataArray:
    """The weight of "not" for the query "is", by feature."""
    query, key = (list(array[f"{axis}_token"].values) for axis in ("query", "key"))
    if "is" not in query or "not" not in key:
        raise InputError("The study needs the words “is” and “not”.")
    return array[query.index("is"), key.index("not")]


def margin_over_head(bundles: Sequence[Bundle], example: Example) -> float:
    """The largest weight of a feature minus the mean of the head, in points."""
    shares = share_of_not(tensor(bundles[0], example))
    return 100 * float(shares.max() - shares.mean())


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """The head's mean over features, and the feature with the largest weight on "not"."""
    array = tensor(bundles[0], example)
    feature = int(share_of_not(array).argmax("feature"))
    return {"head 5, all features": array.mean("feature"), f"feature {feature + 1} alone": array[..., feature]}


STUDY = Study(
    order=40,
    title="Who looks at the negation: a head, or one of its features?",
    checkpoints=("sst5-mtsa",),
    examples=tuple(
        Example(f"The {thing} is not {quality}.")
        for thing, quality in (("film", "good"), ("ending", "convincing"), ("film", "funny"), ("plot", "clever"))
    ),
    measure=margin_over_head,
    unit="points",
    reported_value=28.8,
    above=20.0,
    margin=3.0,
    number="strongest feature minus its head, weight of “is” → “not”",
    about=(
        "Head 5 looks ahead, from “is” to “not”. A map of the head alone hides what MTSA adds: each of its 75 features "
        "has weights of its own."
    ),
    claim="One of them gives “not” {value:.0f} points more of the weight of “is” than the head as a whole.",
    limits=(
        "The largest of 75 is always above their mean: here by 17 to 24 points in five untrained models. The claim "
        "concerns negated praise: all of 40 sentences (ten words of praise, four subjects) are above the untrained "
        "mean. With words such as “bad” (13 points, untrained 18) or “boring” (15, untrained 20) the strongest feature "
        "is no further above its head than an untrained model's. And it is the weight of “not” that is claimed, not "
        "what the model makes of it."
    ),
    refuted=(
        "Ten other words of praise, of which five or more leave the strongest feature no further above its head than "
        "the mean of five untrained models."
    ),
    change=(
        "Change “good” to “bad”: the lead falls to 13 points, no more than untrained models have, and the claim (more "
        "than 20 points) fails there."
    ),
    edited=Example("The film is not bad."),
    page="tensor",
    opens={"checkpoint": "sst5-mtsa", "text": "The film is not good.", "head": "5", "cell": "2.3.71"},
    show=lambda example: [example.text],
    maps=maps,
)
