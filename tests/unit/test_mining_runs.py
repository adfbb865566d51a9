"""Runs of mining: stopped, interrupted and resumed; rows that cannot be read; what is refused; where rows come from."""

from __future__ import annotations

import gzip
import json
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice

import pytest
from pandas.testing import assert_frame_equal

from tests.support.mining_world import bundles, mine_world, use_world
from triattn_core.analysis.mining import agreement, miner, sources
from triattn_core.analysis.mining.runs import Run
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import ConfigError, DataError
from triattn_core.text import rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_world(tmp_path_factory.mktemp("world")) as root:
        yield root


def test_what_was_mined_before_a_stop_is_kept(world, monkeypatch):
    monkeypatch.setattr(miner, "WINDOW", 10)
    run = Run(bundles("pairs"), sources.file_source(world / "pairs.jsonl"))
    with pytest.raises(DataError, match="no row"):
        run.case_table()
    assert run.lines == 30 and run.step() and run.step() and run.step()
    cases = run.case_table()
    assert 10 < len(cases.table) < 30 and not cases.about.whole
    assert 10 < cases.about.lines < 30 and cases.table["row"].is_monotonic_increasing
    while run.step():
        pass
    assert len(run.case_table().table) == 30 and run.case_table().about.whole and run.case_table().about.lines == 30
    assert len(cases.table) < 30


def test_a_step_that_is_interrupted_is_computed_again(world, monkeypatch):
    monkeypatch.setattr(miner, "WINDOW", 10)
    run, table, calls = Run(bundles("pairs"), sources.file_source(world / "pairs.jsonl")), miner.mined_table, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) in (1, 3):
            raise KeyboardInterrupt
        return table(*given)

    monkeypatch.setattr(miner, "mined_table", interrupted)
    for stops in (1, 0, 1, 0):
        with pytest.raises(KeyboardInterrupt) if stops else nullcontext():
            run.step()
    while run.step():
        pass
    assert len(calls) == len(run.parts) + 2
    assert_frame_equal(run.case_table().table, mine_world(world, "pairs").table, check_exact=False)


def test_a_row_that_breaks_a_model_is_set_aside_and_harms_no_other(world, monkeypatch):
    run, run_models = Run(bundles("pairs"), sources.file_source(world / "pairs.jsonl")), miner.run_models

    def broken(groups, rows):
        if any(line == 7 for line, *_ in rows):
            raise RuntimeError("it broke")
        return run_models(groups, rows)

    monkeypatch.setattr(miner, "run_models", broken)
    while run.step():
        pass
    cases = run.case_table()
    assert cases.about.complaints == ("line 7: RuntimeError: it broke",) and run.aside == 1
    expected = mine_world(world, "pairs").table
    assert_frame_equal(cases.table, expected[expected["row"] != 7].reset_index(drop=True), check_exact=False)


def test_a_table_of_a_file_that_was_not_read_to_its_end_says_why(world, tmp_path, monkeypatch):
    packed = gzip.compress((world / "pairs.jsonl").read_bytes())
    (tmp_path / "pairs.jsonl.gz").write_bytes(packed)
    monkeypatch.setattr(rows, "PACKED_LIMIT", 900)
    tables = []
    for source in (sources.file_source(tmp_path / "pairs.jsonl.gz"), sources.uploaded_source("pairs.jsonl.gz", packed)):
        run = Run(bundles("pairs"), source)
        while run.step():
            pass
        tables.append(run.case_table())
    on_disk, uploaded = tables
    assert on_disk.about.whole and not on_disk.about.truncated and len(on_disk.table) == 30
    assert not uploaded.about.whole and "an upload is read no further" in uploaded.about.truncated
    assert 5 < len(uploaded.table) < 30


def test_rows_that_cannot_be_read_are_set_aside_with_line_and_reason(world, tmp_path):
    good = {"text_a": "who play", "text_b": "what play", "label": 1}
    bad = {
        "not JSON": "{",
        "expected an object, got list": "[1]",
        "field 'text_a' must be text": json.dumps(good | {"text_a": 3}),
        "field 'label' must be 0 or 1": json.dumps(good | {"label": "yes"}),
        "Sentence B is empty": json.dumps(good | {"text_b": " "}),
        "no character that the model can read": json.dumps(good | {"text_a": "\u200b\u200b"}),
        "half a character": json.dumps(good | {"text_a": "\ud83d"}),
    }
    lines = [line for one in bad.values() for line in (json.dumps(good), one, "")]
    path = tmp_path / "rows.jsonl"
    path.write_bytes("\n".join(lines).encode() + b'{"text_a": "\xff"}\n' + json.dumps(good).encode())
    run = Run(bundles("pairs"), sources.file_source(path))
    while run.step():
        pass
    cases = run.case_table()
    assert list(cases.table["row"]) == [1, 4, 7, 10, 13, 16, 19, 22] and cases.about.whole
    assert cases.about.aside == len(bad) + 1 == len(cases.about.complaints)
    for line, reason in zip(range(2, 22, 3), bad):
        assert any(
            f":{line}: " in complaint or f"line {line}: " in complaint
            for complaint in cases.about.complaints
            if reason in complaint
        )
    assert any(":21: not UTF-8" in complaint for complaint in cases.about.complaints)


def test_a_row_that_nobody_judged_is_mined_and_not_counted(world, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text_a": "who play", "text_b": "what play"}\n{"text_a": "a", "text_b": "car", "label": 0}\n')
    run = Run(bundles("pairs"), sources.file_source(path))
    run.step()
    cases = run.case_table()
    assert list(cases.table["label"]) == [-1, 0] and not cases.table["pairs-bi right"][0]
    assert agreement.right_combinations(cases)["rows"].sum() == 1


def test_what_cannot_be_asked_together_is_refused(world):
    some = bundles("pairs")
    for wrong, why in (
        (some[:1], "2 to 4"),
        (some[:1] * 2, "named twice"),
        ([some[0], load("reading-bi")], "differ in their task"),
        ([some[0], replace(some[1], config=some[1].config.model_copy(update={"language": "zh"}))], "their language"),
    ):
        with pytest.raises(ConfigError, match=why):
            miner.mine(wrong, [])


def test_the_file_of_a_stored_table_is_found_by_name_and_digest(world):
    source = sources.file_source(world / "pairs.jsonl")
    folder, name = source.name.split("/")
    match = sources.find_source(source.name, source.sha256, [world.parent])
    assert name == "pairs.jsonl" and match.place == world / name
    assert sources.find_source(source.name, "0" * 64, [world.parent]) is None
    assert sources.find_source(f"../{name}", source.sha256, [world / "checkpoints"]) is None  # not out of the folder
    own = sources.example_source("pairs", "zh")
    assert sources.find_source(own.name, own.sha256, []) is not None
    assert sources.find_source(f"elsewhere/{name}", source.sha256, [(world.parent / source.name).parent]) is not None
    assert len(list(islice(sources.read_examples("pairs", own), 5))) == 5
    handed = sources.uploaded_source("pairs.jsonl", (world / "pairs.jsonl").read_bytes())
    assert handed.sha256 == source.sha256 and handed.lines == 30
