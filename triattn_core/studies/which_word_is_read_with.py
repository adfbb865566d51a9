"""Tri-Attention: the keys of a word depend on the context word, which no two-way map can show."""

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


def cube(bundle: Bundle, example: Example) -> xr.DataArray:
    """The weights [head, query, key, context] of A over B."""
    from triattn_core.inference.explain import explain

    return explain(bundle, example, lambda site: site == SITE)[1].site(SITE)


def bits(array: xr.DataArray) -> np.ndarray:
    """Context information of each head: I(key; context | query)."""
    import torch

    from triattn_core.analysis.maps.batch_information import context_information

    weights = torch.tensor(array.transpose("head", "query", "key", "context").values, dtype=torch.float64)[None]
    return context_information(weights, torch.ones(1, weights.shape[2], dtype=torch.bool))[0].numpy()


def largest_context_information(bundles: Sequence[Bundle], example: Example) -> float:
    """Context information, in bits, of the head that depends most on the context."""
    return float(bits(cube(bundles[0], example)).max())


def maps(bundles: Sequence[Bundle], example: Example) -> dict[str, xr.DataArray]:
    """Where each word looks when it is read with one of two context words: the slices of that head, each row divided by
    its sum."""
    array = cube(bundles[0], example)
    array = array.isel(head=int(bits(array).argmax()))
    tokens = [str(token) for token in array["context_token"].values]
    unique = [j for j, token in enumerate(tokens) if tokens.count(token) == 1]
    slices = {j: array.isel(context=j, drop=True) for j in (unique[0], unique[-1])}
    return {f"read with “{tokens[j]}”": part / part.sum("key") for j, part in slices.items()}


STUDY = Study(
    order=25,
    title="Does it matter which word is read with it?",
    checkpoints=("quora-tri-living",),
    examples=(
        Example("Which browser can play movies?", "Which browser can download movies?", 0),
        Example("Which programs can open photos?", "Which programs can edit photos?", 0),
        Example("Which app can record songs?", "Which app can play songs?", 0),
        Example("Can my phone play films?", "Can my phone download films?", 0),
    ),
    measure=largest_context_information,
    unit="bits",
    reported_value=0.239,
    above=0.1,
    margin=0.1,
    number="context information, best head",
    about=(
        "Two-way attention has one map. Here the same head, on the same pair, has a different map for every context "
        "word (each row is divided by its sum): “?” attends to “?” or to “Which”."
    ),
    claim="The context word accounts for {value:.2g} of the 1.1 bits of information about where each word attends.",
    limits=(
        "The answer does not depend on it: with the product of the cube's two marginals in its place the model gets no "
        "fewer of 1,000 pairs right (+0.2 points), and it wrongly takes this pair for a paraphrase."
    ),
    refuted=(
        "A pair of whole sentences in which the context word accounts for less than 0.1 bits, or an untrained model "
        "with a head for which it accounts for as much."
    ),
    change=(
        "Change “browser” in B to “shop”: the answer flips (barely), and the context word still decides where words "
        "attend."
    ),
    edited=Example("Which browser can play movies?", "Which shop can download movies?"),
    page="cube",
    opens={
        "a": "Which browser can play movies?",
        "b": "Which browser can download movies?",
        "checkpoint": "quora-tri-living",
        "head": "3",
    },
    control={
        "a": "Which browser can play movies?",
        "b": "Which browser can download movies?",
        "checkpoint": "quora-tri-living",
    },
    show=lambda example: [example.text_a, example.text_b],
    maps=maps,
)
