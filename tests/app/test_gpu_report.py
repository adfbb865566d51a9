"""What `make gpu` stores is shown on the page Results; nothing where no card was tried."""

from __future__ import annotations

import json

import pytest

from pages.results import gpu_report
from pages.shared import checkpoint_html
from tests.app.test_pages import opened, sound, texts
from tests.gpu import __main__ as gpu
from tests.gpu import checks
from triattn_core.errors import DataError
from triattn_core.results import gpu as record


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "records_folder", lambda: tmp_path)
    return tmp_path


def test_a_report_of_checks_stands_on_results(folder, monkeypatch):
    assert gpu_report.section() == ""
    monkeypatch.setattr(checks, "LEAST", 0)
    monkeypatch.setattr(checks, "ALL", 64)
    report = gpu.report("cpu", ("quora-bi-living",), (16,), training_seconds=0)
    trained = {"check": "training", "name": "COIN", "steps": 40, "rows/s": 586.04, "peak memory": 12_000_000}
    report["rows"].append(trained | {"loss": [2.0, 1.0], "passed": True})
    (folder / record.FILE).write_text(json.dumps(report), "utf-8")
    page_text = texts(sound(opened("results")))
    assert "On a GPU" in page_text and "2 of 2 runs of checkpoints" in page_text and "0 of all" in page_text
    rate = next(row for row in report["rows"] if row["check"] == "rate" and row["name"] == "T-dot")
    assert f"{rate['tflops']:.3g}" in page_text and "586" in page_text
    assert checkpoint_html.megabytes(12_000_000) in page_text


def test_a_file_that_is_no_report_is_one_line(folder):
    (folder / record.FILE).write_text('{"format": 1}', "utf-8")
    with pytest.raises(DataError, match="date"):
        record.load()
    assert "date" in opened("results").error[0].value
