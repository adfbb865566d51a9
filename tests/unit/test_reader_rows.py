"""Rows that a reader cannot be trained on, or that fit no window, are named."""

from __future__ import annotations

import json

import pytest

from tests.support.reader_world import CONFIG, THINGS, make, train, write_set
from tests.support.tiny import change
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load, save
from triattn_core.checkpoint.config import read_config
from triattn_core.configs.reader import ReaderCheckpoint
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.predict import require_shared_encoder
from triattn_core.kinds import kind_of, load_kind
from triattn_core.models.encoders import load_encoder
from triattn_core.training.reader.data import reader_splits

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("use_reader_world")]

LONG = " ".join(THINGS[:12])
SHORT = f"the {THINGS[0]} the", f"what {THINGS[1]} ?", THINGS[0]


@pytest.mark.parametrize(
    ("train_rows", "more", "named"),
    [
        ([(f"{LONG}{more}", "who ?", LONG) for more in (" a", " the")], {}, "data/long/train.jsonl"),
        ([SHORT] * 2, {"dev": "long/dev"}, "data/long/dev.jsonl"),
        ([SHORT, (f"{LONG} the", "who ?", LONG)], {"dev_share": 0.5}, "triattn: long/train"),
        ([(f"{LONG} the", "who ?", LONG), SHORT], {"dev_share": 0.5}, "triattn: long/train"),
    ],
)
def test_answers_that_fit_no_window_are_one_line(reader_world, tmp_path, capsys, train_rows, more, named):
    write_set(reader_world, "long/train", *train_rows)
    write_set(reader_world, "long/dev", (f"{LONG} a", "who ?", LONG))
    folder = make(reader_world, "long")
    config = change(folder, data={"train": ["long/train"], "test": None} | more)
    (folder / "config.json").write_text(json.dumps(config | {"max_tokens": 8}), "utf-8")
    assert train(reader_world, folder, arguments=("--runs", str(tmp_path))) == 1
    (line,) = (one for one in capsys.readouterr().err.splitlines() if one.startswith("triattn: "))
    assert f"{named}: no answer fits in a window of 8 tokens: raise max_tokens" in line


def test_answers_that_fit_no_window_are_told_where_others_fit(reader_world, tmp_path, capsys):
    far = f"{LONG} the", "who ?", LONG
    write_set(reader_world, "part/train", SHORT, far, SHORT, far)
    write_set(reader_world, "part/dev", (f"a {THINGS[0]} a", *SHORT[1:]), (f"{LONG} a", *far[1:]))
    folder = make(reader_world, "part")
    config = change(folder, data={"train": ["part/train"], "dev": "part/dev", "test": None}, training={"epochs": 1})
    (folder / "config.json").write_text(json.dumps(config | {"max_tokens": 8}), "utf-8")
    assert train(reader_world, folder, arguments=("--runs", str(tmp_path))) == 0
    notices = [line for line in capsys.readouterr().out.splitlines() if "left out" in line]
    assert notices == [
        f"0/0  part/{name} questions have no answer that fits in a window: they are left out"
        for name in ("train 2 of 4", "dev 1 of 2")
    ]


UNSEEN = "\u200b"


@pytest.mark.parametrize("name", ["blank/train", "blank/dev", "blank/test"])
@pytest.mark.parametrize("row", [("the car", " ", "car"), ("the car", UNSEEN, "car"), (UNSEEN, "what ?", UNSEEN)])
def test_a_row_that_cannot_be_read_is_named(reader_world, tmp_path, capsys, name, row):
    message = "is empty" if row[1] == " " else "has no character that the model can read"
    for split in ("train", "dev", "test"):
        write_set(
            reader_world,
            f"blank/{split}",
            (f"{split} the car", "what ?", "car"),
            (f"{split} who the car", "what ?", "car"),
        )
    file = write_set(reader_world, name, SHORT, row)
    folder = make(reader_world, "blank")
    change(folder, data={"train": ["blank/train"], "dev": "blank/dev", "test": "blank/test"}, training={"epochs": 1})
    assert train(reader_world, folder, arguments=("--runs", str(tmp_path))) == 1
    (line,) = (one for one in capsys.readouterr().err.splitlines() if one.startswith("triattn: "))
    place = f"{file}: labelled row 2" if name == "blank/test" and row[1] != " " else f"{file}:2"
    assert line.startswith(f"triattn: {place}: The ") and message in line


def test_questions_without_an_answer_are_told(reader_world, tmp_path, capsys):
    write_set(
        reader_world,
        "some/train",
        SHORT,
        *[("the car", f"what {word} ?", None) for word in THINGS[:3]],
        ("car", "?", "car"),
    )
    file = write_set(reader_world, "some/dev", SHORT, ("the car", "who ?", None))
    folder = make(reader_world, "some")
    change(folder, data={"train": ["some/train"], "dev": "some/dev", "test": "asked/dev"}, training={"epochs": 1})
    assert train(reader_world, folder, arguments=("--runs", str(tmp_path))) == 0
    notices = [line for line in capsys.readouterr().out.splitlines() if "no answer" in line]
    assert notices == [
        f"0/0  some/{name} questions have no answer: they are left out" for name in ("train 3 of 5", "dev 1 of 2")
    ]
    assert main(["evaluate", str(folder), str(file)]) == 0
    captured = capsys.readouterr()
    assert "triattn: 1 of 2 rows have no label, or no answer: they are left out\n" in captured.err
    assert (
        captured.out.startswith("1 rows")
        and main(["evaluate", str(folder), str(reader_world / "data/asked/dev.jsonl")]) == 0
    )
    assert "left out" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"model": {"vectors": "layer:1"}}, "their vectors:"),
        ({"max_tokens": 13}, "their max_tokens:"),
        ({"max_tokens": 13, "model": {"vectors": "layer:1"}}, "their max_tokens and vectors:"),
    ],
)
def test_readers_that_read_other_vectors_or_windows_are_told_what_differs(reader_world, changes, difference):
    bundles = []
    for name, more in (("first", {}), ("second", changes)):
        config = CONFIG | more | {"model": CONFIG["model"] | more.get("model", {})}
        config = ReaderCheckpoint.model_validate(config)
        model = kind_of(config).model(config, load_encoder("tiny", "cpu")[0].hidden)
        save(reader_world / "checkpoints" / name, config, model)
        bundles.append(load(name))
    with pytest.raises(ConfigError, match=f"first and second differ in {difference} ask them apart"):
        require_shared_encoder(bundles)


def test_a_set_without_an_answer_is_named(reader_world):
    file = reader_world / "data" / "none" / "train.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps({"context": "the car", "question": "what ?"}), "utf-8")
    folder = make(reader_world, "none")
    change(folder, data={"train": ["none/train"]})
    with pytest.raises(DataError, match="none/train.jsonl: none of the selected questions .* nothing to train on"):
        reader_splits(read_config(folder / "config.json"), reader_world / "data")


def test_what_the_encoder_cannot_read_is_said(reader_world):
    folder = make(reader_world, "too-long", vectors="layer:1")
    change(folder)
    config = json.loads((folder / "config.json").read_text("utf-8")) | {"max_tokens": 63}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(ConfigError, match="at most 62"):
        load_kind("reader").frozen(read_config(folder / "config.json"), load_encoder("tiny", "cpu")[0])
