"""Interventions: against roles made of the edited texts, and tokens that are dropped from tensors instead of masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.support.analysis_checkpoints import MECHANISMS, TASK_NAMES, examples, use_checkpoints
from triattn_core.analysis.intervention import edits
from triattn_core.analysis.intervention import interventions as what_if
from triattn_core.analysis.intervention.batched_variants import (
    outputs_without,
    removal_masks,
    run_query,
    word_positions,
)
from triattn_core.analysis.maps.compare import difference, two_way_map
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import ConfigError, InputError
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain
from triattn_core.models.encoder import Encoded


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


def slow(bundle, roles, taken: dict[str, list[int]], read: bool) -> torch.Tensor:
    """Outputs with tokens dropped: cell by cell the mean of the vectors that are left, cells without one left out."""
    encoder, special = bundle.encoder, bundle.tokenizer.special
    none = not set(word_positions(roles.context)) - set(taken.get("context", ()))

    def bert(model, ids, types, hidden):
        seen = torch.tensor([[i not in hidden for i in range(len(ids))]]).long()
        out = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types]), attention_mask=seen)
        return out.last_hidden_state[0], out.pooler_output

    def states(role, vectors, own, hidden):
        kept = [[i for i in range(*run) if i not in hidden] for run in role.runs]
        rows = [torch.stack([vectors[i] for i in run]).mean(0) for run in kept if run]
        owns = [torch.stack([own[i] for i in run]).mean(0) for run in kept if run] if own is not None else None
        size = vectors.shape[1]
        stacked = torch.stack(rows) if rows else torch.zeros(0, size)
        own_states = None if owns is None else (torch.stack(owns) if owns else torch.zeros(0, size))[None]
        return States(stacked[None], torch.ones(1, len(rows), dtype=torch.bool), own_states)

    with torch.no_grad():
        context, out = roles.context, set(taken.get("context", ()))
        joined, pooled = bert(encoder.joint, context.ids, context.types, set() if read else out)
        sides = []
        for name in ("query", "key"):
            role, hidden = getattr(roles, name), set(taken.get(name, ()))
            ids = (special["cls"], *role.ids, special["sep"])
            vectors, _ = bert(encoder.alone, ids, [0] * len(ids), {i + 1 for i in hidden})
            lost = out | (set(range(len(context))) if none else set())
            own = [torch.zeros_like(joined[0]) if at in lost else joined[at] for at in role.positions]
            sides.append(states(role, vectors[1:-1], own, hidden))
        everything = set(range(len(context)))
        around = states(context, joined, None, everything if none else out)
        return bundle.model(Encoded(*sides, around, pooled))[0]


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("task", TASK_NAMES)
def test_what_is_masked_is_as_if_it_were_not_there(task, mechanism, read):
    bundle = load(f"{task}-{mechanism}")
    for example in examples(task):
        roles = run_query(bundle, example).roles
        some = word_positions(roles.context)
        variants = [[], some[:1], some[::2], some[1::2], some]  # cells lose some of their tokens, and all
        masks = removal_masks(roles, variants, everywhere=False)
        outputs = outputs_without(bundle, roles, masks, read)
        torch.testing.assert_close(outputs[0], bundle.logits(collate([roles], bundle.tokenizer))[0])
        for row, taken in enumerate(variants):
            torch.testing.assert_close(
                outputs[row], slow(bundle, roles, {"context": taken}, read), rtol=1e-4, atol=1e-5
            )


@pytest.mark.parametrize("task", TASK_NAMES)
def test_tokens_are_gone_from_query_and_key_too(task):
    bundle = load(f"{task}-tri")
    roles = run_query(bundle, examples(task)[0]).roles
    some = word_positions(roles.context)
    variants = [some[::2], some[1:], list(roles.query.positions)]
    outputs = outputs_without(bundle, roles, removal_masks(roles, variants))
    for row, taken in enumerate(variants):
        by_role = {n: [i for i, at in enumerate(getattr(roles, n).positions) if at in taken] for n in ("query", "key")}
        expected = slow(bundle, roles, {"context": taken, **by_role}, False)
        torch.testing.assert_close(outputs[row], expected, rtol=1e-4, atol=1e-5)


def ids(roles):
    return [getattr(roles, name).ids for name in ("query", "key", "context")]


def cut(bundle, example, option: int = 0):
    return bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0][option]


@pytest.mark.parametrize("task", TASK_NAMES)
def test_query_and_key_keep_their_place_in_an_edited_context(task):
    """Each token still stands where its position says, in the reordered, the swapped and the original sequence."""
    bundle, (example, other) = load(f"{task}-cbi"), examples(task)
    roles, texts = cut(bundle, example), bundle.task.texts(example, 0)
    names = edits.unit_names(roles.context, texts, "turns")
    order = list(dict.fromkeys(filter(None, names)))[::-1]
    variants = [edits.reorder_units(roles, names, order, bundle.config.limits)]
    variants += [edits.swap_context(roles, cut(bundle, other), bundle.config.limits)] if task != "pairs" else []
    for new in variants:
        assert new.context.ids != roles.context.ids and new.context.positions == tuple(range(len(new.context)))
        for role, old in ((new.query, roles.query), (new.key, roles.key)):
            assert [new.context.ids[at] for at in role.positions] == list(role.ids) == list(old.ids)


def test_edited_dialogues_are_those_of_edited_turns():
    bundle, (example, other) = load("dialogue-tri"), examples("dialogue")
    limits, turns = bundle.config.limits, list(example.history)
    roles = cut(bundle, example)
    names = edits.unit_names(roles.context, bundle.task.texts(example, 0), "turns")
    order = list(dict.fromkeys(filter(None, names)))
    assert order == [f"turn {i + 1}" for i in range(len(turns))] + ["response"]
    new = edits.reorder_units(roles, names, [order[1], order[0], *order[2:]], limits)
    assert ids(new) == ids(cut(bundle, replace(example, history=(turns[1], turns[0], *turns[2:]))))
    text = "who play the film ?"
    new = edits.replace_tokens(roles, edits.unit_positions(names, ["turn 1"]), text, bundle.tokenizer, limits)
    expected = cut(bundle, replace(example, history=(text, *turns[1:])))
    assert ids(new) == ids(expected) and new.query.positions == expected.query.positions
    assert new.context.cells == expected.context.cells
    new = edits.swap_context(roles, cut(bundle, other), limits)
    assert ids(new) == ids(cut(bundle, replace(example, history=(*other.history[:-1], turns[-1]))))
    assert set(new.context.texts) == {"", f"turn.{len(turns)}", "response"} | {
        f"other.turn.{i + 1}" for i in range(len(other.history) - 1)
    }


def test_tokens_and_sentences_can_be_reordered():
    bundle, example = load("reading-tri"), examples("reading")[0]
    roles, texts = cut(bundle, example), bundle.task.texts(example, 0)
    names = edits.unit_names(roles.context, texts, "tokens")
    order = [name for name in names if name]
    new = edits.reorder_units(roles, names, order[::-1], bundle.config.limits)
    assert new.context.special == roles.context.special
    kept = [i for i, special in enumerate(roles.context.special) if not special]
    assert [new.context.ids[i] for i in kept] == [roles.context.ids[i] for i in kept][::-1]


@pytest.mark.parametrize("task", TASK_NAMES)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_beside_the_original(task, mechanism):
    """The original is what `explain` says; maps of both can be subtracted; change and flip are those of the numbers."""
    bundle, (example, other) = load(f"{task}-{mechanism}"), examples(task)
    prediction, trace = explain(bundle, example)
    first = next(name for name in edits.unit_names(cut(bundle, example).context, trace.texts, "turns") if name)
    for result in (
        what_if.remove(bundle, example, [first]),
        what_if.mask(bundle, example, [first]),
        what_if.replace(bundle, example, [first]),
        what_if.replace(bundle, example, [first], text="big film"),
        what_if.swap(bundle, example, other),
    ):
        assert result.before.prediction.best == prediction.best and result.before.prediction.option == prediction.option
        assert result.before.prediction.probabilities == pytest.approx(prediction.probabilities, abs=1e-5)
        best = prediction.probabilities[prediction.best]
        assert result.before.log_odds == pytest.approx(np.log(best / (1 - best)), abs=1e-4)
        after = result.after.prediction.probabilities[prediction.best]
        assert result.change == pytest.approx(np.log(after / (1 - after)) - result.before.log_odds, abs=1e-4)
        assert result.flipped == (np.argmax(result.after.prediction.probabilities) != prediction.best)
        for name, site in result.before.trace.sites.items():
            np.testing.assert_allclose(site.values, trace.sites[name].values, atol=1e-5)
            moved = difference(two_way_map(result.after.trace.sites[name]), two_way_map(site))
            assert moved.shape == two_way_map(site).shape
    if mechanism == "bi":
        assert what_if.mask(bundle, example, [first]).change == pytest.approx(0, abs=1e-6)


def test_an_emptied_context_falls_back_to_bi_and_says_so():
    bundle, example = load("pairs-tri"), examples("pairs")[0]
    result = what_if.mask(bundle, example, ["sentence A", "sentence B"])
    assert result.notes == ("The context is empty: Tri-Attention falls back to Bi-Attention.",)
    roles = cut(bundle, example)
    with torch.inference_mode(), recording() as record:
        encoded = bundle.encoder(collate([roles], bundle.tokenizer))
        none = States(encoded.context.vectors[:, :0], encoded.context.keep[:, :0])
        bundle.model(replace(encoded, context=none))
    for name, site in result.after.trace.sites.items():
        assert site.dims == ("head", "query", "key")
        np.testing.assert_allclose(site.values, record.sites[name].tensor[0, ..., 0], atol=1e-6)
    weights = result.after.trace.sites["layer.0/a_over_b/weight"]
    assert weights.attrs["sums_over"] == "key" and np.allclose(weights.sum("key"), 1)
    assert what_if.mask(bundle, example, ["sentence A"]).notes == ()
    assert what_if.mask(load("pairs-bi"), example, ["sentence A", "sentence B"]).notes[0].endswith("reads none.")


def test_a_unit_is_gone_in_every_option_and_an_option_s_own_token_in_one():
    bundle, example = load("dialogue-tri"), examples("dialogue")[0]
    asked = run_query(bundle, example, 2)
    places = [
        edits.unit_positions(edits.unit_names(option.context, {}, "turns"), ["turn 1"]) for option in asked.options
    ]
    outputs = [float(slow(bundle, option, {"context": at}, False)) for option, at in zip(asked.options, places)]
    expected = torch.tensor(outputs).softmax(0)
    result = what_if.remove(bundle, example, ["turn 1"], option=2)
    assert result.after.prediction.probabilities == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.before.prediction.option == 2
    own = asked.roles.key.positions[1]
    outputs = asked.scores.tolist()
    outputs[2] = float(slow(bundle, asked.roles, {"context": [own]}, False))
    result = what_if.remove(bundle, example, [f"token {own}"], "tokens", option=2)
    expected = torch.tensor(outputs).softmax(0)
    assert result.after.prediction.probabilities == pytest.approx(expected.tolist(), abs=1e-5)


def test_what_cannot_be_done_is_one_line():
    bundle, (example, other) = load("dialogue-tri"), examples("dialogue")
    for call, message in (
        (lambda: what_if.remove(bundle, example, ["turn 99"]), "There is no 'turn 99' in the context; did you mean"),
        (lambda: what_if.remove(bundle, example, []), "Nothing is chosen"),
        (lambda: what_if.mask(bundle, example, ["turn 1"], "turn"), "cannot take 'turn' of the context; did you mean"),
        (lambda: what_if.reorder(bundle, example, ["turn 1"]), "An order names each of the"),
        (lambda: what_if.replace(bundle, example, ["turn 1"], text="big " * 99), "The replacement is too long"),
        (lambda: what_if.replace(bundle, example, ["turn 1"], text="\u200b"), "The replacement has no character"),
        (lambda: what_if.remove(bundle, example, ["turn 1"], option=9), "There is no candidate 10: there are 4"),
    ):
        with pytest.raises(InputError, match=message) as error:
            call()
        assert "\n" not in str(error.value)
    sentences = replace(bundle, model=torch.nn.Identity())
    with pytest.raises(ConfigError, match="models that read query, key and context"):
        what_if.swap(sentences, example, other)
