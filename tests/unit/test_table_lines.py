"""Rows of CSV and TSV files, as spreadsheets, pandas and the owners of data sets write them."""

from __future__ import annotations

import gzip
import io

import pandas as pd
import pytest

from triattn_core.analysis.mining.sources import uploaded_source
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow, read_texts
from triattn_core.text.rows import each_line


def rows(content: str | bytes, name: str = "rows.csv"):
    return list(each_line(io.BytesIO(content.encode() if isinstance(content, str) else content), name))


FRAME = pd.DataFrame({"text_a": ["a, b", 'she said "x"', "two\nlines"], "text_b": ["c", "d", "e"], "label": [1, 0, 1]})


@pytest.mark.parametrize(
    "options", [{}, {"sep": ";"}, {"encoding": "utf-8-sig"}, {"quoting": 1}, {"lineterminator": "\r\n"}]
)
def test_what_pandas_writes_is_read(options, tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False, **options)
    read = rows((tmp_path / "rows.csv").read_bytes())
    assert [number for number, _ in read] == [2, 3, 4]
    assert [row for _, row in read] == FRAME.astype(str).to_dict("records")


def test_labels_of_a_table_are_numbers():
    content = b"idx,sentence,label\n0,good,1.0\n1,bad,0\n2,odd,\n3,good film,fine\n"
    read = [row for _, row in read_texts(uploaded_source("r.csv", content))]
    assert read == [TextRow(("good",), 1), TextRow(("bad",), 0), TextRow(("odd",)), TextRow(("good film",), "fine")]


def test_tab_separated_values_keep_stray_quotes():
    """As GLUE has them; a cell that pandas wrote in quotes loses them."""
    read = rows('sentence1\tsentence2\tlabel\n"a" b\t5" pipe\t1\n"x ""y"""\tz\t0\n', "dev.tsv")
    assert [row for _, row in read] == [
        {"sentence1": '"a" b', "sentence2": '5" pipe', "label": "1"},
        {"sentence1": 'x "y"', "sentence2": "z", "label": "0"},
    ]


def test_a_table_may_be_packed():
    assert rows(gzip.compress(b"text\tlabel\na\t1\n"), "r.tsv.gz") == [(2, {"text": "a", "label": "1"})]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("text,label\na,b,1\n", "rows.csv:2: 3 cells, the first line names 2 columns"),
        (b"text\n\xff\xfe\n", "not UTF-8 text"),
        ('text,label\n"open,1\nb,0\n', "rows.csv:2: 1 cells, the first line names 2 columns"),
    ],
)
def test_what_is_no_table_is_said(content, says):
    errors = [str(row) for _, row in rows(content) if isinstance(row, DataError)]
    assert len(errors) == 1 and says in errors[0]


def test_a_table_without_names_says_which_there_are():
    [(_, error)] = read_texts(uploaded_source("r.csv", b"good film,1\nbad film,0\n"))
    assert "there are good film, 1" in str(error)


def test_other_files_are_told_what_is_read():
    [(_, error), *_] = rows("text label\ngood 1\n", "rows.txt")
    assert "rows.txt:1: not JSON" in str(error) and "JSON Lines, CSV or TSV" in str(error) and "Parquet" in str(error)
    assert "Parquet" not in str(rows("x\n", "rows.jsonl")[0][1])
