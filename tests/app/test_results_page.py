"""The Results page from app.py, without a browser: what it opens on, what it says of what is missing, what it links."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.results import results_notes, results_table
from tests.support.coin_checkpoints import make_checkpoints
from tests.support.pages import app_test, at_page
from triattn_core.checkpoint import registry
from triattn_core.checkpoint.registry import VARIABLE, list_checkpoints
from triattn_core.results import paper_comparison, paper_results, run_records

PAPERS = paper_results.load_papers()
PAPER = next(paper for paper in PAPERS if paper.paper.name == "Tri-Attention")
OTHERS = [(paper.paper.name, table.label) for paper in PAPERS if paper is not PAPER for table in paper.tables]


def opened(**query: str) -> AppTest:
    app = app_test(110)
    for name, value in query.items():
        app.query_params[name] = value
    return at_page(app, "results").run()


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def cells(text: str, which: str = "t-beside") -> list[list[str]]:
    """The texts of a table's rows, as a reader sees them."""
    body = text.split(f'<table class="{which}', 1)[1].split("</table>", 1)[0]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    html_rows = [re.findall(r"<t[dh].*?</t[dh]>", row) for row in rows]
    return [[unescape(re.sub(r"<.*?>", "", cell)).strip("\u2007\u2008 ") for cell in row] for row in html_rows]


def bold(text: str) -> list[str]:
    return re.findall(r"<b>([\d.]+)</b>", text.split('<table class="t-beside', 1)[1].split("</table>", 1)[0])


def test_it_opens_on_the_table_with_most_to_compare_and_its_rows_are_the_papers() -> None:
    app = opened()
    assert not app.exception and not app.error and not app.info
    table = next(one for one in PAPER.tables if one.label == app.session_state["table"])
    records = run_records.all_records()[0]
    counts = {one.label: sum(c.difference is not None for row in paper_comparison.fill_table(one, records) for c in row)
              for one in PAPER.tables}  # fmt: skip
    assert counts[table.label] == max(counts.values()) > 0
    assert f"{table.label}. {table.title}" in unescape(html(app))
    names = [row[0] for row in cells(html(app)) if len(row) > 3 and row[0]]
    assert names == [row.name.replace("_{", "").replace("}", "") for row in table.rows]


@pytest.mark.parametrize("paper, table", OTHERS, ids=lambda one: one)
def test_every_table_of_the_other_papers_opens(paper: str, table: str) -> None:
    app = opened(paper=paper, table=table)
    assert not app.exception and not app.error and not app.info
    assert f"{table}. " in html(app)


@pytest.mark.parametrize("table", PAPER.tables, ids=lambda one: one.label)
def test_every_printed_number_stands_on_the_page(table) -> None:
    for group in dict.fromkeys(column.group for column in table.columns):
        app = opened(table=table.label, data=group)
        assert not app.exception and not app.error
        cells_by_row = {row[0]: row[1:] for row in cells(html(app)) if row[0] and len(row) > 3}
        at = [
            i for i, column in enumerate(column for column in table.columns if column.printed) if column.group == group
        ]
        for row in table.rows:
            numbers = [row.values[i] for i in at]
            row_cells = cells_by_row[row.name.replace("_{", "").replace("}", "")]
            for i, text in enumerate(numbers):
                number, _, spread = (part.strip() for part in text.partition("±"))
                assert row_cells[2 * i].strip("\u2007\u2008") == ("–" if number == "-" else number)
                assert row_cells[2 * i + 1] == (f"±{spread}" if spread else "")


def test_the_best_of_each_is_marked_and_a_number_of_ours_opens_its_checkpoint() -> None:
    app = opened(table="Table VI")
    table = next(one for one in PAPER.tables if one.label == "Table VI")
    ours_ = list(zip(*paper_comparison.fill_table(table, run_records.all_records()[0])))
    tops = [max(f"{one.ours:.2f}" for one in column if one.values) for column in ours_]
    bold_numbers = bold(html(app))
    assert bold_numbers[:2] == ["88.06", "87.49"]  # in the order of the rows: ERNIE's F1, then TAdd's accuracy
    assert set(bold_numbers[2:]) == set(tops)
    links = set(re.findall(r'href="checkpoints\?checkpoint=([\w-]+)"', html(app)))
    there = {entry.name for entry in list_checkpoints()}
    assert links and links <= there and links == {"lcqmc-tri-published", "lcqmc-coin"}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of records alone: one complete, one bare, one that was never measured on test; and a sweep."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    metrics_by_name = {
        "tri": {"test": {"accuracy": 91.0, "f1": 90.0, "n": 9}, "seed": 1},
        "bi": {"dev": {"accuracy": 82.0}},
    }
    for name, metrics in metrics_by_name.items():
        config = {"task": "pairs", "model": {"mechanism": name, "similarity": "additive"}, "encoder": "<b>own</b>"}
        config |= {"data": {"train": ["lcqmc/train"], "dev": "lcqmc/dev", "test": "lcqmc/test"}}
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(config))
        (tmp_path / name / "metrics.json").write_text(json.dumps(metrics))
        (tmp_path / name / "model.safetensors").write_bytes(b"0")
    for layers in (1, 2):
        config = {"task": "pairs", "data": {"dev": "lcqmc/dev"}, "model": {"mechanism": "tri", "similarity": "dot"}}
        line: dict = {"digest": str(layers), "config": config, "set": {"model.layers": layers}, "date": "2026-01-02"}
        line["each_seed"] = [{"seed": 1, "dev": {"accuracy": 80.0 + layers}}]
        run_records.append_record(tmp_path / "results" / "s.jsonl", line)
    return tmp_path


