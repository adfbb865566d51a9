"""What `make gpu` found on a card: recorded numbers, rates and trainings, read for the page Results."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from triattn_core.results.paper_results import read_model
from triattn_core.results.paper_schema import StrictModel
from triattn_core.results.run_records import records_folder

FILE = "gpu.json"


class Report(StrictModel):
    """The report of one run.  rows: a check each, with `check`, `name`, `passed` or `skipped`, and its numbers."""

    format: Literal[1]
    date: str
    device: str
    versions: dict[str, str]
    seconds: int
    failed: int = Field(ge=0)
    rows: tuple[dict[str, Any], ...]

    def of(self, check: str) -> list[dict[str, Any]]:
        """The rows of one kind of check that were not skipped."""
        return [row for row in self.rows if row.get("check") == check and "skipped" not in row]


def load() -> Report | None:
    """The report among the records; None where no card was tried.  Raises DataError for another file."""
    path = records_folder() / FILE
    return read_model(path, Report) if path.is_file() else None
