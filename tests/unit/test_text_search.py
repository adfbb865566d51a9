"""Words in the texts of a large file of rows, and single rows of it: the same as with all texts in memory."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from triattn_core.analysis.mining import sources, text_search
from triattn_core.analysis.mining.text_search import TextSearch, read_lines
from triattn_core.case_book import texts
from triattn_core.errors import DataError
from triattn_core.tasks import TASKS
from triattn_core.text import rows

HARD = [
    {"text_a": "I ca n't say ``go'' , can I ?", "text_b": "Straße und/oder 浏览器", "label": 1},
    {"text_a": "ÉCOLE", "text_b": "back\\slash and tab\tend", "label": 0, "id": "browser-7"},
]
WORDS = (
    "browser",
    "BROWSERS movies",
    "can't",
    '"go"',
    "und/oder",
    "strasse",
    "浏览器",
    "école",
    "k\\s",
    "text_a",
    "?",
    "nowhere",
)


def content(task: str, ascii: bool) -> bytes:
    examples = [example for language in TASKS[task].LANGUAGES for example in TASKS[task].examples(language)]
    records = [TASKS[task].row(example) for example in examples] + (HARD if task == "pairs" else [])
    lines = [json.dumps(record, ensure_ascii=ascii) for record in records]
    lines[3:3] = ["", "{", "[1]", '{"text_a": "browser"}']
    ends = ["\r\n", "\n", "\r", "\n", "\n"] * len(lines)
    return "".join(line + end for line, end in zip(lines, ends)).encode("utf-8-sig") + b'{"text_a": "the last"}'


@pytest.fixture(params=[("pairs", False), ("pairs", True), ("reading", True), ("dialogue", False)], ids=str)
def source(request, tmp_path, monkeypatch):
    task, ascii = request.param
    monkeypatch.setattr(rows, "BLOCK", 300)
    monkeypatch.setattr(rows, "CHUNK", 100)
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(content(task, ascii)))
    return task, sources.file_source(tmp_path / "rows.jsonl.gz")


def examples_in_memory(task: str, source: sources.Source) -> dict[int, object]:
    read = sources.read_examples(task, source)
    return {line: example for line, example in read if not isinstance(example, DataError)}


def test_the_rows_that_have_all_words_are_found(source):
    task, source = source
    examples = examples_in_memory(task, source)
    assert len(examples) > 10
    joined = {line: "\n".join(texts(TASKS[task].row(example))).casefold() for line, example in examples.items()}
    num_found = 0
    for asked in WORDS:
        words = tuple(asked.casefold().split())
        search, steps = TextSearch(task, source, words), 0
        while search.step():
            steps += 1
        expected = [line for line, text in joined.items() if all(word in text for word in words)]
        assert search.lines.tolist() == expected, asked
        assert search.is_complete and search.line >= max(examples) and steps > 3
        num_found += bool(expected)
    assert num_found >= (10 if task == "pairs" else 1)


def test_single_rows_are_read_by_their_lines(source):
    task, source = source
    examples = examples_in_memory(task, source)
    assert read_lines(task, source, [*examples, 4, 5, 6, 7, 10_000]) == (examples, [])
    some = list(examples)[::7]
    assert read_lines(task, source, some) == ({line: examples[line] for line in some}, [])
    assert read_lines(task, source, some, seconds=-1.0) == ({}, some) and read_lines(task, source, []) == ({}, [])


def test_a_parquet_file_is_searched_by_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(text_search, "ROWS", 7)
    records = [
        TASKS["pairs"].row(example) for language in ("en", "zh") for example in TASKS["pairs"].examples(language)
    ]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "rows.parquet")
    source = sources.file_source(tmp_path / "rows.parquet")
    examples = examples_in_memory("pairs", source)
    for word in ("browser", "浏览器"):
        search = TextSearch("pairs", source, (word,))
        while search.step():
            pass
        matching = [
            line for line, example in examples.items() if word in f"{example.text_a} {example.text_b}".casefold()
        ]
        assert search.lines.tolist() == matching != []
    assert read_lines("pairs", source, [1, 8, 30]) == ({line: examples[line] for line in (1, 8, 30)}, [])


def test_a_damaged_file_is_searched_as_far_as_it_goes(tmp_path):
    lines = b"".join(json.dumps({"text_a": f"browser {i}", "text_b": str(i) * 9}).encode() + b"\n" for i in range(5000))
    packed = gzip.compress(lines)
    source = sources.uploaded_source("rows.jsonl.gz", packed[: len(packed) // 2])
    examples = examples_in_memory("pairs", source)
    search = TextSearch("pairs", source, ("browser",))
    while search.step():
        pass
    assert 1000 < len(search.lines) < 5000 and search.lines.tolist() == list(examples)


def test_a_line_without_end_ends_the_search(monkeypatch):
    monkeypatch.setattr(rows, "LINE_LIMIT", 1000)
    monkeypatch.setattr(rows, "BLOCK", 100)
    monkeypatch.setattr(rows, "CHUNK", 500)
    blocks = list(rows.line_blocks(sources.uploaded_source("x", b"a\nb\n" + b" " * 9000 + b"\nc\n").open(), "x"))
    assert blocks == [(1, b"a\nb\n")]