def test_what_is_missing_is_said_in_its_cell(small: Path) -> None:
    app = opened(table="Table VIII", data="LCQMC")
    assert not app.exception and not app.error
    text = html(app)
    rows = {row[0]: row for row in cells(text) if row and row[0]}
    assert rows["Tri-AttentionTAdd"][5:] == ["91.00", "", "90.00", "", "1", "+3.51", ""]
    assert rows["Bi-AttentionAdd"][5] == "not measured on test" and rows["Bi-AttentionDP"][5] == "not trained"
    titles = unescape(" ".join(re.findall(r'title="(.*?)"', text)))
    assert "not measured on test: bi" in titles and "no record of pairs, lcqmc, bi, dot" not in titles
    assert "not trained: no record of lcqmc, bi, dot" in titles
    assert "machine not recorded" in titles and "day not recorded" in titles and "9 test rows" in titles
    assert "<b>own</b>" not in text and "&lt;b&gt;own" in text
    assert ">ours: 1 run<" in text  # neither that which was not measured nor the sweep


def test_a_sweep_is_drawn_and_where_there_is_none_its_command_stands(small: Path) -> None:
    app = opened(table="Table VI")
    (chart,) = app.get("vega_lite_chart")
    assert "layers" in chart.proto.spec and "Ringed" in html(app)
    assert "Not run yet: TAdd; TSDP; Trili." in html(app) and app.code[-1].value == PAPER.figures[1].command
    assert "Not measured" not in html(app)
    app = opened(table="Table VII")
    assert not app.get("vega_lite_chart") and [code.value for code in app.code] == [PAPER.figures[2].command]


@pytest.mark.parametrize("paper", paper_results.load_papers(), ids=lambda paper: paper.paper.name)
def test_a_figure_that_a_page_draws_is_a_link_to_a_page_that_there_is(paper) -> None:
    app = opened(paper=paper.paper.name)
    pages = {file.parent.name for file in Path("pages").glob("*/page.py")}
    assert {live_figure.link.partition("?")[0] for live_figure in paper.paper.live} <= pages
    there, text = run_records.all_records()[0], unescape(html(app))
    for figure in paper.paper.live:
        opens = not figure.needs or any(results_notes.is_shipped(record, figure.needs) for record in there)
        assert (f">{figure.figure}</a>" in text) == opens and (figure.says if opens else figure.waits) in text
    assert ("drawn by a page" in text) == bool(paper.paper.live)


def test_a_link_that_needs_a_checkpoint_opens_it_or_says_what_it_waits_for(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path, ("lcqmc-coin", "single-coin"))))
    text = html(opened(paper="COIN"))
    assert ">Figure 4</a>" not in text and "waits for an English COIN of three blocks" in text
    make_checkpoints(tmp_path, ("quora-coin",))
    text = html(opened(paper="COIN"))
    (link,) = re.findall(r'href="(coin\?[^"]+)"', text)
    assert "&checkpoint=quora-coin" in unescape(link) and "waits for an English COIN" not in text


def test_a_figure_stands_beside_the_columns_of_its_data_alone(small: Path) -> None:
    app = opened(paper="COIN", table="Table 5")
    assert not app.get("vega_lite_chart") and not app.code and "Figure 3" not in html(app).partition("Left out")[0]
    app = opened(paper="COIN", table="Table 3", data="LCQMC")
    command = "triattn sweep checkpoints/lcqmc/lcqmc-coin/config.json"
    assert "Figure 3" in html(app) and app.code[0].value.startswith(command)


