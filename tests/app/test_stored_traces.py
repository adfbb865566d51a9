"""Pages open with stored traces: no model is loaded for them, and the page says when they were computed."""

from __future__ import annotations

import json

import pytest
import streamlit as st

from pages.shared import models, qa_models
from pages.shared.models import MODELS
from tests.support.pages import app_test, at_page
from triattn_core.analysis.default_example import RECORDS
from triattn_core.errors import CheckpointError
from triattn_core.inference import stored_traces
from triattn_core.inference.stored_traces.__main__ import defaults
from triattn_core.studies import studies
from triattn_core.tasks import pairs
from triattn_core.trace.site import Site

FIRST_VIEWS = ("cube", "side_by_side", "mtsa", "distributions")


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checkpoints that pages try to load; none can be."""
    names: list[str] = []

    def load(entry) -> None:
        names.append(entry.name)
        raise CheckpointError("no model is loaded here")

    monkeypatch.setattr(models.MODELS, "load", load)
    st.cache_resource.clear()
    return names


def texts(app) -> str:
    return " ".join(str(element.proto) for element in app.main if element.type in ("html", "markdown"))


@pytest.mark.parametrize("page", FIRST_VIEWS)
def test_the_default_view_loads_no_model(page: str, loaded: list[str]) -> None:
    app = at_page(app_test(), page).run()
    assert not app.exception and loaded == []
    assert "computed on 20" in texts(app)


def test_studies_shows_the_maps_of_all_without_a_model(loaded: list[str]) -> None:
    app = at_page(app_test(), "studies").run()
    drawn = texts(app).count("t-thumb")
    assert not app.exception and loaded == [] and drawn == sum(study.maps is not None for study in studies().values())


@pytest.mark.parametrize(("language", "name"), [("en", "English"), ("zh", "Chinese")])
def test_the_cube_opens_on_the_weight_that_costs_the_answer_most(language: str, name: str, loaded: list[str]) -> None:
    app = at_page(app_test(), "cube")
    app.query_params["language"] = name
    app.run()
    told = json.loads((RECORDS / f"default_example.pairs.{language}.json").read_text("utf-8"))
    row = next(row for row in told["rows"] if row["id"] == pairs.examples(language)[0].id)
    site, head, costliest = row["cell"].split(" ")
    sent = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]
    (cell,) = [one["cell"] for one in sent if "numbers" in one]
    assert ".".join(map(str, cell)) == costliest and loaded == []
    assert app.selectbox(key="head").value == int(head) + 1
    assert app.session_state["direction"] == {"a_over_b": "A over B", "b_over_a": "B over A"}[Site.parse(site).role]


def test_readers_need_no_model_to_answer(loaded: list[str]) -> None:
    """Similarity loads them for the terms of the chosen cell, once its figure is there."""
    entries = [entry for entry, _ in defaults() if entry.config["kind"] == "reader"]
    example = next(example for entry, example in defaults() if entry == entries[0])
    dates = [run.trace.meta[stored_traces.DATE] for run in qa_models.explain_readers(entries[:4], example, st.empty())]
    assert len(dates) == 4 and loaded == []


def test_other_texts_need_the_model(loaded: list[str]) -> None:
    app = at_page(app_test(), "cube")
    app.query_params["a"] = "Where is the river?"
    app.run()
    assert loaded == ["quora-tri-living"] and "computed on 20" not in texts(app)


def test_the_laboratory_opens_with_stored_traces(loaded: list[str]) -> None:
    """Its further sections load models."""
    for entry, example in defaults():
        if entry.config["kind"] == "laboratory":
            assert MODELS.explain(entry, example).trace.meta[stored_traces.DATE] and loaded == []
