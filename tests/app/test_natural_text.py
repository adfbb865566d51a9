"""The sentence and table on what the third order is worth on natural text: their numbers are those on record."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest

from pages.shared import models, natural_text
from tests.app.test_attention_worth import checkpoint_folder, record_controls  # noqa: F401
from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import list_checkpoints


def found() -> natural_text.Summary:
    summary = natural_text.summary(models.entries())
    assert summary is not None
    return summary


def test_it_follows_from_metrics_and_controls(checkpoint_folder: Path) -> None:  # noqa: F811
    assert found().lead == (
        "On natural text, in models that answer through attention alone where there are some, Tri is nowhere "
        "clearly ahead of the best two-way attention."
    )
    assert found().rows == (natural_text.Comparison("Quora", "Bi 77.0 ± 0.0", "75.0 ± 0.0", "no control trained"),)
    record_controls(checkpoint_folder, tri__scaled=75.0, tri__strassen=75.4)
    assert found().rows[0].third_order == "−0.4 ± 1.0 (3 seeds)"
    assert natural_text.markdown(found()).splitlines()[-1] == (
        "| Quora | Bi 77.0 ± 0.0 | 75.0 ± 0.0 | −0.4 ± 1.0 (3 seeds) |"
    )


def test_a_lead_of_more_than_two_standard_errors_is_said(checkpoint_folder: Path) -> None:  # noqa: F811
    set_test_scores(checkpoint_folder, "tri", 79.0, 79.0, 79.0)
    assert found().lead == (
        "On natural text, in models that answer through attention alone where there are some, Tri is clearly "
        "ahead of two-way attention on Quora alone."
    )
    assert found().rows[0].tri == "79.0 ± 0.0"


def test_of_uneven_seeds_it_is_said_what_they_allow(checkpoint_folder: Path) -> None:  # noqa: F811
    set_test_scores(checkpoint_folder, "bi", 70.0, 84.0, 77.0)
    assert "uneven" not in found().notes  # Tri, with 75, is behind
    set_test_scores(checkpoint_folder, "tri", 79.0, 79.0, 79.0)
    assert found().notes.endswith("On Quora the seeds of Bi are too uneven to tell.")
    record_controls(checkpoint_folder, bi__even=79.0)
    assert found().notes.endswith("But Bi trained with even weights reaches 79.0 on dev, Tri 75.0.")


def set_test_scores(folder: Path, mechanism: str, *scores: float) -> None:
    path = folder / f"quora-{mechanism}-dot" / "metrics.json"
    metrics = json.loads(path.read_text("utf-8"))
    for seed, score in zip(metrics["each_seed"], scores):
        seed["test"] = {"accuracy": score}
    metrics["test"] = {"accuracy": scores[0], "n": 10_000}
    path.write_text(json.dumps(metrics), "utf-8")


def test_it_stands_on_the_page_and_in_the_documentation() -> None:
    if "quora-tri-living" not in {entry.name for entry in list_checkpoints()}:
        pytest.skip("the shipped checkpoints are not here")
    page_text = texts(sound(opened("studies")))
    documentation = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
    for text in (found().lead, found().notes):
        assert escape(text) in page_text
        assert text in " ".join(documentation.split())
    assert natural_text.html(found()) in page_text
    assert natural_text.markdown(found()) in documentation
    assert escape(found().lead) in texts(sound(opened("checkpoints")))
