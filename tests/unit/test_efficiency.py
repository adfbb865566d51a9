"""What blocks cost by length: the peak is exact, the order of steps, what is left out, and the record."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path

import pytest
import torch

from triattn_core.__main__ import main
from triattn_core.analysis import efficiency
from triattn_core.analysis.efficiency import Plan, Run, extrapolate_cost, peak, time_call
from triattn_core.errors import ConfigError, DataError
from triattn_core.models.fusion import FUSIONS
from triattn_core.results import efficiency as record

SMALL = Plan((5, 3), batch=2, width=7, blocks=("mtsa", "multi_head"))


def test_the_peak_is_what_tensors_held_at_once():
    """Three tensors of 4,000 bytes are made, two of them are held at a time."""
    x = torch.ones(1000)

    def call() -> None:
        a = x + x
        b = a + x
        del a
        c = b + x
        del b, c

    assert peak(call, "cpu") == 2 * 4000


def test_a_call_is_repeated_unless_it_takes_too_long():
    calls = []
    assert time_call(lambda: calls.append(1), "cpu", 10.0)[1] == len(calls) >= efficiency.FEWEST
    assert time_call(lambda: calls.append(1), "cpu", 1e-9)[1] == 1


@pytest.mark.parametrize(
    ("known", "cost"),
    [([], 0.0), ([(8, 3.0)], 12.0), ([(4, 1.0), (8, 2.0)], 4.0), ([(4, 1.0), (8, 4.0)], 16.0), ([(4, 1), (8, 1)], 2.0)],
)
def test_costs_are_expected_to_grow_from_linear_to_quadratic(known, cost):
    assert extrapolate_cost(known, 16) == pytest.approx(cost)


def test_blocks_take_turns_at_each_length_and_both_passes_are_measured():
    run = Run(SMALL, "cpu", "x")
    assert run.steps == [(3, "mtsa"), (3, "multi_head"), (5, "mtsa"), (5, "multi_head")]
    assert run.step() and run.done == 1
    while run.step():
        pass
    assert [(point.tokens, point.block, point.passed) for point in run.points[:3]] == [
        (3, "mtsa", "training"), (3, "mtsa", "inference"), (3, "multi_head", "training")
    ]  # fmt: skip
    assert all(point.seconds > 0 and point.memory > 0 and point.repeats for point in run.points)
    by = {(point.block, point.tokens, point.passed): point.memory for point in run.points}
    assert by["mtsa", 5, "training"] > by["mtsa", 5, "inference"]
    assert by["mtsa", 5, "inference"] > by["mtsa", 3, "inference"]
    assert record.Measurement.model_validate_json(run.measurement().text()) == run.measurement()


def test_what_would_take_too_long_is_left_out_from_there_on(monkeypatch):
    monkeypatch.setattr(efficiency, "time_call", lambda call, device, limit: (6.0, 1))
    run = Run(Plan((4, 8, 9), batch=2, width=7, blocks=("multi_head",)), "cpu", "x")
    while run.step():
        pass
    assert [point.seconds for point in run.points] == [6.0, 6.0, None, None, None, None]
    reason = "left out from 8 tokens: a pass would take some 24 s"
    assert {point.reason for point in run.points[2:]} == {f"training {reason}", f"inference {reason}"}
    assert run.measurement().lengths == [4]


@pytest.mark.parametrize(("seconds", "text"), [(24.4, "24 s"), (1.44, "1.4 s"), (0.0042, "4.2 ms"), (3e-5, "0.03 ms")])
def test_what_a_pass_would_take_is_never_nothing(seconds, text):
    assert efficiency.duration(seconds) == text


def test_a_pass_is_left_out_for_its_own_cost(monkeypatch):
    """Inference goes on where training alone takes too long."""
    timings = iter([(6.0, 1), (0.1, 1), (0.3, 1)])
    monkeypatch.setattr(efficiency, "time_call", lambda call, device, limit: next(timings))
    run = Run(Plan((4, 8), batch=2, width=7, blocks=("multi_head",)), "cpu", "x")
    while run.step():
        pass
    assert [(point.tokens, point.passed, point.seconds) for point in run.points] == [
        (4, "training", 6.0), (4, "inference", 0.1), (8, "training", None), (8, "inference", 0.3)
    ]  # fmt: skip


def test_blocks_have_the_sizes_of_the_paper(monkeypatch):
    """Its hierarchical CNN has 300 features, the others 600."""
    sizes = {}
    monkeypatch.setattr(efficiency, "peak", lambda call, device: sizes.setdefault(len(sizes), call().shape[-1]) and 1)
    monkeypatch.setattr(efficiency, "PASSES", ("inference",))
    run = Run(Plan((3,), batch=1, width=300), "cpu", "x")
    while run.step():
        pass
    of = dict(zip((block for _, block in run.steps), sizes.values()))
    assert of.pop("hierarchical_cnn") == 300 and set(of.values()) == {600}


def test_what_would_not_fit_is_left_out(monkeypatch):
    monkeypatch.setattr(efficiency, "peak", lambda call, device: 10**15)
    run = Run(Plan((4, 8), batch=2, width=7, blocks=("multi_head",)), "cpu", "x")
    while run.step():
        pass
    assert "it would need some 4000000.0 of" in run.points[-1].reason


@pytest.mark.parametrize(
    "wrong",
    [{"lengths": ()}, {"lengths": (0,)}, {"batch": 0}, {"limit": 0.0}, {"limit": nan}, {"blocks": ("mtas",)}],
    ids=str,
)
def test_a_plan_that_cannot_be_is_one_line(wrong):
    with pytest.raises(ConfigError, match="'mtsa'" if "blocks" in wrong else "above 0"):
        Plan(**wrong)


def test_ratios_are_to_multi_head_and_the_papers_stand_beside(tmp_path):
    run = Run(SMALL, "cpu", "x")
    while run.step():
        pass
    rows = {row["block"]: row for row in record.cost_rows(run.measurement(), 5)}
    mtsa = rows["mtsa"]
    assert mtsa["memory ratio"] == mtsa["memory"] / rows["multi_head"]["memory"]
    printed = [round(mtsa[f"{name} printed"], 2) for name in ("training", "inference", "memory")]
    assert printed == [1.01, 1.07, 1.20]
    assert list(record.printed_costs()) == [name for name in FUSIONS if name in record.printed_costs()]


@pytest.mark.parametrize("row", [None, {"name": "New", "values": ["-"] * 6, "ours": {"mechanism": "new"}}])
def test_a_block_that_the_paper_does_not_print_is_told_by_its_name(tmp_path, monkeypatch, row):
    """Also where it has a row in the table, without numbers."""
    part = Path("papers") / "mtsa" / "table-1.json"
    table = json.loads((record.SHIPPED / part).read_text("utf-8"))
    table["rows"] += [row] if row else []
    (tmp_path / part).parent.mkdir(parents=True)
    (tmp_path / part).write_text(json.dumps(table), "utf-8")
    monkeypatch.setattr(record, "SHIPPED", tmp_path)
    monkeypatch.setitem(FUSIONS, "new", FUSIONS["mtsa"])
    run = Run(Plan((3,), batch=2, width=7, blocks=("new", "multi_head")), "cpu", "x")
    while run.step():
        pass
    called = {"multi_head": "Multi-head", "new": "New" if row else "new"}
    assert record.block_names(run.measurement()) == called
    rows = record.cost_rows(run.measurement(), 3)
    assert {one["block"]: one["name"] for one in rows} == called
    assert rows[-1]["memory ratio"] > 0
    assert {rows[-1][f"{name} printed"] for name in ("training", "inference", "memory")} == {None}


def test_the_command_leaves_a_record_that_reads_again(tmp_path, capsys):
    file = tmp_path / "e.json"
    assert main(["efficiency", "--lengths", "3", "--batch", "1", "--out", str(file), "--json"]) == 0
    measurement = record.load(file)
    assert {point.block for point in measurement.points} == set(
        FUSIONS
    ) and measurement.threads == torch.get_num_threads()
    assert json.loads(capsys.readouterr().out) == json.loads(file.read_text("utf-8"))
    file.write_text(file.read_text("utf-8").replace('"threads"', '"thread"'), "utf-8")
    with pytest.raises(DataError, match="e.json: thread"):
        record.load(file)
    assert main(["efficiency", "--lengths", "0"]) == 1


def test_what_cannot_be_stored_is_told_before_measuring(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Run, "step", lambda self: pytest.fail("measured"))
    for out, message in ((tmp_path / "no" / "e", "no such folder"), (tmp_path, f"{tmp_path}: a folder")):
        assert main(["efficiency", "--out", str(out)]) == 1
        assert message in capsys.readouterr().err
