"""Units taken out one by one are what `interventions` says of each; random ones repeat by their seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from tests.support.analysis_checkpoints import examples, use_checkpoints
from triattn_core.analysis.intervention import interventions as what_if
from triattn_core.analysis.intervention import leave_one_out
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import InputError
from triattn_core.inference.pause import run_by

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize(("task", "unit"), [("pairs", "tokens"), ("pairs", "turns"), ("dialogue", "turns")])
def test_each_unit_alone_is_what_its_removal_says(task, unit, read):
    bundle, example = load(f"{task}-tri"), examples(task)[0]
    table = leave_one_out.score_units(bundle, example, unit, read=read)
    assert len(table) > 1 and table["unit"].is_unique
    for row in table.itertuples():
        alone = (what_if.mask if read else what_if.remove)(bundle, example, [row.unit], unit)
        assert row.change == pytest.approx(alone.change, abs=1e-4)
        assert row.flips == alone.flipped
    assert table["change"].abs().max() > 1e-3


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize(("task", "name", "unit"), [
    ("pairs", "pairs-tri", "tokens"),
    ("pairs", "pairs-cbi", "tokens"),
    ("dialogue", "dialogue-tri", "turns"),
])  # fmt: skip
def test_how_far_each_moved_attention_is_the_mean_over_tokens_heads_and_layers(task, name, unit, read):
    bundle, example = load(name), examples(task)[0]
    table = leave_one_out.score_units(bundle, example, unit, read=read)
    for row in table.itertuples():
        both = (what_if.mask if read else what_if.remove)(bundle, example, [row.unit], unit)
        layers: dict[str, list] = {}
        for site, before in both.before.trace.sites.items():
            if site.quantity == "weight":
                after = both.after.trace.site(site)
                maps = [one.sum("context") if "context" in one.dims else one for one in (before, after)]
                apart = jensenshannon(*(weight_map.values.astype(float) for weight_map in maps), axis=-1, base=2) ** 2
                layers.setdefault(site.layer, []).append(np.nan_to_num(apart).mean(0))  # of heads
        mean_shift = np.mean([np.concatenate(both_ways).mean() for both_ways in layers.values()])
        assert row.moved == pytest.approx(mean_shift, rel=1e-3, abs=1e-7)
    assert table["moved"].between(0, 1).all() and table["moved"].max() > 1e-4


def test_no_context_moves_the_attention_that_does_not_read_it():
    table = leave_one_out.score_units(load("pairs-bi"), examples("pairs")[0], "tokens")
    assert table["moved"].max() < 1e-9


def test_a_choice_of_all_units_at_random_is_all_of_them():
    bundle, example = load("pairs-tri"), examples("pairs")[0]
    names = leave_one_out.score_units(bundle, example, "tokens")["unit"].tolist()
    whole = what_if.remove(bundle, example, names, "tokens").change
    table = leave_one_out.score_random_units(bundle, example, 99, "tokens", draws=3)
    assert table["change"].tolist() == pytest.approx([whole] * 3, abs=1e-4)
    one, same, other = (leave_one_out.score_random_units(bundle, example, 2, "tokens", seed=seed) for seed in (1, 1, 2))
    assert one.equals(same) and not one.equals(other) and len(one) == 20


def test_the_units_of_all_options_are_counted_as_one():
    counted = []

    class Counter:
        def pause(self):
            pass

        def progress(self, done, total):
            counted.append((done, total))

    bundle, example = load("dialogue-tri"), examples("dialogue")[0]
    with run_by(Counter()):
        units = leave_one_out.score_units(bundle, example, "turns")
    assert {total for _, total in counted} == {len(units) * len(example.candidates)}
    assert [done for done, _ in counted] == sorted(done for done, _ in counted)


def test_tokens_of_one_option_are_not_asked_one_by_one():
    with pytest.raises(InputError, match="for sentence pairs only"):
        leave_one_out.score_units(load("dialogue-tri"), examples("dialogue")[0], "tokens")
