"""Tri-Attention: a map is meaningful if the answer depends on the attention, and not if the answer bypasses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triattn_core.studies.study import Study
from triattn_core.tasks.pairs import Example
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from triattn_core.checkpoint.bundle import Bundle

SITE = Site(layer=0, role="a_over_b", quantity="weight")


def keys(bundle: Bundle, example: Example) -> xr.DataArray:
    """The weights [head, query, key] of the first layer, A over B, summed over context."""
    from triattn_core.inference.explain import explain

    return explain(bundle, example, lambda site: site == SITE)[1].site(SITE).sum("context")


def bits(array: xr.DataArray) -> np.ndarray:
    """Query information of each head."""
    import torch

    from triattn_core.analysis.maps.batch_information import query_information

    weights = torch.tensor(array.transpose("head", "query", "key").values, dtype=torch.float64)[None]
    return query_information(weights, torch.ones(1, weights.shape[2], dtype=torch.bool))[0].numpy()


def information_gain(bundles: Sequence[Bundle], example: Example) -> float:
    """Query information, mean over heads, of the second model minus that of the first, in bits."""
    first, second = (bits(keys(bundle, example)).mean() for bundle in bundles)
    return float(second - first)


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """For each model, the mean of its heads, as its page opens."""
    titles = ("as published", "through attention")
    return {title: keys(bundle, example).mean("head") for title, bundle in zip(titles, bundles)}


STUDY = Study(
    order=20,
    title="Does it matter which word asks?",
    checkpoints=("quora-tri-published", "quora-tri-living"),
    examples=(
        Example("Can cats eat raw fish?", "Can cats eat raw onions?", 0),
        Example("How do I remove a coffee stain?", "How do I fake a coffee stain?", 0),
        Example("How do I learn to tune a violin?", "How can I learn to tune a violin?", 1),
        Example("Why does bread rise?", "What makes dough swell?", 1),
    ),
    measure=information_gain,
    unit="bits",
    reported_value=1.277,
    above=0.5,
    margin=0.3,
    number="query information, through attention less as published",
    about="As published, part of Tri-Attention's answer bypasses the attention, and every word of A attends alike.",
    claim=(
        "Trained so that the answer must go through the attention, knowing the query word gives "
        "{value:.2g} bits more information about where attention goes than as published."
    ),
    limits=(
        "A more informative map does not mean a better answer: on this pair the model as published is right, the "
        "other wrong."
    ),
    refuted="A pair whose words attend alike in the form whose answer goes through the attention, too.",
    change="Change “onions” to “fish”: both probabilities move, the number hardly does.",
    edited=Example("Can cats eat raw fish?", "Can cats eat raw fish?"),
    page="side_by_side",
    opens={
        "a": "Can cats eat raw fish?",
        "b": "Can cats eat raw onions?",
        "checkpoints": ["quora-tri-published", "quora-tri-living"],
    },
    show=lambda example: [example.text_a, example.text_b],
    maps=maps,
)
