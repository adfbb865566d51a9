"""`triattn card VIEW …`: a card without a page, its numbers in a few lines, and what does not fit in one."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.card_checkpoints import cases, use_checkpoints
from triattn_core.__main__ import main
from triattn_core.case_card import draw
from triattn_core.errors import ConfigError
from triattn_core.scenes import cli_settings
from triattn_core.scenes.catalogue import SCENES
from triattn_core.tasks import TASKS


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("cards")) as folder:
        yield folder


def row_of(name: str, folder: Path) -> str:
    """The example of one of `cases` in a file."""
    example = cases()[name][2]
    path = folder / cli_settings.ROW
    path.write_text(json.dumps(TASKS[type(example).__module__.rsplit(".", 1)[1]].row(example)), "utf-8")
    return str(path)


DRAWN = ["cube, folded", "mechanisms", "inputs", "context", "a null", "a turn replaced", "attribute", "coin", "tensor"]


@pytest.mark.parametrize("name", DRAWN)
def test_the_command_of_settings_draws_what_they_draw(there, tmp_path, monkeypatch, capsys, name):
    view, checkpoints, example, settings = cases()[name]
    command = shlex.split(cli_settings.command(view, checkpoints, settings))
    assert command[:3] == ["triattn", "card", view]
    row_of(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main([*command[1:], "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    drawn = draw(view, checkpoints, example, **settings)
    assert summary["settings"] == drawn.settings.model_dump(mode="json") and summary["rows"] == len(drawn.table)
    assert [figure["alt"] for figure in summary["figures"].values()] == [
        figure.alt for figure in drawn.figures.values()
    ]
    with ZipFile(tmp_path / f"{view}.zip") as card:
        assert json.loads(card.read("manifest.json"))["settings"] == summary["settings"]


def test_the_lines_say_what_the_model_said_and_what_changed(there, tmp_path, capsys):
    asked = ["card", "intervene", "pairs-tri", row_of("intervene", tmp_path), "--set", "units=token 2,token 3"]
    assert main([*asked, "random=3", "--out", str(tmp_path / "card.zip")]) == 0
    lines = capsys.readouterr().out.splitlines()
    drawn = draw("intervene", "pairs-tri", cases()["intervene"][2], units=["token 2", "token 3"], random=3)
    before, after = (explanation.prediction for explanation in drawn.explanations)
    assert lines[0].endswith(f"intervene of pairs-tri, {len(drawn.table)} rows")
    for line, what, prediction in zip(lines[1:], ("before", "after"), (before, after)):
        assert line.startswith(
            f"pairs-tri, {what}: {prediction.labels[prediction.best]} {max(prediction.probabilities):.4f}, "
        )
    assert lines[3] == f"Attention before and after: {drawn.figures['maps'].alt}"
    assert re.search(r"Without “play” and “the” the log-odds of “\w+” change by [+−][\d.]+", lines[3])
    assert "Random baseline, 3 draws of as many units" in lines[3] and lines[4].startswith("Each unit alone")


def test_what_was_cut_is_said(there, tmp_path, capsys):
    pair = tmp_path / "long.json"
    pair.write_text(json.dumps({"text_a": "movie " * 900, "text_b": "a browser"}), "utf-8")
    assert main(["card", "context", "pairs-tri", str(pair), "--out", str(tmp_path / "card.zip")]) == 0
    assert sum("Sentence A" in line for line in capsys.readouterr().out.splitlines()) == 1


BAD = {
    "no such view": (["contexts", "pairs-tri", "ROW"], "did you mean 'context'?"),
    "no input": (["context", "pairs-tri"], "expected a checkpoint and a JSON file"),
    "no such file": (["context", "pairs-tri", "none.json"], "none.json"),
    "no such checkpoint": (["context", "pairs-try", "ROW"], "pairs-tri"),
    "no setting": (["context", "pairs-tri", "ROW", "--set", "layers=2"], "did you mean 'layer'?"),
    "no value": (["context", "pairs-tri", "ROW", "--set", "layer"], "expected NAME=VALUE"),
    "no number": (["context", "pairs-tri", "ROW", "--set", "layer=two"], "context: layer: "),
    "no JSON": (["intervene", "pairs-tri", "ROW", "--set", "other={"], "expected JSON"),
    "no layer": (["context", "pairs-tri", "ROW", "--set", "layer=9"], "no layer 9"),
    "no cube": (["context", "pairs-bi", "ROW"], "no cube"),
    "no context token": (["context", "pairs-tri", "ROW", "--set", "cell=999"], "no cell 999"),
    "no unit": (["intervene", "pairs-tri", "ROW", "--set", "units=token 77"], "no 'token 77' in this context"),
    "no such unit": (
        ["intervene", "pairs-tri", "ROW", "--set", "units=twenty"],
        "known: token 1 (who), token 2 (play), token 3 (the), token 4 (red), token 5 (car), token 6 (?), token 8 (wh",
    ),
    "nothing chosen": (["intervene", "pairs-tri", "ROW", "--set", "units="], "Nothing is chosen"),
    "no such change": (["intervene", "pairs-tri", "ROW", "--set", "how=drop"], "intervene: how: "),
    "no such head": (["intervene", "pairs-tri", "ROW", "--set", "head=99"], "head 98 is outside"),
    "no context axis": (["intervene", "pairs-bi", "ROW", "--set", "null=shuffled", "along=context"], "'context'"),
    "no method": (["attribute", "pairs-tri", "ROW", "--set", "method=occlude"], "did you mean 'occlusion'?"),
    "no step": (["attribute", "pairs-tri", "ROW", "--set", "steps=0"], "attribute: steps: "),
    "not asked so": (["attribute", "trec-mtsa", "ROW"], "text"),
    "settings twice": (["manifest.json", "--set", "layer=2"], "those of its manifest"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_one_line(there, tmp_path, capsys, name):
    asked, wanted = BAD[name]
    row = row_of("context", tmp_path)
    out = tmp_path / "card.zip"
    assert main(["card", *(row if one == "ROW" else one for one in asked), "--out", str(out)]) == 1
    line = capsys.readouterr().err
    assert line.startswith("triattn: ") and line.count("\n") == 1 and wanted in line, line
    assert not out.exists()


def test_texts_with_commas_and_brackets_are_typed_as_they_are():
    for settings in ({"units": ("a, b", "c")}, {"units": ("[x", "y")}, {"text": "[MASK], twice = 2", "how": "replace"}):
        command = shlex.split(cli_settings.command("intervene", ["one"], settings))
        texts = command[command.index("--set") + 1 : command.index("--out")]
        read = cli_settings.read(SCENES["intervene"].settings, texts)
        assert SCENES["intervene"].settings(**read) == SCENES["intervene"].settings(**settings)
    none = shlex.split(cli_settings.command("intervene", ["one"], {"how": "reorder", "units": ()}))
    assert cli_settings.read(SCENES["intervene"].settings, none[none.index("--set") + 1 : -2])["units"] == []
    assert cli_settings.command("cube", ["one"], {"head": None}) == "triattn card cube one row.json --out cube.zip"
    with pytest.raises(ConfigError, match="no setting 'unit_'"):
        cli_settings.command("intervene", ["one"], {"unit_": 1})
