"""What attention is worth, beside the scores and where its map is drawn: from metrics.json and records of controls."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest

from pages.shared import attention_worth, models
from tests.app.test_pages import opened, sound, texts
from tests.support.living_checkpoints import make_checkpoint
from tests.support.two_languages import make_encoder
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.kinds.tan import KIND as TAN
from triattn_core.results.run_records import config_variant

SCALED = {"scaled": {"similarity": "scaled_dot"}}
ATTENTION = {
    "n": 400, "metric": "accuracy", "score": 77.0, "reliance": {"even": {"points": 12.25, "p": 0.001}},
    "query_information": {"mean": 0.84, "best_head": 1.3, "untrained": 0.21},
    "context_information": {"mean": 0.08, "best_head": 0.16, "untrained": 0.01},
    "alignment": {"mean": 40.0, "best_head": 71.5, "chance": 8.0}, "special": 0.0,
}  # fmt: skip


@pytest.fixture
def checkpoint_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bi and Tri of which three seeds each were measured, 77 and 75 in the mean."""
    make_encoder("minilm-en", tmp_path / "encoders" / "minilm-en")
    for mechanism, mean in (("bi", 77.0), ("tri", 75.0)):
        folder = make_checkpoint(tmp_path, "pairs", mechanism, seed=1)
        each = [{"seed": i, "dev": {"accuracy": mean + i}, "test": {"accuracy": mean}} for i in (-1, 0, 1)]
        metrics = {"dev": {"accuracy": mean}, "test": {"accuracy": mean}, "each_seed": each, "attention": ATTENTION}
        (folder / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    (tmp_path / "results").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def record_controls(checkpoint_folder: Path, **scores: float) -> None:
    """Of both models the controls of these scores, trained with three seeds."""
    lines = []
    for name, mean in scores.items():
        name, _, control = name.partition("__")
        config = read_config(checkpoint_folder / f"quora-{name}-dot" / "config.json")
        changed = {**TAN.controls(config), **SCALED}[control]
        config = config.model_copy(update={"model": config.model.model_copy(update=changed)})
        each = [{"seed": i, "dev": {"accuracy": mean + i}} for i in (-1, 0, 1)]
        record = {"name": "control", "config": config.model_dump(mode="json"), "digest": config_variant(config)}
        lines.append(json.dumps(record | {"each_seed": each}))
    (checkpoint_folder / "results" / "controls.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def verdicts() -> dict[str, str]:
    return {entry.name: attention_worth.verdict(entry) for entry in models.entries()}


def test_nothing_is_claimed_without_a_control(checkpoint_folder: Path) -> None:
    assert set(verdicts().values()) == {""}
    assert [attention_worth.points(entry) for entry in models.entries()] == [None, None]


def test_worth_within_the_spread_of_seeds_is_said(checkpoint_folder: Path) -> None:
    record_controls(checkpoint_folder, bi__even=74.0, tri__even=74.5, tri__scaled=75.0, tri__strassen=72.0)
    assert {entry.name: attention_worth.points(entry) for entry in models.entries()} == {
        "quora-bi-dot": 3.0,
        "quora-tri-dot": 0.5,
    }
    sentences = verdicts()
    assert sentences["quora-bi-dot"] == ""
    assert sentences["quora-tri-dot"] == (
        "quora-tri-dot: its attention is worth +0.5 points over the same form trained with even weights "
        "(SD over seeds 1). Nothing shows that the answer needs this map."
    )


def test_a_third_order_that_is_worth_nothing_is_said(checkpoint_folder: Path) -> None:
    record_controls(checkpoint_folder, tri__even=70.0, tri__scaled=75.0, tri__strassen=75.4)
    assert verdicts()["quora-tri-dot"] == (
        "quora-tri-dot: the third order of its form, with the scaled dot, is worth \u22120.4 points over the same form "
        "trained with pairwise scores (SD over seeds 1). Nothing shows that the answer needs more than pairwise scores."
    )


def test_answers_that_do_not_hang_on_pairs_of_key_and_context_are_said(checkpoint_folder: Path) -> None:
    for p, expected in ((0.5, True), (0.001, False)):
        path = checkpoint_folder / "quora-tri-dot" / "metrics.json"
        metrics = json.loads(path.read_text("utf-8"))
        metrics["attention"]["reliance"]["product_of_marginals"] = {"points": -0.2, "p": p}
        path.write_text(json.dumps(metrics), "utf-8")
        line = "moves its accuracy on dev by +0.2 points, no more than chance"
        assert (line in verdicts()["quora-tri-dot"]) == expected, p


def test_the_line_stands_where_the_map_is_drawn(checkpoint_folder: Path) -> None:
    record_controls(checkpoint_folder, bi__even=74.0, tri__even=74.5)
    app = sound(opened("cube"))
    assert "its attention is worth +0.5 points" in texts(app)
    app = sound(opened("side_by_side"))
    assert texts(app).count('class="t-note t-worth"') == 1
    page_text = texts(app)
    assert escape(attention_worth.HELP) in page_text and attention_worth.LIVING in page_text
    assert "What the attention is worth" in page_text and "+3.0 ± 1 (3)" in page_text and "0.84 (0.21)" in page_text


def test_checkpoints_have_worth_reliance_and_information(checkpoint_folder: Path) -> None:
    record_controls(checkpoint_folder, bi__even=74.0, tri__even=74.5)
    app = sound(opened("checkpoints", checkpoint="quora-bi-dot"))
    table = app.dataframe[0].value
    names = table.columns.tolist()
    assert names[names.index("test") + 1 :][:4] == ["over seeds", "worth", "reliance", "query information (bits)"]
    rows = table.set_index("name")
    assert rows.loc["quora-bi-dot", ["worth", "reliance", "query information (bits)"]].tolist() == [
        "+3.0 ± 1 (3)",
        12.25,
        0.84,
    ]
    assert "Its attention" in texts(app) and "71.5 %" in texts(app)
    assert escape(attention_worth.HELP) in texts(app) and attention_worth.LIVING in texts(app)  # without a hover
