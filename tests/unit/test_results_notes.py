"""What to know of a paper's table: what start weights had read, and what is empty."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.unit.test_results import COLUMN, CONFIG, TABLE, record
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.results import notes
from triattn_core.results.paper_comparison import Cell, fill_table


def encoder(root: Path, seen: list | None) -> None:
    folder = root / "encoders" / "small"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"num_hidden_layers": 5, "hidden_size": 77}')
    stages = [{"data": ["cars/train"], "mine": "cars/more"}, {"data": ["cars/train"]}]
    (folder / "recipe.json").write_text(json.dumps({"start": {"name": "nothing"}, "stages": stages}))
    if seen is not None:
        (folder / "metrics.json").write_text(json.dumps({"start_had_seen": seen}))


@pytest.mark.parametrize(
    ("seen", "prefix"),
    [
        (None, "The pre-training data of small is not recorded."),
        ([], "small was trained from scratch."),
        ([{"name": "Wiki"}, {"name": "Web"}], "small was pre-trained on Wiki and 1 more, none of it the source"),
        ([{"name": "Wiki"}, {"name": "Cars", "set": "lcqmc"}], "small was pre-trained on Cars, the source of the test"),
    ],
)
def test_notes_say_what_the_start_weights_had_read(tmp_path, monkeypatch, seen, prefix):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    encoder(tmp_path, seen)
    each = [{"seed": n, "test": {"accuracy": 80.0 + n, "n": 400}} for n in (1, 2)]
    cells = [one for row in fill_table(TABLE, [record(each_seed=each)]) for one in row]
    note_texts = {note.head: note.text for note in notes.notes_on_cells(cells)}
    assert note_texts["Start weights"].startswith(prefix)
    frozen = "small, 5 layers of 77 features; the models are trained on its frozen features."
    assert note_texts["Encoder"] == f"{frozen} It was itself trained on cars/train, cars/more."
    assert note_texts["Trained on"] == "One row in 3 of lcqmc/train; 1 epoch."
    error = 100 * math.sqrt(0.815 * 0.185 / 400)
    assert note_texts["Seeds"].startswith("2 seeds behind 1 cell of ours, 1 seed behind 1 cell of ours.")
    assert f"one standard error near 82 % is {error:.2f}." in note_texts["Seeds"]
    assert "F1-score: not recorded of every seed." in note_texts["Seeds"]


def test_notes_of_nothing_say_how_much_is_empty():
    (only,) = notes.notes_on_cells([c for row in fill_table(TABLE, []) for c in row])
    assert (only.head, only.text) == ("Empty", "2 cells of ours: not trained.")


def test_notes_that_differ_between_rows_name_their_rows():
    records = [record(file="a"), record("b", config=CONFIG | {"training": {"epochs": 2}})]
    cells = [Cell(COLUMN, None, (80.0,), one) for one in (records[0], records[0], records[1])]
    cells += [Cell(COLUMN, None, reason=reason) for reason in ("not trained: x", "not measured: y", "not trained: z")]
    names = ["one", "one", "two", "three", "four", "five"]
    texts = [(note.head, note.text) for note in notes.notes_on_cells(cells, names)]
    assert [text for head, text in texts if head == "Trained on"] == [
        "one: One row in 3 of lcqmc/train; 1 epoch.", "two: One row in 3 of lcqmc/train; 2 epochs."
    ]  # fmt: skip
    assert [text for head, text in texts if head == "Empty"] == [
        "three and five: 2 cells of ours: not trained.", "four: 1 cell of ours: not measured."
    ]  # fmt: skip
    assert len([text for head, text in texts if head == "Encoder" and "one" not in text]) == 1  # alike in both


def test_notes_that_differ_between_columns_of_the_same_rows_name_the_columns():
    other = COLUMN.model_copy(update={"name": "random alone"})
    cells = [
        Cell(COLUMN, None, (80.0,), record()),
        Cell(other, None, (80.0,), record("b", config=CONFIG | {"training": {"epochs": 2}})),
    ]
    trained = [note.text for note in notes.notes_on_cells(cells, ["one", "one"]) if note.head == "Trained on"]
    assert [text.partition(":")[0] for text in trained] == ["Accuracy", "random alone"]


def test_a_vote_is_no_seed():
    vote = record(voters=5)
    text = next(note.text for note in notes.notes_on_cells([Cell(COLUMN, None, (80.0,), vote)]) if note.head == "Seeds")
    assert text.startswith("A vote of 5 seeds behind 1 cell of ours.")


def test_a_bare_config_has_no_training_rows_in_words():
    assert notes.trained_on(record(config={})) == ""
    data = CONFIG["data"] | {"where": {"level": "middle"}, "every": 1, "even": 1.5}
    assert notes.trained_on(record(config=CONFIG | {"cells": [15, 15, 32], "data": data})) == (
        "All available rows of lcqmc/train, level middle alone, labels balanced to 1.5 to one at similar word "
        "overlap; 1 epoch; read in 15 / 15 / 32 cells."
    )
