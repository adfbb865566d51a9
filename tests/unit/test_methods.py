"""Attribution of checkpoints: against tokens that are really replaced, and numbers that must agree with each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.support.analysis_checkpoints import MECHANISMS, TASK_NAMES, examples, use_checkpoints
from triattn_core.analysis.attribution import faithfulness, methods
from triattn_core.analysis.attribution.estimators import attention_mass
from triattn_core.analysis.attribution.methods import METHODS, Attributions, attribute
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import InputError
from triattn_core.inference.batch import collate
from triattn_core.inference.explain import explain
from triattn_core.text.roles import ROLES


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("world")) as root:
        yield root


def odds(asked, roles) -> float:
    return float(asked.log_odds(asked.bundle.logits(collate([roles], asked.bundle.tokenizer)))[0])


def padded(roles, role: str, places: list[int], pad: int):
    of = getattr(roles, role)
    return replace(
        roles, **{role: replace(of, ids=tuple(pad if i in places else number for i, number in enumerate(of.ids)))}
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("task", TASK_NAMES)
def test_each_method_for_each_checkpoint(task, mechanism):
    asked = run_query(load(f"{task}-{mechanism}"), examples(task)[0])
    attributions = attribute(asked, steps=24)
    table, pad = attributions.table, asked.bundle.tokenizer.special["pad"]
    assert attributions.methods == tuple(METHODS) and abs(attributions.gap) < 0.01
    assert table.groupby("role", sort=False).size().to_dict() == {r: len(getattr(asked.roles, r).runs) for r in ROLES}
    # Integrated gradients: all together the whole less the baseline.
    nothing = asked.roles
    for role in ROLES:
        real = [i for i, special in enumerate(getattr(nothing, role).special) if not special]
        nothing = padded(nothing, role, real, pad)
    whole = odds(asked, asked.roles) - odds(asked, nothing)
    assert table["integrated gradients"].sum() - whole == pytest.approx(attributions.gap, abs=1e-4)
    assert abs(whole) > 5 * abs(attributions.gap)
    assert (table.loc[table["special"] == 1, ["integrated gradients", "occlusion"]] == 0).all(axis=None)
    # Occlusion: each token of a cell really replaced.
    for _, row in table[table["special"] == 0].iterrows():
        (start, end) = getattr(asked.roles, row["role"]).runs[row["position"]]
        lost = [odds(asked, padded(asked.roles, row["role"], [i], pad)) for i in range(start, end)]
        assert row["occlusion"] == pytest.approx(sum(odds(asked, asked.roles) - one for one in lost), abs=1e-4)
    # Attention: that of the trace.
    _, trace = explain(asked.bundle, asked.example, option=asked.option if len(asked.options) > 1 else None)
    for role, values in attention_mass(trace).items():
        np.testing.assert_allclose(table.loc[table["role"] == role, "attention"], values, atol=1e-5)
    context = table.loc[table["role"] == "context", ["attention", "rollout"]]
    assert context.isna().all(axis=None) == (mechanism != "tri")


def test_on_one_scale():
    columns = {"one": [1.0, -3.0, 0.0, 4.0, 100.0], "two": [0.0] * 5, "three": [2.0, 4.0, 1.0, 9.0, 0.0]}
    special = [0, 0, 0, 0, 1]
    attributions = Attributions(pd.DataFrame({**columns, "special": special}), tuple(columns))
    shares = attributions.shares()
    assert shares["one"].abs().sum() == pytest.approx(1) and shares["one"][1] == pytest.approx(-3 / 108)
    assert (shares["two"] == 0).all()
    ranks = attributions.correlations()
    assert ranks.loc["one", "three"] == pytest.approx(1) and np.isnan(ranks.loc["one", "two"])  # by magnitude


def test_pieces_are_joined_to_words():
    table = {
        "role": ["query"] * 3 + ["key"] * 2 + ["context"],
        "position": [0, 1, 2, 0, 1, 0],
        "token": ["brows", "##er", "##s", "##s", "car", "brows"],
        "start": [0, 5, 7, 0, 2, 0],
        "end": [5, 7, 8, 1, 5, 5],
        "tokens": [1, 1, 1, 1, 1, 1],
        "a": [1.0, -3.0, 0.5, 4.0, 5.0, 7.0],
        "b": [1.0, 2.0, 3.0, np.nan, 5.0, np.nan],
    }
    attributions = Attributions(pd.DataFrame(table), ("a", "b"), 0.25).words()
    assert attributions.table["token"].tolist() == ["browsers", "##s", "car", "brows"] and attributions.gap == 0.25
    assert attributions.table["a"].tolist() == [-1.5, 4.0, 5.0, 7.0] and attributions.table["end"].tolist() == [
        8,
        1,
        5,
        5,
    ]
    assert attributions.table["tokens"].tolist() == [3, 1, 1, 1]
    np.testing.assert_array_equal(attributions.table["b"], [6.0, np.nan, 5.0, np.nan])


def test_a_cell_that_begins_inside_a_word_is_joined_to_the_one_before_it():
    turns = (
        "who play browsers the browsers red browsers car browsers",
        "what browsers browsers movie is browsers not big",
    )
    example = replace(examples("dialogue")[0], history=turns, speakers=())
    attributions = attribute(run_query(load("dialogue-tri"), example), ["attention"])
    cells, joined = (of.table[of.table["role"] == "context"] for of in (attributions, attributions.words()))
    inside = cells["token"].str.startswith("##") & (cells["tokens"] > 1)
    assert inside.any() and (cells["tokens"] > 1).sum() > inside.sum(), "some cells part a word, others do not"
    assert joined["attention"].sum() == pytest.approx(cells["attention"].sum())
    whole = {word for text in (*example.history, *example.candidates) for word in text.split()}
    words = {word for token in joined.loc[joined["special"] == 0, "token"] for word in token.split()}
    assert words <= whole, "no word is parted"


def test_methods_can_be_chosen_and_misspelt():
    asked = run_query(load("pairs-tri"), examples("pairs")[0])
    attributions = attribute(asked, ["rollout"])
    assert attributions.methods == ("rollout",) and attributions.gap is None
    assert attributions.table["rollout"].sum() == pytest.approx(1, abs=1e-5)
    with pytest.raises(InputError, match="unknown method 'oclusion'; did you mean 'occlusion'"):
        attribute(asked, ["oclusion"])


def test_no_method_is_taken_for_the_control(monkeypatch):
    monkeypatch.setattr(methods, "METHODS", methods.METHODS | {"random": lambda one: {}})
    with pytest.raises(InputError, match="no method of attribution can be called 'random'"):
        faithfulness.example_curves(run_query(load("pairs-tri"), examples("pairs")[0]), ["random"])
