"""A toy mechanism of the fourth order: recorded, folded, and opened as slices, with no line about it in the library."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.support.figure_arrays import sent_array
from triattn_core import draw
from triattn_core.analysis.maps.head_atlas import measure_heads
from triattn_core.analysis.maps.head_profiles import profile_table
from triattn_core.attention.tap import recording, tap
from triattn_core.errors import TraceError
from triattn_core.inference.explain import sites
from triattn_core.text.roles import Role
from triattn_core.text.texts import Texts
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axes import AXES
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.trace.text_units import fold_axis
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import cube
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest

SITE = Site(layer=0, role="self", quantity="weight")
SHARED = ("key", "context", "witness")
WORDS = ["Is", "it", "red", "?"]
TEXT, N, HEADS, D = "Is it red?", len(WORDS), 2, 3
STARTS = [0, 3, 6, 9]


class FourWay(nn.Module):
    """softmax over (i, j, l) of sum_d q[n,d] k[i,d] c[j,d] w[l,d], in each head."""

    def __init__(self) -> None:
        super().__init__()
        self.projections = nn.Parameter(torch.randn(4, HEADS, D, D, generator=torch.Generator().manual_seed(5)) / 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, c, w = torch.einsum("bnd,rhde->rbhne", x, self.projections)
        relevance = torch.einsum("bhne,bhie,bhje,bhle->bhnijl", q, k, c, w)
        weights = relevance.flatten(3).softmax(-1).view_as(relevance)
        axes = ("head", "query", *SHARED)
        tap(SITE.attention, relevance, axes, "relevance")
        tap(SITE.attention, weights, axes, "weight", SHARED)
        return weights


class OneText(Texts):
    """Every axis is of the one text."""

    def axes(self, site: Site) -> dict[str, Role]:
        return dict.fromkeys(("query", *SHARED), next(iter(self.roles.values())))


@pytest.fixture
def trace(monkeypatch) -> AttentionTrace:
    monkeypatch.setitem(AXES, "witness", "A fourth token, which a toy mechanism scores with the other three.")
    spans = tuple((start, start + len(word)) for start, word in zip(STARTS, WORDS))
    numbers, texts = tuple(range(N)), ("a",) * N
    role = Role(numbers, tuple(WORDS), texts, spans, (False,) * N, numbers, (0,) * N, texts)
    with recording() as record:
        FourWay()(torch.randn(1, N, D, generator=torch.Generator().manual_seed(7)))
    return AttentionTrace(sites(record, OneText({"a": role}), {"a": TEXT}), {"a": TEXT}, {"mechanism": "four"})


def test_it_is_recorded_with_its_axes(trace, tmp_path):
    weights = trace[str(SITE)]
    assert weights.dims == ("head", "query", *SHARED) and trace.sum_axes(SITE) == list(SHARED)
    np.testing.assert_allclose(weights.sum(SHARED), 1, rtol=1e-5)
    assert weights["witness_token"].values.tolist() == WORDS
    trace.save(tmp_path / "four.nc")
    assert AttentionTrace.load(tmp_path / "four.nc")[str(SITE)].rename(None).identical(weights)


def test_it_folds_along_each_axis(trace):
    weights = trace.site(SITE).values.astype(float)
    groups = [[0, 1, 2, 3]]  # one phrase
    for place, axis in enumerate(("query", *SHARED), 1):
        folded = fold_axis(trace, "phrases", axis, ("Is it red?",)).site(SITE)
        assert folded.sizes[axis] == len(groups)
        expected = weights.take(groups[0], place).sum(place) if axis in SHARED else weights.mean(place)
        np.testing.assert_allclose(folded.isel({axis: 0}), expected, rtol=1e-5)


@pytest.mark.parametrize("position", [None, 0, 3])
def test_it_opens_as_slices(trace, position):
    weights = trace.site(SITE).values.astype(float)
    view = draw("cube", trace, head=2, site=SITE, **({} if position is None else {"slices": (position,)}))
    if position is None:
        position = int(weights[1].sum((0, 1, 2)).argmax())  # where most weight is
    assert view.settings.slices == (position,) and len(view.table) == N**3
    row = view.table.iloc[0]
    assert row["weight"] == pytest.approx(weights[1, :, :, :, position].max(), rel=1e-5)
    assert f"witness {WORDS[position]}" in view.figure.payload["caption"]
    assert sent_array(view.figure.payload, 0, "of") == N * N  # keys × contexts
    assert view.figure.payload["mark"].startswith("mean ")  # an even share is that of a softmax
    with pytest.raises(TraceError, match="witness 9 is outside 0…3"):
        draw("cube", trace, head=2, site=SITE, slices=(9,))
    alone, listed = (draw("cube", trace, head=2, site=SITE, slices=one) for one in (1, (1,)))
    assert alone.settings.slices == (1,) and alone.figure.payload == listed.figure.payload


def test_a_slice_knows_what_it_leaves_out(trace):
    weights = trace.site(SITE).values.astype(float)[0]
    shown = Distribution(trace, Choice(SITE, index=(("head", 0), ("witness", 1))))
    assert shown.axes == ("key", "context") and shown.sliced == ("witness",) and not shown.normalised
    mass = np.mean([sum(weights[n, i, j, 1] for i, j in itertools.product(range(N), repeat=2)) for n in range(N)])
    assert shown.mass == pytest.approx(mass, rel=1e-6)
    assert cell.axis_check(shown) == (
        f"A slice: a query's weights sum to 1 over key × context × witness; this one holds {100 * mass:.3g} %."
    )
    assert strongest(shown)["share"].sum() == pytest.approx(1)
    assert "A slice" in cube.figure(shown).payload["inspector"]["check"]


def test_maps_and_measures_sum_the_rest(trace):
    weights = trace.site(SITE).values.astype(float)
    mapped = draw("map", trace, head=1).figure.payload
    assert mapped["panels"][0]["note"] == "summed over context, summed over witness"
    table, flat = measure_heads(trace), weights.sum((3, 4))
    entropy = -(flat * np.log2(flat)).sum(2).mean(1)
    np.testing.assert_allclose(table["entropy"], entropy, rtol=1e-5)
    assert table["three_way"].between(0, 1).all()
    np.testing.assert_allclose(np.stack(profile_table(trace)["to_context"]), weights.sum((2, 4)).mean(1), rtol=1e-5)
    read = TokenGrouping.of(key="phrases", phrases=("Is it",)).trace(trace)
    assert read.site(SITE).sizes["key"] < N and read.site(SITE).sizes["witness"] == N
