"""Checkpoints: the picture of all scores, beside the table of the same."""

from __future__ import annotations

from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from tests.app.test_pages import opened, sound, visible_text
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import list_checkpoints


def dots(app) -> dict[str, float]:
    """Of the picture the score by checkpoint."""
    tables = [convert_arrow_bytes_to_pandas_df(data.data.data) for data in app.get("vega_lite_chart")[0].proto.datasets]
    return {name: score for table in tables for name, score in zip(table["name"], table["score"])}


def test_each_measured_checkpoint_has_a_dot_and_the_filters_leave_some_out() -> None:
    app = sound(opened("checkpoints"))
    scores = {
        entry.name: metadata.main_score(entry)
        for entry in list_checkpoints()
        if entry.problem is None and metadata.main_score(entry) is not None
    }
    text = visible_text(app)
    assert "Click a dot" in text and "Highest test score of each set, in per cent." in text
    drawn = dots(app)
    assert drawn and drawn == {name: scores[name] for name in drawn}
    filtered = dots(sound(app.selectbox(key="mechanism").set_value("MTSA").run()))
    assert filtered and set(filtered) < set(drawn) and all("mtsa" in name for name in filtered)
    without = dots(sound(app.selectbox(key="similarity").set_value("none").run()))
    assert without == filtered  # MTSA has no similarity to choose
