"""What is proved of third-order scores against what was measured, and the tables that can be taken away."""

from __future__ import annotations

import re

import pytest
from matplotlib import get_data_path
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from triattn_core.results.third_order import MEMBERS, TASKS, cost, doublings, fitted_power, reached
from triattn_core.results.third_order_theory import CAN, CANNOT, CLAIMS, NOT_LONG, ONE_LAYER, TWO_WAY, agreement
from triattn_core.scenes.printing.third_order_table import EQUATIONS, latex, rows

TABULAR = re.compile(r"\\midrule\n(.*?)\\bottomrule", re.S)


def test_claims_are_of_tasks_and_scores_of_the_table():
    assert {task for task, _ in CLAIMS} <= set(TASKS)
    assert {score for _, score in CLAIMS} <= {
        *MEMBERS,
        ONE_LAYER,
    }  # no bound on a best model, which is another for each task
    assert {score for (_, score), claim in CLAIMS.items() if claim.says == NOT_LONG} == {ONE_LAYER}
    assert EQUATIONS.keys() == MEMBERS.keys()


def test_weights_that_cannot_single_out_the_true_cell_did_not():
    table = reached()
    impossible = [table[place] for place, claim in CLAIMS.items() if claim.says == CANNOT and place in table]
    assert len(impossible) == 6 and max(max(cell.mass or ()) for cell in impossible) < 10


def test_each_number_of_two_way_attention_names_its_model():
    models = {task: cell.model for (task, score), cell in reached().items() if score == TWO_WAY}
    assert models["function-composition"] == models["match3"] == "two-way, 2 layers"
    assert models["relation-composition"] == "C-Bi"
    table = rows()
    assert (table[table.score.isin([TWO_WAY, ONE_LAYER])].model.str.len() > 0).all()


@pytest.mark.parametrize(
    ("task", "score", "accuracy", "clause"),
    [
        (
            "planted-sum",
            "tree",
            (30.0, 96.0, 31.0),
            "1 of 3 seeds learnt it: not by weights that single out the true cell",
        ),
        ("planted-sum", "tree", (30.0, 30.0, 31.0), ""),
        ("match3", "strassen", (99.0, 71.0, 70.0), "2 of 3 seeds did not learn it"),
        ("match3", ONE_LAYER, (99.0, 71.0, 70.0), ""),
        ("planted-sum", "additive", (20.0,), ""),
    ],
)
def test_what_differs_is_said(task, score, accuracy, clause):
    said = agreement(task, score, accuracy)
    assert clause in said and bool(said) == bool(clause)


def test_the_table_names_a_source_for_each_number_and_each_proof():
    table = rows()
    assert table[~table.score.isin([TWO_WAY, ONE_LAYER])]["source of the score"].str.len().min() > 0
    assert (table[table.proved != ""].proof.str.len() > 0).all() and (table[table.proved == CAN].shape[0]) > 0
    (cell,) = table[(table.task == "False friends") & (table.score == "tree")].to_dict("records")
    assert cell["proved"] == CANNOT and len(cell["accuracy"].split(", ")) == 3


def test_the_latex_table_is_whole():
    text = latex()
    bodies = [body.splitlines() for body in TABULAR.findall(text)]
    assert [len(body) for body in bodies] == [len({task for task, _ in reached()})] * 2
    assert all(line.endswith(r"\\") for body in bodies for line in body)
    columns = [{line.count(" & ") - 1 for line in body} for body in bodies]  # of scores: without task and chance
    assert all(len(counts) == 1 for counts in columns) and sum(map(sum, columns)) == len(MEMBERS) + 1
    assert text.count("{") == text.count("}") and text.count("$") % 2 == 0 and text.isascii()


def test_the_latex_table_fits_a_page_in_its_own_type():
    properties = FontProperties(fname=f"{get_data_path()}/fonts/ttf/cmr10.ttf")
    for body in TABULAR.findall(latex()):
        cells = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]
        drawn = [[TextPath((0, 0), text, 8, prop=properties).get_extents().width for text in row] for row in cells]
        widest = map(max, zip(*drawn))
        assert sum(width + 12 for width in widest) < 6.75 * 72.27  # with \tabcolsep on both sides, points of TeX


def test_the_tables_name_each_two_way_model_the_proofs_and_the_command():
    text, notes = latex(), latex().split(r"\begin{minipage}")[1]
    relation, match = (re.search(rf"^{task} .*\(.*$", text, re.M) for task in ("Relation composition", "Match3"))
    assert relation and "(C-Bi)" in relation[0] and match and "(two-way, 2 layers)" in match[0]
    assert "of C-Bi and of one and two layers" in text
    assert all(claim.source in notes for claim in CLAIMS.values())
    assert "docs.tables.family -{}-latex" in notes
    assert set(rows().command) == {"python -m docs.tables.family --csv"}


def test_the_last_doubling_grows_as_the_work_does():
    assert doublings({4: 1.0, 8: 8.0, 16: 32.0}) == [3.0, 2.0] and doublings({4: 1.0}) == []
    assert fitted_power({2: 9.0, 4: 1.0, 8: 8.0, 16: 64.0}) == pytest.approx(3.0)
    seconds: dict[str, dict[int, float]] = {}
    for point in cost()["points"]:
        seconds.setdefault(point["form"], {})[point["tokens"]] = point["seconds"]
    last = {form: doublings(points)[-1] for form, points in seconds.items()}
    flat = ("tree", "two-way", "product, window of 32")
    cubes = {form: power for form, power in last.items() if form not in (*flat, "product, simplicial-attention")}
    assert len(cubes) > 4 and all(2.8 < power < 3.1 for power in cubes.values())
    assert max(last["tree"], last["two-way"]) < 2 and last["product, window of 32"] < 1.2
