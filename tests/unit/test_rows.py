"""Files of rows that say what is wrong with them, and the sentence pairs in them."""

from __future__ import annotations

import gzip
import json

import pytest

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import pairs
from triattn_core.text import rows

ROW = {"text_a": "Which browser?", "text_b": "什么浏览器", "label": 1}


def write(path, lines: list[str]):
    content = "\n".join(lines).encode("utf-8")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_come_with_file_and_line(tmp_path, name):
    path = write(tmp_path / name, [json.dumps(ROW), "", "  ", json.dumps(ROW, ensure_ascii=False)])
    assert list(rows.read_json_lines(path)) == [(f"{path}:1", ROW), (f"{path}:4", ROW)]


BAD_LINES = {
    "cut short": '{"text_a": "x"',
    "not JSON": "text_a,text_b",
    "a list": "[1, 2]",
    "a number": "3",
    "nothing": "null",
    "two objects": "{} {}",
    "too deep": "[" * 100_000,
    "a number of too many digits": '{"label": ' + "1" * 10_000 + "}",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named(tmp_path, line):
    path = write(tmp_path / "rows.jsonl", [json.dumps(ROW), line])
    with pytest.raises(DataError, match=r"rows\.jsonl:2: ") as caught:
        list(rows.read_json_lines(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "LINE_LIMIT", 1000)
    path = write(tmp_path / "rows.jsonl.gz", [json.dumps(ROW), " " * 1_000_000])
    with pytest.raises(DataError, match=r"rows\.jsonl\.gz:2: a line of over 1,000 characters"):
        list(rows.read_json_lines(path))


def damaged() -> dict[str, tuple[str, bytes]]:
    whole = gzip.compress(b"".join(json.dumps({"text_a": str(n) * 9}).encode() + b"\n" for n in range(5000)))
    middle = len(whole) // 2
    return {
        "not UTF-8": ("rows.jsonl", b'{"text_a": "\xff\xfe"}'),
        "UTF-16": ("rows.jsonl", json.dumps(ROW).encode("utf-16")),
        "not gzip": ("rows.jsonl.gz", json.dumps(ROW).encode()),
        "gzip cut short": ("rows.jsonl.gz", whole[:middle]),
        "gzip with a hole": ("rows.jsonl.gz", whole[:middle] + b"\0" * 64 + whole[middle + 64 :]),
        "gzip with no deflate in it": ("rows.jsonl.gz", whole[:10] + b"\x07" * 99),
    }


@pytest.mark.parametrize("kind", damaged())
def test_a_damaged_file_is_refused_in_one_line(tmp_path, kind):
    name, content = damaged()[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name) as caught:
        list(rows.read_json_lines(tmp_path / name))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.jsonl", "."])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(DataError, match="no such file"):
        list(rows.read_json_lines(tmp_path / name))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text_a": None}, "field 'text_a' must be text, got None"),
        ({"text_b": ["x"]}, "field 'text_b' must be text"),
        ({"text_b": "x" * 9, "text_a": 3}, "field 'text_a' must be text, got 3"),
        ({"label": 2}, "field 'label' must be 0 or 1, got 2"),
        ({"label": True}, "field 'label' must be 0 or 1, got True"),
        ({"label": "one"}, "field 'label' must be 0 or 1, got 'one'"),
        ({"label": 1.5}, "field 'label' must be 0 or 1, got 1.5"),
        ({"label": [1]}, "field 'label' must be 0 or 1"),
    ],
)
def test_a_field_that_does_not_fit_is_named(tmp_path, change, message):
    path = write(tmp_path / "rows.jsonl", [json.dumps(ROW), json.dumps(ROW | change)])
    with pytest.raises(DataError, match=r"rows\.jsonl:2: ") as caught:
        list(pairs.read(path))
    assert message in str(caught.value)


def test_a_missing_label_is_nobodys_judgement(tmp_path):
    row = {"text_a": "the", "text_b": "movie"}
    examples = list(pairs.read(write(tmp_path / "rows.jsonl", [json.dumps(row), json.dumps(row | {"label": 0})])))
    assert [example.label for example in examples] == [None, 0]


@pytest.mark.parametrize(
    ("spaced", "natural"),
    [
        ("Why ca n't I do it ?", "Why can't I do it?"),
        ("What 's the `` best '' film , really ?", 'What\'s the "best" film, really?'),
        ("It is ( not ) good .", "It is (not) good."),
        ("Costs $ 10,000 %", "Costs $10,000%"),
        ("Why can't I do it?", "Why can't I do it?"),
        ("什么浏览器 可以", "什么浏览器 可以"),
    ],
)
def test_treebank_spacing_becomes_natural_text(spaced, natural):
    assert pairs.natural(spaced) == natural
    assert pairs.natural(natural) == natural


@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000"])
def test_a_blank_sentence_is_refused(blank):
    with pytest.raises(InputError, match="Sentence B is empty"):
        pairs.Example("the", blank).check()
