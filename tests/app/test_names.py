"""Names of mechanisms and functions: one for each, on every page."""

from __future__ import annotations

import pytest

from pages.shared import checkpoint_html, qa_models
from tests.app.test_pages import opened, sound, texts
from tests.support.reader_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.views import similarity


@pytest.fixture(scope="module")
def checkpoint_folder(tmp_path_factory):
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture(autouse=True)
def use_checkpoints(checkpoint_folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(checkpoint_folder))


def test_checkpoints_calls_functions_as_similarity_does() -> None:
    app = sound(opened("checkpoints"))
    titles = {name: one for table in app.dataframe for name, one in zip(table.value["name"], table.value["similarity"])}
    here = qa_models.readers()
    assert here and {"general-3", "T-trilinear", "scaled dot-product"} <= set(titles.values())
    for entry in here:
        assert titles[entry.name] == similarity.title("baseline", entry.config["model"]["similarity"])
        assert "_" not in checkpoint_html.label(entry)


def test_studies_say_which_mechanism_answers_questions() -> None:
    app = sound(opened("studies"))
    row = next(line for line in texts(app).split("<tr>") if "<td>Questions</td>" in line)
    assert "baseline reader</span>" in row
