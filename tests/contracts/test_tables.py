"""Promises that every mechanism keeps with every relevance and every contextual value: walks the tables."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from triattn_core.attention import MECHANISMS, tri
from triattn_core.attention.contextual_value import VALUES
from triattn_core.attention.states import States
from triattn_core.attention.tap import keep_weights, recording
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.trace.axes import AXES, QUANTITIES
from triattn_core.trace.site import Site

HERE = Site(role="here")
HIDDEN, HEADS, N, I, J = 22, 2, 5, 7, 13
EVERY = [(name, similarity, None) for name in MECHANISMS for similarity in SIMILARITIES]
EVERY += [("tri", similarity, value) for similarity in SIMILARITIES for value in VALUES]
pytestmark = pytest.mark.parametrize("combination", EVERY, ids=lambda one: "-".join(map(str, one)))


@pytest.fixture(autouse=True)
def without_cubes(monkeypatch):
    """However small they are, so that every form is tried."""
    monkeypatch.setattr(tri, "WORTH", 0)


def build(combination: tuple[str, str, str], seed: int = 1) -> torch.nn.Module:
    name, similarity, value = combination
    torch.manual_seed(seed)
    return MECHANISMS[name](HIDDEN, HEADS, similarity, value).eval()


def sequences() -> list[States]:
    """A batch of four: whole; padded; without a real context token; without a real key, or context."""
    draw = torch.Generator().manual_seed(2)
    vectors = [torch.randn(4, size, HIDDEN, generator=draw) for size in (N, I, J)]
    keeps = [torch.ones(4, size, dtype=torch.bool) for size in (N, I, J)]
    keeps[0][1, 3:] = keeps[1][1, 4:] = keeps[2][1, 9:] = keeps[2][2] = keeps[1][3] = keeps[2][3] = False
    owns = [torch.randn(4, size, HIDDEN, generator=draw) for size in (N, I)]
    return [States(vector, keep, own) for vector, keep, own in zip(vectors, keeps, [*owns, None])]


@torch.no_grad()
def test_weights_sum_to_one_over_what_they_claim(combination):
    query, key, context = sequences()
    with recording() as record:
        build(combination)(query, key, context, Site(layer=0, role="a_over_b"))
    assert set(map(str, record.sites)) == {"layer.0/a_over_b/relevance", "layer.0/a_over_b/weight"}
    keys = I + J if combination[0] == "bi_joint" else I
    sizes = {"head": HEADS, "query": N, "key": keys, "context": J}
    for site, tapped in record.sites.items():
        assert site.quantity == tapped.quantity
        assert tapped.quantity in QUANTITIES
        assert set(tapped.axes) <= set(AXES)
        assert tapped.tensor.shape == (4, *(sizes[axis] for axis in tapped.axes))
        assert tapped.tensor.isfinite().all()
        assert not tapped.tensor.requires_grad
    tapped = record.sites["layer.0/a_over_b/weight"]
    assert tapped.sums_over == tuple(axis for axis in tapped.axes if axis in ("key", "context"))
    total = tapped.tensor.sum([1 + tapped.axes.index(axis) for axis in tapped.sums_over])
    torch.testing.assert_close(total[:3], torch.ones_like(total[:3]))
    assert torch.count_nonzero(tapped.tensor[3]) == 0  # nothing to attend to
    assert (tapped.tensor >= 0).all()
    keep = torch.cat([key.keep, context.keep], 1) if tapped.roles else key.keep
    hidden = tapped.tensor.movedim(1 + tapped.axes.index("key"), 1)[~keep]
    assert torch.count_nonzero(hidden) == 0


@torch.no_grad()
def test_what_is_masked_cannot_matter(combination):
    module = build(combination)
    query, key, context = sequences()
    plain = module(query, key, context, HERE)
    loud = [
        replace(states, **{name: torch.where(states.keep[..., None], getattr(states, name), 1e3) for name in names})
        for states, names in ((query, ("vectors", "own")), (key, ("vectors", "own")), (context, ("vectors",)))
    ]
    output = module(query, *loud[1:], HERE)
    torch.testing.assert_close(output[query.keep], plain[query.keep], rtol=0, atol=1e-6)
    # A padded query does not disturb the others.
    torch.testing.assert_close(module(*loud, HERE)[query.keep], plain[query.keep], rtol=0, atol=1e-6)


@torch.no_grad()
def test_padding_cannot_matter(combination):
    """An example alone gives what it gives in a padded batch."""
    module = build(combination)
    query, key, context = sequences()
    together = module(query, key, context, HERE)[1, :3]
    alone = module(
        States(query.vectors[1:2, :3], query.keep[1:2, :3], query.own[1:2, :3]),
        States(key.vectors[1:2, :4], key.keep[1:2, :4], key.own[1:2, :4]),
        States(context.vectors[1:2], context.keep[1:2]),
        HERE,
    )[0]
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-6)


def test_recording_does_not_change_the_output_or_the_gradients(combination):
    """Without a record the cube may be left out: that is another way to the same numbers."""
    module = build(combination)
    states = sequences()
    results = []
    for wanted in (lambda site: False, lambda site: True, keep_weights):
        module.zero_grad()
        with recording(wanted) as record:
            output = module(*states, HERE)
        (output * torch.arange(output.numel()).view_as(output) / output.numel()).sum().backward()
        results.append(
            (output, {name: parameter.grad.clone() for name, parameter in module.named_parameters()}, record.sites)
        )
    (plain, slopes, none), (recorded, same_slopes, every), (_, _, some) = results
    torch.testing.assert_close(plain, recorded, rtol=0, atol=1e-5)
    for name, slope in slopes.items():
        torch.testing.assert_close(slope, same_slopes[name], rtol=1e-4, atol=1e-4, msg=lambda m, n=name: f"{n}: {m}")
    assert (
        not none
        and set(map(str, some)) == {"here/weight"}
        and set(map(str, every)) == {"here/weight", "here/relevance"}
    )
    assert torch.equal(some["here/weight"].tensor, every["here/weight"].tensor)


def test_nothing_to_attend_to_gives_zeros(combination):
    """No key at all, in a batch of nothing else: zeros, recorded or not."""
    query, key, context = sequences()
    none = replace(key, vectors=key.vectors[:, :0], keep=key.keep[:, :0], own=key.own[:, :0])
    if combination[0] == "bi_joint":
        context = replace(context, keep=torch.zeros_like(context.keep))
    module = build(combination)
    for wanted in (lambda site: False, lambda site: True):
        with recording(wanted):
            output = module(query, none, context, HERE)
        assert output.shape == (4, N, HIDDEN * module.vectors) and torch.count_nonzero(output) == 0


def needs_no_cube(module) -> bool:
    """Whether Tri-Attention of this relevance and value forms no cube."""
    if not hasattr(module, "mix"):
        return False
    is_product = hasattr(module.similarity, "factors") and hasattr(module.mix, "factors")
    goes_by_tree = any(hasattr(module.mix, name) for name in ("factors", "terms", "doubled"))
    return is_product or (hasattr(module.similarity, "branches") and goes_by_tree)


@torch.no_grad()
def test_the_cube_is_made_only_to_be_shown(combination, monkeypatch):
    """Where the relevance is made of products or tree-shaped, and nobody records."""
    module = build(combination)
    if not needs_no_cube(module):
        pytest.skip("a relevance or a value of another form: the cube is its only way")
    asked = []
    three = module.similarity.three
    monkeypatch.setattr(module.similarity, "three", lambda *given: asked.append(1) or three(*given))
    module(*sequences(), HERE)
    assert not asked
    with recording(lambda site: site == Site(role="elsewhere", quantity="weight")):
        module(*sequences(), HERE)
    assert not asked
    with recording(lambda site: site == HERE.with_quantity("weight")):
        module(*sequences(), HERE)
    assert asked


def test_a_batch_that_is_cut_into_parts_gives_the_same(combination, monkeypatch):
    """A large batch goes through Tri-Attention in parts; gradients and rows without context too."""
    module, states = build(combination), sequences()
    if combination[0] != "tri" or needs_no_cube(module):
        pytest.skip("cuts no batch, or cuts it elsewhere (test_factored)")
    whole = module(*states, HERE)
    slopes = torch.autograd.grad(whole.square().sum(), list(module.parameters()), allow_unused=True)
    sizes = []
    attend = module.attend
    monkeypatch.setattr(module, "attend", lambda *given, **more: sizes.append(len(given[0])) or attend(*given, **more))
    monkeypatch.setattr(tri, "LARGEST", 2 * HEADS * N * I * J)  # two rows of a cube
    cut = module(*states, HERE)
    assert sizes == [4, 2, 2]
    torch.testing.assert_close(cut, whole, rtol=0, atol=1e-6)
    again = torch.autograd.grad(cut.square().sum(), list(module.parameters()), allow_unused=True)
    for ours, expected in zip(again, slopes):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_threads_record_their_own(combination):
    """The model is shared by all sessions: what one records another neither sees nor loses."""
    module = build(combination)
    query, key, context = sequences()
    sites_by_thread: dict[int, tuple[int, list]] = {}

    def session(number: int) -> None:
        with recording() as record, torch.no_grad():
            for step in range(3):
                module(replace(query, vectors=query.vectors * (number + 1)), key, context, Site("", number, "", step))
        sites_by_thread[number] = (len(record.sites), [site.layer for site in record.sites])

    threads = [threading.Thread(target=session, args=(number,)) for number in range(2)]
    with recording() as outer:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not outer.sites
    assert all(sites_by_thread[number] == (6, [number] * 6) for number in range(2))


@torch.no_grad()
def test_save_and_load_changes_nothing(combination, tmp_path):
    module = build(combination)
    save_file(module.state_dict(), tmp_path / "model.safetensors")
    other = build(combination, seed=99)
    states = sequences()
    with_parameters = not torch.equal(module(*states, HERE), other(*states, HERE))
    assert with_parameters, "two seeds should differ, or this test shows nothing"
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(module(*states, HERE), other(*states, HERE))


def test_every_weight_learns(combination):
    """No parameter is cut off from the output: each gets a gradient that is not zero."""
    module = build(combination)
    module(*sequences(), HERE).square().sum().backward()
    # A shift common to all keys cancels in a softmax, so a bias may rightly learn nothing.
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert name.endswith("bias") or parameter.grad.abs().max() > 1e-8, name
