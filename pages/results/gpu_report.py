"""What `make gpu` measured on a card; nothing where no card was tried."""

from __future__ import annotations

from html import escape

from pages.shared import checkpoint_html
from triattn_core.results.gpu import Report, load

COLUMNS = {
    "rate": ("name", "precision", "tokens", "ms", "tflops", "of_matrix_rate"),
    "layer": ("name", "precision", "tokens", "ms"),
    "training": ("name", "steps", "rows/s", "peak memory"),
}
TITLES = {"rate": "forward passes", "layer": "layers", "training": "trainings"}
HEADS = {"tflops": "TFLOP/s", "of_matrix_rate": "of the matrix rate"}


def section() -> str:
    """HTML: the checks in a sentence, a table of rates, of layers and of trainings; empty without a report."""
    report = load()
    if report is None:
        return ""
    checked = report.of("recorded")
    agree = sum(row["passed"] for row in checked)
    sentence = (
        f"{agree} of {len(checked)} runs of checkpoints (float32 and bfloat16) agree with the numbers recorded on the "
        f"CPU; {report.failed} of all {len(report.rows)} checks failed."
    )
    tables = "".join(_table(report, check) for check in COLUMNS if report.of(check))
    head = checkpoint_html.section("On a GPU", f"{report.device}, {report.date}")
    return f'{head}<p class="t-note">{escape(sentence)}</p>{tables}'


def _table(report: Report, check: str) -> str:
    names = COLUMNS[check]
    heads = "".join(f'<th class="{_side(name)}">{escape(HEADS.get(name, name))}</th>' for name in names)
    lines = "".join(
        "<tr>" + "".join(f'<td class="{_side(name)}">{escape(_cell(row.get(name)))}</td>' for name in names) + "</tr>"
        for row in report.of(check)
    )
    return (
        f'<p class="t-lead">{TITLES[check]}</p>'
        f'<div class="t-scroll"><table class="t-table"><tr>{heads}</tr>{lines}</table></div>'
    )


def _side(name: str) -> str:
    return "" if name in ("name", "precision") else "r"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and value >= 10**6:  # bytes
        return checkpoint_html.megabytes(value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
