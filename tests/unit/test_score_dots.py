"""The picture of all test scores, through its data and its sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd

from triattn_core.views.charts import score_dots
from triattn_core.views.lib.palette import THEMES

ROWS = pd.DataFrame(
    [
        ("Quora, accuracy", "quora-tri", "Tri", "#111111", 80.2, 50.0),
        ("Quora, accuracy", "quora-bi", "Bi", "#222222", 81.1, 50.0),
        ("SQuAD, EM", "squad-dot", "baseline reader", "#333333", 55.6, np.nan),
        ("SQuAD, EM", "squad-bidaf", "BiDAF", "#333333", 57.8, np.nan),
    ],
    columns=score_dots.COLUMNS,
)


def layers() -> dict[str, dict]:
    """The layers by their mark, and the rows that each one draws."""
    spec = score_dots.figure(ROWS, "quora-tri").to_dict()
    return {
        layer["mark"]["type"]: layer | {"rows": spec["datasets"][(layer.get("data") or spec["data"])["name"]]}
        for layer in spec["layer"]
    }


def test_a_dot_stands_at_its_score_and_a_tick_at_what_guessing_reaches():
    drawn = layers()
    assert [(row["name"], row["score"]) for row in drawn["circle"]["rows"]] == [
        ("quora-tri", 80.2), ("quora-bi", 81.1), ("squad-dot", 55.6), ("squad-bidaf", 57.8),
    ]  # fmt: skip
    assert drawn["circle"]["encoding"]["x"]["scale"]["domain"] == [0, 100]
    assert [(row["set"], row["blind"]) for row in drawn["tick"]["rows"]] == [("Quora, accuracy", 50.0)]


def test_the_chosen_dot_alone_is_ringed():
    ring = layers()["point"]
    assert ring["transform"] == [{"filter": {"field": "name", "equal": "quora-tri"}}]
    assert ring["mark"]["stroke"] == THEMES["light"]["query"]


def test_the_sentence_has_the_best_of_each_set():
    assert score_dots.describe(ROWS) == (
        "Highest test score of each set, in per cent. Quora, accuracy: quora-bi 81.1, guessing 50.0; "
        "SQuAD, EM: squad-bidaf 57.8."
    )


def test_mechanisms_of_one_colour_share_a_swatch():
    assert score_dots.mechanisms(ROWS) == [
        ("Tri", "#111111"), ("Bi", "#222222"), ("baseline reader, BiDAF", "#333333"),
    ]  # fmt: skip
