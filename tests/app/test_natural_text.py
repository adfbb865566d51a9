"""The sentence on what the third order is worth on natural text: its numbers are those on record."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest

from pages.shared import models, natural_text
from tests.app.test_attention_worth import checkpoint_folder, record_controls  # noqa: F401
from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import list_checkpoints


def test_it_follows_from_metrics_and_controls(checkpoint_folder: Path) -> None:  # noqa: F811
    sentence = natural_text.sentence(models.entries())
    assert sentence == (
        "On natural text, in the living form where there is one, Tri is nowhere clearly ahead of the best two-way "
        "attention (by more than two standard errors, over test rows and seeds): Quora 77.0 ± 0.0 (Bi) "
        "and 75.0 ± 0.0; % on test, mean ± standard deviation over seeds, two-way attention chosen on dev. The worth "
        "of its third order there is not measured."
    )
    record_controls(checkpoint_folder, tri__scaled=75.0, tri__pairwise=75.4)
    assert "its third order is worth −0.4 ± 1.0 (3 seeds) on Quora." in natural_text.sentence(models.entries())


def test_a_lead_of_more_than_two_standard_errors_is_said(checkpoint_folder: Path) -> None:  # noqa: F811
    metrics = checkpoint_folder / "quora-tri-dot" / "metrics.json"
    ahead = metrics.read_text("utf-8").replace('"test": {"accuracy": 75.0}', '"test": {"accuracy": 79.0, "n": 10000}')
    metrics.write_text(ahead, "utf-8")
    sentence = natural_text.sentence(models.entries())
    assert sentence.startswith(
        "On natural text, in the living form where there is one, Tri is clearly ahead of two-way attention on Quora "
        "alone (by more than two standard errors, over test rows and seeds): Quora 77.0 ± 0.0 (Bi) and 79"
    )


@pytest.mark.parametrize("page", ["home", "checkpoints"])
def test_it_stands_on_the_page_and_in_the_documentation(page: str) -> None:
    sentence = natural_text.sentence(models.entries())
    if "quora-tri-living" not in {entry.name for entry in list_checkpoints()}:
        pytest.skip("the shipped checkpoints are not here")
    assert escape(sentence) in texts(sound(opened(page)))
    written = Path(__file__).parents[2] / "docs" / "results.md"
    assert sentence in " ".join(written.read_text("utf-8").split())
