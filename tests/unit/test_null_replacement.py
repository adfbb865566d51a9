"""Attention replaced: uniform, shuffled and untrained weights by hand, for who asked and for nobody else."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from tests.support.analysis_checkpoints import examples, use_checkpoints
from triattn_core.analysis.intervention import null_replacement
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.attention import MECHANISMS, tri
from triattn_core.attention.states import States, join_heads, split_heads
from triattn_core.attention.tap import recording
from triattn_core.attention.weight_override import is_overridden, replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import InputError
from triattn_core.inference.batch import collate
from triattn_core.trace.site import Site

HIDDEN, HEADS, N, I, J = 14, 2, 3, 5, 7


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


def drawn(*sizes: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(sizes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("similarity", ["additive", "scaled_dot"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_mechanism_goes_on_with_the_weights_it_is_given(mechanism, similarity, monkeypatch):
    monkeypatch.setattr(tri, "WORTH", 0)  # products would go without weights
    torch.manual_seed(3)
    module = MECHANISMS[mechanism](HIDDEN, HEADS, similarity).double()
    query, key, context = (
        States(drawn(2, n, HIDDEN, seed=n), torch.ones(2, n, dtype=torch.bool), drawn(2, n, HIDDEN, seed=n + 1))
        for n in (N, I, J)
    )
    keys = I + J if mechanism == "bi_joint" else I
    given = drawn(2, HEADS, N, I, J) if mechanism == "tri" else drawn(2, HEADS, N, keys)
    asked = []

    def change(site, weights, keeps):
        asked.append((site, weights.shape, {name: tuple(keep.shape) for name, keep in keeps.items()}))
        return given

    with replacing(change), torch.no_grad():
        output = module(query, key, context, Site(role="here"))
        seen = threading.Thread(target=lambda: asked.append(is_overridden()))
        seen.start()
        seen.join()
    keeps = {"query": (2, N), "key": (2, keys)} | ({"context": (2, J)} if mechanism == "tri" else {})
    assert asked == [(Site.parse("here/weight"), given.shape, keeps), False] and not is_overridden()
    states = {
        "cbi": lambda: key.vectors + key.own,
        "bi_joint": lambda: torch.cat(
            [key.vectors + module.role[0], module.context(context.vectors) + module.role[1]], 1
        ),
    }.get(mechanism, lambda: key.vectors)()
    value = split_heads(module.value(states), HEADS)
    if mechanism == "tri":
        expected = join_heads(module.mix(given, value, split_heads(module.context(context.vectors), HEADS)))
    else:
        expected = join_heads(given @ value)
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("axis", ["key", "context"])
def test_along_an_axis_all_other_mass_stays(axis):
    dim, weights, others = null_replacement.DIMS[axis], drawn(2, HEADS, N, I, J), drawn(2, HEADS, N, I, J, seed=1)
    others[1, 0, 2] = 0
    result = null_replacement.redistribute(weights, others, dim)
    torch.testing.assert_close(result.sum(dim), weights.sum(dim))
    for b, h, n, i, j in np.ndindex(2, HEADS, N, I, J):
        at = (b, h, n, slice(None), j) if axis == "key" else (b, h, n, i, slice(None))
        total = others[at].sum()
        expected = weights[at].sum() * others[b, h, n, i, j] / total if total else weights[b, h, n, i, j]
        torch.testing.assert_close(result[b, h, n, i, j], expected)


@pytest.mark.parametrize("axis", ["key", "context"])
def test_shuffled_weights_are_the_same_ones_elsewhere_and_masks_stay(axis):
    dim = null_replacement.DIMS[axis]
    weights, keep = drawn(3, HEADS, N, 11, 13), torch.ones(3, 1, 1, 11, 13, dtype=torch.bool)
    keep = keep.narrow(7 - dim, 0, 1)  # along the axis alone
    keep.select(dim, 2)[:] = False
    result = null_replacement.shuffle(weights, keep, dim, torch.Generator().manual_seed(1))
    torch.testing.assert_close(result.select(dim, 2), weights.select(dim, 2))
    torch.testing.assert_close(result.sort(dim).values, weights.sort(dim).values)
    assert (result != weights).double().mean() > 0.7
    together = weights.sum(7 - dim).sort(-1).values  # whole slices move, so that what they sum to moves with them
    torch.testing.assert_close(result.sum(7 - dim).sort(-1).values, together)
    places = torch.arange(weights.shape[dim]).view([-1 if d == dim else 1 for d in range(5)]).expand_as(weights)
    where = null_replacement.shuffle(places, keep, dim, torch.Generator().manual_seed(1))
    for at in range(3):  # another permutation for each row, head and query
        assert (where.select(at, 0) != where.select(at, 1)).any()


def site(outcome, name: str) -> np.ndarray:
    return outcome.trace.sites[f"layer.0/{name}/weight"].values


@pytest.mark.parametrize("axis", ["key", "context"])
def test_uniform_attention_of_a_checkpoint(axis):
    bundle, example = load("pairs-tri"), examples("pairs")[0]
    result = null_replacement.run_null_test(bundle, example, "uniform", axis)
    at = {"key": 2, "context": 3}[axis]
    for direction in ("a_over_b", "b_over_a"):
        mean, after = site(result.before, direction).mean(at, keepdims=True), site(result.after, direction)
        np.testing.assert_allclose(after, np.broadcast_to(mean, after.shape), atol=1e-6)
    assert result.log_odds.shape == (1,) and result.log_odds[0] == pytest.approx(result.after.log_odds, abs=1e-5)
    assert result.changes[0] == pytest.approx(result.after.log_odds - result.before.log_odds, abs=1e-5)
    assert abs(result.changes[0]) > 1e-6


@pytest.mark.parametrize("how", ["product of marginals", "even"])
def test_a_cube_without_its_third_order_and_one_of_even_weights(how):
    result = null_replacement.run_null_test(load("pairs-tri"), examples("pairs")[0], how)
    for direction in ("a_over_b", "b_over_a"):
        before, after = site(result.before, direction), site(result.after, direction)
        marginals = np.einsum("hni,hnj->hnij", before.sum(3), before.sum(2))
        even = (before > 0) / (before > 0).sum((2, 3), keepdims=True)
        np.testing.assert_allclose(after, marginals if how == "product of marginals" else even, atol=1e-6)
        assert np.abs(after - before).max() > 1e-5 and result.log_odds.shape == (1,)


@pytest.mark.parametrize("name", ["pairs-bi", "pairs-tri", "dialogue-cbi", "reading-tri"])
@pytest.mark.parametrize("how", ["shuffled", "untrained"])
def test_many_draws_are_as_each_alone(name, how, monkeypatch):
    bundle, example = load(name), examples(name.split("-")[0])[0]
    result = null_replacement.run_null_test(bundle, example, how, draws=7, seed=2)
    assert result.log_odds.shape == result.flipped.shape == (7,) and len(set(result.log_odds.round(6))) > 3
    again = null_replacement.run_null_test(bundle, example, how, draws=7, seed=2)
    np.testing.assert_allclose(again.log_odds, result.log_odds, atol=1e-6)
    if how == "untrained":
        pairs = lambda rows, *_: (slice(i, i + 2) for i in range(0, rows, 2))  # noqa: E731
        monkeypatch.setattr(null_replacement, "row_slices", pairs)
        parts = null_replacement.run_null_test(bundle, example, how, draws=7, seed=2)
        np.testing.assert_allclose(parts.log_odds, result.log_odds, atol=1e-5)
    other = null_replacement.run_null_test(bundle, example, how, draws=7, seed=20)
    assert np.abs(other.log_odds - result.log_odds).max() > 1e-6


def test_untrained_attention_is_that_of_the_same_network_newly_drawn():
    bundle, example = load("pairs-bi"), examples("pairs")[0]
    result = null_replacement.run_null_test(bundle, example, "untrained", draws=1, seed=5)
    state = torch.get_rng_state()
    torch.manual_seed(5)
    fresh = bundle.kind.model(bundle.config, bundle.encoder.hidden).eval()
    torch.set_rng_state(state)
    with torch.inference_mode(), recording() as record:
        fresh(bundle.encoder(collate([run_query(bundle, example).roles], bundle.tokenizer)))
    expected = record.sites["layer.0/a_over_b/weight"].tensor[0].numpy()
    np.testing.assert_allclose(site(result.after, "a_over_b"), expected, atol=1e-6)


def test_drawing_leaves_the_generator_of_others_alone():
    bundle = load("pairs-bi")
    torch.manual_seed(9)
    expected = torch.rand(3)
    torch.manual_seed(9)
    null_replacement.run_null_test(bundle, examples("pairs")[0], "untrained", draws=2)
    assert torch.equal(torch.rand(3), expected)


def test_what_cannot_be_replaced_is_one_line():
    bundle, example = load("pairs-bi"), examples("pairs")[0]
    with pytest.raises(InputError, match="cannot be replaced by 'uniformly'; did you mean 'uniform'"):
        null_replacement.run_null_test(bundle, example, "uniformly")
    with pytest.raises(InputError, match="pairs-bi are not distributed over 'context'"):
        null_replacement.run_null_test(bundle, example, "uniform", "context")
    with pytest.raises(InputError, match="are not a cube, which alone can become 'even'"):
        null_replacement.run_null_test(bundle, example, "even")


def test_what_is_offered_but_not_written_is_refused_not_shuffled() -> None:
    change = null_replacement.weight_change("sharpened", null_replacement.DIMS["key"], torch.Generator(), dict)
    with pytest.raises(InputError, match="cannot become 'sharpened'"):
        change(
            Site(layer=0, role="a_over_b"), torch.full((1, 2, 3, 5), 0.2), {"key": torch.ones(1, 5, dtype=torch.bool)}
        )
