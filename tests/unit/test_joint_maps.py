"""Maps of Bi-joint, whose keys are followed by context tokens: against loops, and beside other mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.support.analysis_checkpoints import examples, use_living_checkpoints
from triattn_core.analysis.attribution.methods import attribute
from triattn_core.analysis.intervention import interventions
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.intervention.leave_one_out import score_units
from triattn_core.analysis.maps import compare, joint_keys
from triattn_core.analysis.maps.attention_shift import attention_shift
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.explain import explain

TASKS = ("pairs", "dialogue", "reading")


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_living_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["weight", "relevance"])
def test_the_context_is_left_out_or_joined_to_one_key(task, kind):
    _, trace = explain(load(f"{task}-bi_joint"), examples(task)[0])
    site = trace.site(f"layer.0/a_over_b/{kind}")
    part, whole = joint_keys.key_part(site), joint_keys.with_context_key(site)
    roles = site["key_role"].values
    count = int((roles == "key").sum())
    assert 0 < count < len(roles) and part.sizes["key"] == count and whole.sizes["key"] == count + 1
    assert whole.dims == site.dims and whole["key_token"].values[-1] == "context"
    assert "key_role" not in part.coords and whole.attrs == site.attrs
    assert part.attrs == {**site.attrs, "keys_beside": len(roles) - count}
    assert compare.two_way_map(part).attrs["keys_beside"] == len(roles) - count
    for head in range(site.sizes["head"]):
        for query in range(site.sizes["query"]):
            row = site.values[head, query]
            around = [float(value) for value, role in zip(row, roles) if role == "context"]
            expected = math.fsum(around) if kind == "weight" else math.log(math.fsum(map(math.exp, around)))
            assert whole.values[head, query, -1] == pytest.approx(expected, abs=1e-5)
            assert np.array_equal(whole.values[head, query, :-1], row[:count])
            assert np.array_equal(part.values[head, query], row[:count])
    if kind == "weight":
        share = float(np.mean([site.values[h, n, count:].sum() for h in range(2) for n in range(site.sizes["query"])]))
        assert joint_keys.context_share(site) == pytest.approx(share, rel=1e-5) and 0 < share < 1
        assert joint_keys.context_share(site, 1) == pytest.approx(
            float(site.values[1, :, count:].sum(-1).mean()), rel=1e-5
        )
        torch.testing.assert_close(torch.tensor(whole.sum("key").values), torch.ones(site.shape[:2]))


def test_other_sites_are_as_they_are():
    _, trace = explain(load("pairs-tri"), examples("pairs")[0])
    site = trace.site("layer.0/a_over_b/weight")
    assert joint_keys.key_part(site) is site and joint_keys.with_context_key(site) is site
    assert joint_keys.context_share(site) is None


@pytest.mark.parametrize("task", TASKS)
def test_its_key_part_stands_beside_the_map_of_tri(task):
    maps = []
    for name in ("bi_joint", "tri"):
        _, trace = explain(load(f"{task}-{name}"), examples(task)[0], option=0 if task != "pairs" else None)
        maps.append(compare.two_way_map(joint_keys.key_part(trace.site("layer.0/a_over_b/weight"))))
    compare.require_same_tokens(maps)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("mechanism", ["bi_joint", "tri"])
def test_special_tokens_that_are_no_context_are_given_nothing(task, mechanism):
    query = run_query(load(f"{task}-{mechanism}"), examples(task)[0])
    table = attribute(query, ["attention", "rollout"]).table
    around = table[table["role"] == "context"]
    assert len(around) == len(query.roles.context.runs)
    assert (around.loc[around["special"] == 1, ["attention", "rollout"]] == 0).all(axis=None)
    assert (around.loc[around["special"] == 0, "attention"] > 0).all()
    if mechanism == "tri":
        assert around["attention"].sum() == pytest.approx(1, rel=1e-5)


def test_moved_of_bi_joint_counts_the_context_as_one_key():
    bundle, example = load("pairs-bi_joint"), examples("pairs")[0]
    table = score_units(bundle, example, "sentences")
    assert (table["moved"] > 0).all() and (table["moved"] < 1).all()


def test_the_shift_of_attention_is_that_of_leaving_the_unit_out():
    for name, unit in (("pairs-tri", "sentences"), ("pairs-bi_joint", "sentences"), ("dialogue-tri", "turns")):
        bundle, example = load(name), examples(name.partition("-")[0])[0]
        for _, row in score_units(bundle, example, unit).iterrows():
            result = interventions.remove(bundle, example, [row["unit"]], unit)
            assert attention_shift(result.before.trace, result.after.trace) == pytest.approx(row["moved"], abs=1e-6)
