"""Attributions of a long text: once in whole, its quiet lines folded, the strongest words of each method above it."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from pages.attribute import attribution_long_text as long
from pages.shared import model_jobs
from pages.shared.models import MODELS
from tests.app.test_pages import opened, sound, texts
from tests.support.choices_checkpoints import make_checkpoints
from tests.support.pages import app_test, at_page
from triattn_core.checkpoint.registry import VARIABLE

NAMES = {"query": "question", "key": "option"}
LINES = 17


def given(strong: int = 5) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three words a sentence; one word of one sentence is strong, and one that is no word of the text stronger."""
    rows = [("query", "question", "who", 1, 0), ("key", "option", "you", 1, 0), ("context", "", "[CLS]", 1, 1)]
    rows += [("context", f"sentence {i}", f"w{i}.{j}", 2, 0) for i in range(1, LINES + 1) for j in range(3)]
    table = pd.DataFrame(rows, columns=["role", "segment", "token", "tokens", "special"])
    shares = pd.DataFrame({"occlusion": 0.001, "attention": 0.01, "rollout": float("nan")}, index=table.index)
    shares.loc[table["token"] == f"w{strong}.1", "occlusion"] = -0.4
    shares.loc[table["special"] == 1, "occlusion"] = 0.9
    shares.loc[table["role"] == "query", "rollout"] = 0.5
    return table, shares


def whole_text_words(html: str) -> list[str]:
    """The words of the whole text, in its order."""
    whole = html.split('<div class="t-whole"', 1)[1]
    return re.findall(r'title="(\S+): [^"]*">', whole)


def marks(method: str, **more) -> str:
    return long.marks(*given(**more), NAMES, 32, "light", method)


def test_the_whole_text_stands_once_and_what_is_quiet_is_folded() -> None:
    html = marks("occlusion")
    words = ["who", "you", *(f"w{i}.{j}" for i in range(1, LINES + 1) for j in range(3))]
    assert whole_text_words(html) == words
    folds = re.findall(r"<summary>([^<]*)</summary>", html)
    assert folds == [
        "sentence 1 to sentence 4: no strong word, +1.2 % together",
        "sentence 6 to sentence 17: no strong word, +3.6 % together",
    ]
    assert whole_text_words(re.sub(r"<details>.*?</details>", "", html)) == ["who", "you", "w5.0", "w5.1", "w5.2"]
    assert ">\u221239.8 %</span>" in html  # the sum of that line


def test_where_all_are_alike_nothing_is_folded() -> None:
    assert "<details>" not in marks("attention")
    assert "not read by attention" in marks("rollout")


def test_the_strongest_of_each_method_stand_first_with_share_and_role() -> None:
    tops = marks("occlusion").split('<div class="t-top"', 1)[1].split('<div class="t-section"')[0]
    assert tops.index("w5.1: \u221240 % context") < tops.index("who: +0.1 % question")
    assert tops.count("t-muted") == 2 * long.FEW + 1 + 2  # rollout speaks of one word only; two are not there yet
    assert tops.count("being computed") == 2
    assert "[CLS]" not in tops and tops.count("+50 % question") == 2  # as text, and on hover


@pytest.mark.parametrize(("tokens", "wanted"), [(1, False), (2, True)])
def test_what_is_long(tokens: int, wanted: bool) -> None:
    table, _ = given()
    assert long.needs_long_layout(table.assign(tokens=tokens, special=0).iloc[2 : 2 + long.LONG // 2]) is wanted


def test_the_page_has_one_choice_of_method_for_text_and_curves(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints")))
    app = sound(opened("attribute", wait=400, task="Reading comprehension", steps="16"))
    assert "The whole text by integrated gradients" in texts(app)
    sound(app.segmented_control(key="method").set_value("occlusion").run())
    assert "The whole text by occlusion" in texts(app) and "perturbation curve of occlusion" in texts(app)
    assert [control.key for control in app.segmented_control].count("method") == 1


class CancelledOcclusion(frozenset):
    """Cancelled jobs: that of occlusion, whatever its key is."""

    def __contains__(self, key: object) -> bool:
        return "occlusion" in repr(key)


@pytest.mark.parametrize("task", ["Sentence pairs", "Reading comprehension"])
def test_after_cancel_every_figure_says_so(task, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints", ("pairs", "reading"))))
    app = at_page(app_test(400), "attribute")
    app.query_params["task"], app.session_state[model_jobs.CANCELLED] = task, CancelledOcclusion()
    page = texts(sound(app.run()))
    assert "Cancelled: Occlusion." in page and "eing computed" not in page
    assert page.count('<span class="t-muted">cancelled</span>') == 2
    assert "Cancelled: integrated gradients, occlusion." in page


def test_a_scene_runs_each_method_once(monkeypatch) -> None:
    from triattn_core.analysis.attribution import methods
    from triattn_core.scenes import attribute
    from triattn_core.sources import find_entries
    from triattn_core.sources.models import Models
    from triattn_core.tasks import pairs

    asked, make = [], methods.attribute
    monkeypatch.setattr(
        methods, "attribute", lambda query, names, *more: asked.extend(names) or make(query, names, *more)
    )
    settings = attribute.Settings(steps=1, draws=1)
    attribute.build(Models("cpu"), find_entries(["quora-tri-published"]), pairs.examples("en")[0], settings)
    assert sorted(asked) == sorted(methods.METHODS)


def test_methods_come_one_after_another_and_together_are_what_all_at_once_are() -> None:
    from triattn_core.analysis.attribution import methods
    from triattn_core.analysis.intervention.batched_variants import run_query
    from triattn_core.scenes import attribute
    from triattn_core.sources import find_entries
    from triattn_core.sources.models import Models
    from triattn_core.tasks import pairs

    (entry,), example, models = find_entries(["quora-tri-published"]), pairs.examples("en")[0], Models("cpu")
    settings = attribute.Settings(steps=4, draws=2, fold="word pieces")
    parts = [scene.tokens for scene in attribute.stream(models, [entry], example, settings)]
    assert [len(tokens.attributions.methods) for tokens in parts] == [2, 3, 4, 5, 5]
    assert parts[0].attributions.methods == ("attention", "rollout") and parts[3].complete and not parts[2].complete
    assert [tokens.faithfulness is not None for tokens in parts] == [False] * 4 + [True]
    attributions, whole = parts[-1].attributions, methods.attribute(run_query(MODELS.load(entry), example), steps=4)
    assert attributions.methods == whole.methods and attributions.gap == pytest.approx(whole.gap)
    pd.testing.assert_frame_equal(attributions.table, whole.table, rtol=1e-4, atol=1e-5)
