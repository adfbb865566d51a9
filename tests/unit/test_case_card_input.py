"""Case cards made again from what does not fit: other checkpoints, settings, rows and files, each in one line."""

from __future__ import annotations

import re

import pytest

from tests.support.card_checkpoints import cases, dump_manifest, rendered_card, use_checkpoints, write_card
from triattn_core.__main__ import main
from triattn_core.case_card import draw
from triattn_core.errors import ConfigError, InputError, TriattnError


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("cards")) as folder:
        yield folder


def read_error(capsys) -> str:
    """The one line on standard error."""
    line = capsys.readouterr().err
    assert line.startswith("triattn: ") and line.count("\n") == 1, line
    return line


def digests(about: dict, **changed: str) -> list[dict]:
    return [about["checkpoints"][0] | changed]


BAD = {
    "other weights": (lambda about: {"checkpoints": digests(about, digest="0123456789abcdef")}, "0123456789ab"),
    "another encoder": (lambda about: {"checkpoints": digests(about, encoder_digest="feed" * 9)}, "feedfeedfeed"),
    "no such checkpoint": (lambda about: {"checkpoints": digests(about, name="pairs-try")}, "mean 'pairs-tri'?"),
    "a newer format": (lambda about: {"format": 2}, "format 2, this triattn reads up to 1"),
    "no format": (lambda about: {"format": "1"}, "not a manifest"),
    "no such view": (lambda about: {"view": "cub"}, "did you mean 'cube'?"),
    "no such task": (lambda about: {"task": "pair"}, "did you mean 'pairs'?"),
    "an unknown field": (lambda about: {"colour": 1}, "colour"),
    "no checkpoint": (lambda about: {"checkpoints": []}, "checkpoints"),
    "an unknown setting": (lambda about: {"settings": {"heads": 1}}, "did you mean 'head'?"),
    "no such head": (
        lambda about: {"settings": about["settings"] | {"head": 99}},
        "there is no head 99: layer.1/a_over_b/weight has 2",
    ),
    "no such site": (lambda about: {"settings": about["settings"] | {"site": "layer.9/x"}}, "no site 'layer.9/x'"),
    "no such cell": (lambda about: {"settings": about["settings"] | {"cell": [0, 0, 99]}}, "no cell 0.0.99"),
    "a cell of two": (lambda about: {"settings": about["settings"] | {"cell": [0, 0]}}, "no cell 0.0"),
    "an empty text": (lambda about: {"row": about["row"] | {"text_a": " "}}, "Sentence A is empty"),
    "no text": (lambda about: {"row": {}}, "'text_a'"),
    "other answers": (lambda about: {"said": [about["said"][0] | {"probabilities": [1]}]}, "differ from the manifest"),
    "none drawn": (lambda about: {"drawn": 0}, "cube shows one trace, got 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_manifest_that_does_not_fit_is_one_line(there, tmp_path, capsys, name):
    change, wanted = BAD[name]
    view = rendered_card("cube")
    about = dump_manifest(view)
    path, out = write_card(view, tmp_path, **change(about)), tmp_path / "again.zip"
    assert main(["card", str(path), "--out", str(out)]) == 1 and not out.exists()
    line = read_error(capsys)
    assert wanted in line
    if name == "other weights":
        assert about["checkpoints"][0]["digest"][:12] in line and "pairs-tri" in line


@pytest.mark.parametrize("content", ["", "{", "[1]", '"text"', "[" * 100_000, "\x00", '{"format": 1}'])
def test_what_is_no_manifest_is_one_line_that_names_the_file(there, tmp_path, capsys, content):
    path = tmp_path / "manifest.json"
    path.write_text(content, "utf-8")
    assert main(["card", str(path), "--out", str(tmp_path / "again.zip")]) == 1
    assert str(path) in read_error(capsys)
    assert main(["card", str(tmp_path / "none.json"), "--out", str(tmp_path / "again.zip")]) == 1
    assert "none.json" in read_error(capsys)


def test_another_table_beside_the_manifest_is_said(there, tmp_path, capsys):
    view = rendered_card("cube")
    path, out = write_card(view, tmp_path), str(tmp_path / "again.zip")
    beside = tmp_path / "data.parquet"
    beside.write_bytes(b"nothing")
    assert main(["card", str(path), "--out", out]) == 1 and "not a table" in read_error(capsys)
    view.table.iloc[1:].to_parquet(beside)
    assert main(["card", str(path), "--out", out]) == 1 and "not the cells" in read_error(capsys)
    moved = view.table.copy()
    moved.loc[3, "weight"] += 0.25
    moved.to_parquet(beside, index=False)
    assert main(["card", str(path), "--out", out]) == 0 and "at most 0.25 from" in capsys.readouterr().out
    beside.unlink()
    assert main(["card", str(path), "--out", out]) == 0 and "data: not compared" in capsys.readouterr().out
    assert main(["card", str(path), "--out", str(tmp_path / "no" / "x.zip")]) == 1 and "no such folder" in read_error(
        capsys
    )


def test_what_does_not_go_together_is_one_line(there):
    _, _, pair, _ = cases()["cube"]
    for view, names, example, wanted in (
        ("cub", ["pairs-tri"], pair, "did you mean 'cube'?"),
        ("cube", ["pairs-tri", "pairs-bi"], pair, "cube shows one checkpoint, got 2"),
        ("cube", ["pairs-bi"], pair, "no site of 3 axes in this trace: it has head × query × key"),
        ("cube", ["trec-mtsa"], pair, "takes an example of sentences, got pairs"),
        ("side_by_side", ["pairs-tri", "trec-mtsa"], pair, "share a task"),
        ("side_by_side", ["pairs-tri"], pair, "two to four checkpoints"),
        ("mtsa", ["pairs-tri"], pair, "not one of MTSA"),
        ("tensor", ["pairs-tri"], pair, "not one of MTSA"),
        ("coin", ["pairs-tri"], pair, "COIN only"),
        ("similarity", ["pairs-tri"], pair, "readers"),
        ("side_by_side", ["pairs-tri", "pairs-tri"], pair, "two of these checkpoints are called pairs-tri"),
    ):
        with pytest.raises(TriattnError, match=re.escape(wanted)):
            draw(view, names, example)
    with pytest.raises(InputError, match="no candidate 99"):
        draw("cube", ["dialogue-tri"], cases()["dialogue"][2], option=99)
    with pytest.raises(ConfigError, match="no setting 'heads'; did you mean 'head'"):
        draw("cube", ["pairs-tri"], pair, heads=2)
