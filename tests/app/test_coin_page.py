"""The page COIN: what it opens on, what a link does, what is ablated, and what bad input says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import ODD, SAYS, opened, payloads, sound, texts, visible_text
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.coin_checkpoints import WIDTH, make_checkpoints
from tests.support.figure_arrays import group_arrays, is_comparison, sent_array
from tests.support.tiny import make_checkpoint, make_world
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.inference.explain import explain
from triattn_core.tasks import pairs

checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints, TRIATTN_DEVICE="cpu")


def figure(app: AppTest) -> dict:
    return next(payload for payload in payloads(app) if "charts" in payload)


def present(payload: dict) -> list[dict[str, np.ndarray]]:
    """The arrays of each block, without any where it is ablated."""
    return [group_arrays(payload, i) for i in range(dict(payload["coordinates"])["block"])]


def tally(payload: dict) -> dict:
    return payload["charts"][1]


def test_without_a_checkpoint_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "empty", ())))
    app = sound(opened("coin"))
    assert "No COIN checkpoint is here yet" in visible_text(app) and not payloads(app) and len(app.info) == 1


def test_it_opens_on_a_worked_example_with_everything_drawn() -> None:
    app, first = sound(opened("coin")), pairs.examples()[0]
    assert [box.value for box in app.text_area][:2] == [first.text_a, first.text_b] and SAYS in visible_text(app)
    payload = figure(app)
    assert len(present(payload)) == 3
    assert all({"plain", "own_query", "own_key", "gate"} <= set(block) for block in present(payload))
    assert tally(payload)["names"] == ["nothing", "block 1", "block 2", "block 3", "context, all blocks"]
    prediction = explain(load("quora-coin"), first)[0]
    assert tally(payload)["note"] == f"probability of “{prediction.labels[prediction.best]}”"
    assert tally(payload)["shares"][0] == pytest.approx(prediction.probabilities[prediction.best])


def test_a_block_and_the_context_term_are_ablated() -> None:
    app = sound(opened("coin", off="block 2"))
    payload = figure(app)
    assert tally(payload)["chosen"] == 2 and not present(payload)[1] and "whole model: " in visible_text(app)
    assert f"{tally(payload)['shares'][2]:.3g}"[:5] in visible_text(app) or tally(payload)["said"][2] == "flips"
    sound(app.segmented_control(key="off").set_value("context").run())
    assert tally(figure(app))["chosen"] == 4 and not any("plain" in block for block in present(figure(app)))


def test_a_link_restores_its_choices() -> None:
    app = sound(opened("coin", checkpoint="lcqmc-coin", direction="B over A", gate="per feature", cell="2.1.1.5.0.3"))
    payload, first = figure(app), pairs.examples("zh")[0]
    assert [box.value for box in app.text_area][:2] == [first.text_a, first.text_b]
    assert "".join(payload["axes"]["query"]["label"]) == first.text_b and len(present(payload)) == 2
    assert sorted(present(payload)[0]["order"]) == list(range(WIDTH))
    trace = explain(load("lcqmc-coin"), first)[1]
    np.testing.assert_array_equal(present(payload)[1]["weight"], trace.site("layer.1/b_over_a/weight").values)


def test_what_is_ablated_or_turned_leaves_the_pair_where_it_was() -> None:
    app = sound(opened("coin", gate="per feature"))
    first = figure(app)
    for off in ("layer.0", "layer.2", "context"):
        sound(app.segmented_control(key="off").set_value(off).run())
        assert all(figure(app)[name] == first[name] for name in ("cell", "scales"))
        both = [(one["order"], two["order"]) for one, two in zip(present(figure(app)), present(first)) if one]
        assert both and all((one == two).all() for one, two in both), "features stay in their places"
    sound(app.segmented_control(key="direction").set_value("B over A").run())
    query, key, block, feature, own, other = first["cell"]
    assert app.query_params["cell"] == f"{key}.{query}.{block}.{feature}.{other}.{own}"
    sound(app.segmented_control(key="direction").set_value("A over B").run())
    assert app.query_params["cell"] == ".".join(map(str, first["cell"]))
    app.text_area(key="a").set_value("Can dogs eat?").run()
    assert "cell" not in app.query_params, "of another pair"


@pytest.mark.parametrize("off", ["nothing", "block 1"])
def test_a_model_of_one_block_and_one_without_all(off: str) -> None:
    for name in ("single-coin", "without-all-coin"):
        app = sound(opened("coin", checkpoint=name, off=off, gate="per feature"))
        assert (not present(figure(app))[0]) == (off == "block 1") and SAYS in visible_text(app)


def test_bad_values_in_the_link_are_each_said() -> None:
    app = sound(opened("coin", off="block 9", gate="sideways", cell="99.99.1"))
    assert len(app.info) == 3 and tally(figure(app))["chosen"] == 0
    app = sound(opened("coin", checkpoint="without-all-coin", off="context"))
    assert "Shown instead: nothing" in visible_text(app)


def test_odd_text_gives_a_result_or_one_message() -> None:
    app = opened("coin", off="context")
    for kind, text in ODD.items():
        app.text_area(key="a").set_value(text).run()
        assert not app.exception, kind
        assert len(app.error) + (SAYS in texts(app)) == 1, kind
        assert "<script>" not in texts(app), kind
    app.text_area(key="b").set_value("  ").run()
    assert [error.value.startswith("Sentence B is empty") for error in app.error] == [True]


def test_it_stands_beside_other_mechanisms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_checkpoints(make_world(tmp_path, ()) / "checkpoints", ("quora-coin",))
    make_checkpoint(tmp_path, "small-tri", "tri", 1)
    monkeypatch.setenv(VARIABLE, str(folder))
    example = pairs.Example("who can watch a red car ?", "where is the blue film ?")
    query = {"a": example.text_a, "b": example.text_b, "checkpoints": ["quora-coin", "small-tri"], "layer": "3"}
    app = sound(opened("side_by_side", **query))
    payload = next(one for one in payloads(app) if is_comparison(one))
    assert [panel["title"] for panel in payload["panels"]] == ["Tri", "COIN", "COIN − Tri"]
    weights = sent_array(payload, 1, "weights").ravel()
    trace = explain(load("quora-coin"), example)[1]
    np.testing.assert_array_equal(weights, trace.site("layer.2/a_over_b/weight").values.ravel())
    assert "small-tri has 2 layers" in visible_text(app)


def test_its_checkpoints_lead_here() -> None:
    app = sound(opened("checkpoints", checkpoint="lcqmc-coin"))
    links = [link.proto for link in app.get("page_link")]
    assert any(link.label == "Open in COIN" and "checkpoint=lcqmc-coin" in link.query_string for link in links)


def test_a_link_with_names_of_settings_opens_what_its_own_names_open() -> None:
    first = sound(opened("coin", direction="b_over_a", tokens="phrases"))
    second = sound(opened("coin", direction="B over A", **{"tokens-as": "phrases"}))
    plain = sound(opened("coin"))
    assert figure(first) == figure(second) != figure(plain) and not first.info
