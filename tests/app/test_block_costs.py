"""What a block costs, on Results from app.py: what a record shows, what is measured live, what a broken record says."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.results import block_costs
from tests.support.pages import app_test, at_page
from triattn_core.analysis import efficiency as measuring
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.results.efficiency import FILE, Measurement, Point

SLOW = "too <b>slow</b>"
COSTS = {"multi_head": 0.01, "mtsa": 0.0123, "disa": 0.5}


def opened(**query: str) -> AppTest:
    app = app_test(200)
    for name, value in {"costs": "true", **query}.items():
        app.query_params[name] = value
    return at_page(app, "results").run()


def fold(app: AppTest):
    """The part of the page that is tested."""
    return next(box for box in app.expander if box.label == block_costs.TITLE)


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in fold(app).get("html"))


@pytest.fixture
def checkpoint_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints with a record: three blocks at three lengths, DiSA left out of the last."""
    points = [
        Point(block=block, tokens=tokens, passed=passed, seconds=cost * tokens, memory=tokens * 10**6, repeats=3)
        if (block, tokens) != ("disa", 64) else Point(block=block, tokens=tokens, passed=passed, reason=SLOW)
        for tokens in (16, 32, 64) for block, cost in COSTS.items() for passed in ("training", "inference")
    ]  # fmt: skip
    measurement = Measurement(
        format=1, date="2026-01-02", machine="A machine", threads=3, load=0.25, command="x", memory="peak of tensors",
        batch=5, width=300, out=600, points=points,
    )  # fmt: skip
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / FILE).write_text(measurement.text(), "utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_a_leap_of_the_shipped_run_is_explained_where_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert "Bi-GRU training time jumps on a CPU" in html(opened()).replace("&#x27;", "'")
    assert "leaps" not in html(opened(**{"pass": "inference"}))


def test_it_opens_on_the_record_that_is_there(checkpoint_folder: Path) -> None:
    app = opened()
    assert not app.exception and not fold(app).error
    text = html(app)
    assert "Shipped run, batch 5: memory and time of training" in text and "DiSA takes long texts in pieces" in text
    assert not [control for control in app.segmented_control if control.key == "record"], "there is only one"
    assert "A machine, 3 threads, 2026-01-02" in text and "Load before it: 0.25" in text and "batch 5" in text
    assert "787.2" in text and "1.23" in text and "1.20" in text  # MTSA at 64: ms, to multi-head, the paper's memory
    assert "too &lt;b&gt;slow" in text and "<b>slow" not in text
    memory, seconds = fold(app).get("vega_lite_chart")
    assert "(a) Memory, MB" in memory.proto.spec and '"log"' in memory.proto.spec
    assert "(b) Time, ms" in seconds.proto.spec
    assert '"log"' not in fold(opened(axes="linear")).get("vega_lite_chart")[0].proto.spec


def test_a_block_that_is_not_the_papers_is_shown_beside_a_dash(checkpoint_folder: Path) -> None:
    record = (checkpoint_folder / "results" / FILE).read_text("utf-8").replace('"disa"', '"our <b>own"')
    (checkpoint_folder / "results" / FILE).write_text(record, "utf-8")
    app = opened()
    assert not app.exception and not fold(app).error
    (row,) = (part for part in html(app).split("<tr>") if part.startswith("<td>our &lt;b&gt;own</td>"))
    assert row.count('<td class="r t-muted">–</td>') == 3
    assert all("our <b>own" in chart.proto.spec for chart in fold(app).get("vega_lite_chart"))


def test_it_measures_live_to_the_end(checkpoint_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring.Run, "measure", lambda self, block, tokens, passed: Point(
        block=block, tokens=tokens, passed=passed, seconds=0.004, memory=77, repeats=1))  # fmt: skip
    app = opened(longest="64", batch="1")
    app.button(key="measure").click().run()
    assert not app.exception and not fold(app).error
    text = html(app)
    assert "A machine" not in text and "batch 1," in text and "Bi-BloSA" in text and "4.0" in text
    assert "Measured here, batch 1: " in text and "Shipped" not in text


def test_the_shipped_run_can_be_had_again_and_the_controls_stand_as_for_the_last_measurement(
    checkpoint_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring.Run, "measure", lambda self, block, tokens, passed: Point(
        block=block, tokens=tokens, passed=passed, seconds=0.004, memory=77, repeats=1))  # fmt: skip
    app = opened(longest="64", batch="1")
    app.button(key="measure").click().run()
    assert app.segmented_control(key="record").options and app.segmented_control(key="record").value == "measured here"
    app.segmented_control(key="record").set_value("shipped run").run()
    assert "Shipped run, batch 5: " in html(app) and "A machine" in html(app) and "787.2" in html(app)
    at_page(app, "start").run()
    app.query_params.clear()
    app.query_params["costs"] = "true"
    at_page(app, "results").run()
    assert not app.exception and not fold(app).error and "Measured here, batch 1: " in html(app)
    assert [app.segmented_control(key=key).value for key in ("batch", "longest")] == [1, 64]
    app.segmented_control(key="record").set_value("shipped run").run()
    app.button(key="measure").click().run()
    assert "Measured here, batch 1: " in html(app), "what was just measured is shown"


def test_a_broken_record_is_one_line_and_one_can_still_measure(checkpoint_folder: Path) -> None:
    (checkpoint_folder / "results" / FILE).write_text("{", "utf-8")
    app = opened()
    assert not app.exception and [str(FILE) in error.value.replace("\\", "") for error in fold(app).error] == [True]
    assert app.button(key="measure") and "Nothing is measured yet" in fold(app).info[0].value
