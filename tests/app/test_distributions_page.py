"""Distributions: the spread of scores on one input, the commands that repeat it, and the stored runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pages.distributions import run_spread
from tests.app.test_pages import opened, sound, visible_text
from tests.app.test_similarity_pages import WORDS
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.reader_checkpoints import NAMES, make_checkpoints, make_system
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.tasks import questions

checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def test_distributions_open_on_the_functions_of_figure_4() -> None:
    app = sound(opened("distributions"))
    page_text = visible_text(app)
    cells = [line for line in page_text.split("<tr>") if " of " in line and re.match(r"<td>\w", line)]
    assert [line.split("</td>")[0].removeprefix("<td>").partition(",")[0] for line in cells[:3]] == [
        "dot-product", "cosine", "scaled dot-product",
    ]  # fmt: skip
    assert len(app.get("vega_lite_chart")) == 3 + 2 * 2  # histograms; boxes and losses of O_1 and of O_2
    assert "At most 3 runs a function" in page_text


def test_distributions_take_more_functions_than_similarity() -> None:
    app = sound(opened("distributions"))
    names = [f"squad-{name.replace('_', '-')}" for name in NAMES]
    app = sound(app.multiselect(key="functions").set_value(names).run())
    assert len(names) > 4 and len(app.get("vega_lite_chart")) == len(names) + 2 * 2
    app = sound(app.segmented_control(key="spread").set_value("centred").run())
    assert "minus the mean of their row" in visible_text(app)


@pytest.mark.parametrize(("quantity", "long"), [("relevance", False), ("centred", True)])
def test_the_commands_print_the_rows_of_the_table(quantity, long, tmp_path, monkeypatch, capsys) -> None:
    app = sound(
        opened("distributions", spread=quantity, **({"passage": WORDS[:2000], "question": "Who?"} if long else {}))
    )
    lines = next(code.value for code in app.code).splitlines()
    assert [line.split()[2] for line in lines] == ["squad-dot", "squad-cosine", "squad-scaled-dot"]
    assert all(("--part" in line) == long for line in lines)
    passage = WORDS[:2000] if long else questions.examples()[0].passage
    asked = questions.Example(passage, app.text_input(key="write-question").value)
    (tmp_path / "row.json").write_text(json.dumps(questions.row(asked)), "utf-8")
    monkeypatch.chdir(tmp_path)
    table = next(text for text in visible_text(app).split("<table") if "effective question words" in text)
    for line, shown in zip(lines, table.split("<tr>")[2:]):
        main(shlex.split(line)[1:])
        printed = dict(reversed(text.split("  ", 1)) for text in capsys.readouterr().out.splitlines() if "  " in text)
        cells = [cell.partition("</td>")[0] for cell in shown.split('<td class="r">')[1:]]
        names = ["least", "5 %", "median", "95 %", "greatest", "mean", "deviation"]
        assert cells[:7] == [run_spread.format_number(float(printed[name])) for name in names]
        even, of = float(printed["effective question words"]), int(float(printed["question words"]))
        assert cells[7] == f"{even:.2f} of {of}"


def test_metric_split_and_loss_are_in_the_link() -> None:
    app = sound(opened("distributions", metric="F1", split="dev", loss="train"))
    page_text = visible_text(app)
    assert "F1 in %, dev of 10,570 questions of squad1.1/dev that are not trained on" in page_text
    assert "None of “With product” has recorded its loss on train" in page_text


def make_measured_systems(root: Path) -> None:
    """BiDAF, trained as the baseline's readers, and QANet on a sixth of the rows."""
    metrics = (root / "squad-dot" / "metrics.json").read_text("utf-8")
    for mechanism, every in (("bidaf", 1), ("qanet", 6)):
        make_system(root, mechanism, "trilinear")
        folder = root / f"squad-{mechanism}-trilinear"
        config = json.loads((folder / "config.json").read_text("utf-8"))
        config["data"]["every"] = every
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        (folder / "metrics.json").write_text(metrics, "utf-8")


def test_systems_are_no_output_and_runs_trained_otherwise_are_said(tmp_path: Path, monkeypatch) -> None:
    make_measured_systems(make_checkpoints(tmp_path, ("dot", "trilinear")))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    page_text = visible_text(sound(opened("distributions")))
    note = (
        "12 of 15 runs were trained like this. The others: 3 of QANet trilinear, under “One row in 6 of squad1.1/train"
    )
    assert note in page_text and "All available rows of squad1.1/train" in page_text
    o_2, systems = (
        page_text.partition(f"<b>{name}</b>")[2].partition("<b>")[0] for name in ("With product", "Published systems")
    )
    assert "EM in %, test of 10,570 questions" in systems and "BiDAF trilinear: mean" in systems
    assert "BiDAF" not in o_2 and "EM, test, % of 2 functions" in o_2


def test_the_first_line_is_true_of_what_is_drawn() -> None:
    app = sound(opened("distributions"))
    assert app.segmented_control(key="spread").value == "relevance" and "They are centred" not in visible_text(app)


def test_the_page_opens_on_what_the_scores_do_to_the_attention() -> None:
    page_text = visible_text(sound(opened("distributions")))
    lead = re.search(r"spreads its attention over ([\d.]+) of (\d+) question words with ([\w-]+),", page_text)
    assert lead, page_text[:400]
    assert f"<b>{lead[3]}</b>" in page_text and f"{lead[1]} of {lead[2]} words" in page_text
