"""Files of rows that are read as far as they can be: bad lines, damaged packing, and files that unfold without end."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from io import BytesIO

import pytest

from triattn_core.analysis.mining import sources
from triattn_core.errors import DataError, TruncationError
from triattn_core.text import rows

ROW = {"text_a": "Which browser?", "text_b": "什么浏览器", "label": 1}
LINE = json.dumps(ROW, ensure_ascii=False).encode() + b"\n"


def read(content: bytes, name: str = "rows.jsonl") -> list[tuple[int, dict | DataError]]:
    return list(rows.each_line(BytesIO(content), name))


def good(results: list) -> list[int]:
    return [line for line, row in results if row == ROW]


def bad(results: list) -> list[str]:
    assert all(str(row).startswith("rows.jsonl") and "\n" not in str(row) for _, row in results if row != ROW)
    return [str(row) for _, row in results if row != ROW]


def test_reading_goes_on_after_a_bad_line():
    results = read(LINE + b"{\n\n" + LINE + b"\xff\xfe\n" + LINE + b'{"a": "\\udc00"}\n[]\n' + LINE.strip())
    assert good(results) == [1, 4, 6, 9]
    assert [one.split(":", 2)[1] for one in bad(results)] == ["2", "5", "7", "8"]


def test_a_pair_of_halves_is_a_character():
    assert read(b'{"text_a": "\\ud83d\\ude00"}')[0][1] == {"text_a": "😀"}


@pytest.mark.slow
def test_broken_json_at_line_a_million():
    results = read(b"{}\n" * 999_999 + b'{"text_a"\n' + b"{}\n")
    assert len(results) == 1_000_001
    assert str(results[-2][1]).startswith("rows.jsonl:1000000: not JSON") and results[-1] == (1_000_001, {})


@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.jsonl"])
def test_a_packed_file_is_known_by_what_it_is(name):
    assert good(read(gzip.compress(LINE * 3), name)) == [1, 2, 3]


def test_a_packed_file_cut_short_gives_what_came_before():
    lines = b"".join(json.dumps({"n": n, "text": str(n) * 9}).encode() + b"\n" for n in range(5000))
    packed = gzip.compress(lines)
    results = read(packed[: len(packed) // 2], "rows.jsonl.gz")
    assert [row["n"] for _, row in results[:-1]] == list(range(len(results) - 1)) and len(results) > 1000
    assert f"rows.jsonl.gz:{len(results)}: " in str(results[-1][1])
    assert 1000 < rows.count_lines(BytesIO(packed[: len(packed) // 2]), "rows.jsonl.gz") <= len(results)


def test_what_unfolds_without_end_is_left(monkeypatch):
    monkeypatch.setattr(rows, "LINE_LIMIT", 10_000)
    bomb = gzip.compress(LINE * 9 + b"x\n" * 3_000_000)
    results = read(bomb, "rows.jsonl.gz")
    limit = 10_000 + rows.EXPANSION * len(bomb)
    assert limit < 3_000_000 and len(results) < limit
    assert good(results) == list(range(1, 10)) and "decompresses to more than 100 times its size" in str(results[-1][1])
    assert rows.count_lines(BytesIO(bomb), "rows.jsonl.gz") <= limit + (1 << 20)


def test_a_large_packed_file_is_cut_with_a_reason_or_read_to_its_end(monkeypatch, tmp_path):
    monkeypatch.setattr(rows, "PACKED_LIMIT", 20 * len(LINE))
    packed = gzip.compress(LINE * 30)
    *before, (line, reason) = read(packed, "rows.jsonl.gz")
    assert 15 < len(before) < 25 and line == len(before) + 1
    assert isinstance(reason, TruncationError) and "an upload is read no further" in str(reason)
    whole = list(rows.each_line(BytesIO(packed), "rows.jsonl.gz", unlimited=True))
    assert good(whole) == list(range(1, 31)) and rows.count_lines(BytesIO(packed), "x", unlimited=True) == 30
    (tmp_path / "rows.jsonl.gz").write_bytes(packed)
    assert len(list(rows.read_json_lines(tmp_path / "rows.jsonl.gz"))) == 30
    assert sources.file_source(tmp_path / "rows.jsonl.gz").lines == 30
    assert len(list(sources.file_source(tmp_path / "rows.jsonl.gz").rows("pairs"))) == 30
    assert len(list(sources.uploaded_source("rows.jsonl.gz", packed).rows("pairs"))) == len(before) + 1


def test_a_line_without_end_is_left(monkeypatch):
    monkeypatch.setattr(rows, "LINE_LIMIT", 1000)
    results = read(LINE + b" " * 5000)
    assert good(results) == [1] and "a line of over 1,000 characters" in bad(results)[0] and len(results) == 2


def test_a_file_of_no_rows_has_an_end(monkeypatch):
    monkeypatch.setattr(rows, "IDLE", 50)
    for filler in (b"\n", b"{\n"):
        results = read(LINE + filler * 49 + LINE + filler * 60 + LINE)
        assert good(results) == [1, 51] and "50 invalid lines in succession" in str(results[-1][1])


def test_nothing_is_nothing():
    for empty in (b"", b"\n\n", b"\xef\xbb\xbf", gzip.compress(b"")):
        assert read(empty) == []
    assert rows.count_lines(BytesIO(b""), "x") == 0


def test_lines_are_counted():
    for content, lines in ((LINE, 1), (LINE * 3, 3), (LINE + b"{}", 2)):
        assert rows.count_lines(BytesIO(content), "rows.jsonl") == lines
        assert rows.count_lines(BytesIO(gzip.compress(content)), "rows.jsonl.gz") == lines


def test_the_file_stays_its_owner_s():
    file = BytesIO(LINE * 3)
    lines = rows.each_line(file, "rows.jsonl")
    next(lines)
    lines.close()
    assert not file.closed and good(list(rows.each_line(file, "rows.jsonl"))) == [1, 2, 3]


def test_a_packed_json_that_unfolds_without_end_is_refused_in_little_memory(monkeypatch):
    monkeypatch.setattr(rows, "JSON_LIMIT", 5_000_000)
    bomb = gzip.compress(b'{"a": "' + b"x" * 30_000_000 + b'"}', 1)
    padded = bomb + bytes(4_000_000)
    tracemalloc.start()
    try:
        for name in ("squad.json.gz", "squad.json"):
            with pytest.raises(DataError, match="decompresses to more than"):
                rows.read_json(name, padded)
        assert tracemalloc.get_traced_memory()[1] < 3 * rows.JSON_LIMIT
    finally:
        tracemalloc.stop()


def test_rows_that_unfold_to_much_in_all_are_left(monkeypatch):
    monkeypatch.setattr(rows, "PACKED_LIMIT", 50_000)
    results = read(gzip.compress(LINE * 9 + b"{}\n" * 30_000, 1), "rows.jsonl.gz")
    assert (
        good(results) == list(range(1, 10))
        and "decompresses to more than" in str(results[-1][1])
        and len(results) < 20_000
    )