def test_a_command_stands_where_its_checkpoint_is_there(small: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(registry, "SHIPPED", copied := tmp_path / "copy")
    app = opened(paper="COIN", table="Table 3", data="Quora")
    assert not app.code and "waits for quora-coin" in html(app) and "triattn sweep" not in html(app)
    (copied / "quora" / "quora-coin").mkdir(parents=True)
    (copied / "quora" / "quora-coin" / "config.json").write_text("{}")
    app = opened(paper="COIN", table="Table 3", data="Quora")
    assert "waits for quora-coin" not in html(app) and "--name quora-coin-blocks" in app.code[0].value


def test_the_commands_of_the_rows_shown_stand_below_the_table_to_copy() -> None:
    app = opened(paper="COIN", table="Table 3", data="Quora")
    (lines, points) = (code.value.splitlines() for code in app.code)
    assert lines[::2] == ["# original; w/o context", "# simple fusion", "# w/o aggregat.", "# simple pool"]
    assert all("quora-coin/config.json --name coin-ablations" in line for line in lines[1::2])
    assert points[0] == "# Quora at 1, 2, 3, 4" and "--name quora-coin-blocks" in points[1]
    assert any("--vote --record" in code.value for code in opened(paper="COIN", table="Table 2").code)


def test_without_any_record_the_papers_are_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    app = opened()
    assert not app.exception and not app.error and len(app.info) == 1
    assert "triattn train" in app.info[0].value
    assert "TF-IDF" in html(app) and "Left out" in html(app) and "not trained" in html(app)


def test_a_broken_record_and_a_broken_table_are_notices_and_the_rest_is_there(small: Path) -> None:
    with open(small / "results" / "s.jsonl", "a", encoding="utf-8") as file:
        file.write("{\n")
    folder = small / "results" / "papers" / "own"
    folder.mkdir(parents=True)
    (folder / "paper.json").write_text('{"order": 9, "name": "Own", "cite": "x"}')
    (folder / "table-1.json").write_text("{")
    app = opened()
    assert not app.exception and not app.error
    notices = [info.value.replace("\\", "") for info in app.info]
    assert len(notices) == 2 and "table-1.json" in notices[0] and "s.jsonl:3" in notices[1]
    app = opened(paper="Own")
    assert not app.exception and "Left out" in html(app)


@pytest.mark.parametrize("query", [{"table": "Table XL<script>"}, {"data": "none"}, {"draw": "beauty"}])
def test_a_link_that_asks_for_what_is_not_there_is_told_so(query) -> None:
    app = opened(**query)
    assert not app.exception and not app.error
    assert len(app.info) == 1 and "Shown instead" in app.info[0].value.replace("\\", "")
    assert "<script>" not in html(app)


def test_tables_can_be_taken_away() -> None:
    app = opened(table="Table VI")
    buttons = app.get("download_button")
    assert [button.proto.label for button in buttons] == [
        "Table VI, CSV",
        "All its tables, CSV",
        "Points of the figure, CSV",
    ]


def test_a_sentence_says_how_far_ours_lie_from_what_is_printed_and_stands_on_the_page() -> None:
    table = next(one for one in PAPER.tables if one.label == "Table VIII")
    at = next(i for i, column in enumerate(table.columns) if column.group == "LCQMC")
    cells = [line[at] for line in paper_comparison.fill_table(table, run_records.all_records()[0])]
    gaps = [cell.ours - cell.printed.value for cell in cells if cell.printed and cell.ours is not None]
    best = max((cell.ours, row.name) for cell, row in zip(cells, table.rows) if cell.ours is not None)
    above, ends = sum(gap > 0 for gap in gaps), [f"{gap:+.1f}".replace("-", "−") for gap in (min(gaps), max(gaps))]
    sentence = results_table.describe_column(table, cells)
    assert f"of {len(gaps)} rows with both, ours is above the published number in {above}" in sentence
    assert all(one in sentence for one in ends) and f"{best[0]:.{cells[0].column.digits}f}" in sentence
    assert sentence in unescape(html(opened(table="Table VIII", data="LCQMC")))


def test_an_ensemble_says_how_many_vote() -> None:
    text = html(opened(paper="COIN", table="Table 2"))
    single, ensemble = ([row for row in cells(text) if row[0] == name][0] for name in ("COIN", "COIN (ensemble)"))
    assert "5" in single and "vote of 5" in ensemble and "1" not in ensemble
    assert "the vote of 5 seeds" in text


def test_scores_are_drawn_first_although_sizes_stand_before_them() -> None:
    text = html(opened(paper="MTSA", table="Table 1"))
    assert "SNLI, Test Acc.: " in unescape(text) and "millions: of" not in text
