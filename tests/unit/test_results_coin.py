"""The tables of the COIN paper: they agree with its words; checkpoints, sweeps, votes and the bench fill their rows."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev

import pytest

from tests.support.coin_checkpoints import MODEL, make_checkpoints
from tests.support.paper_tables import check_size, digest_values
from tests.support.tiny import change, make_rows
from triattn_core.__main__ import main
from triattn_core.checkpoint import registry
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import SHIPPED, VARIABLE
from triattn_core.inference.evaluate import vote
from triattn_core.results import curves, notes, paper_comparison, paper_results, paper_schema, run_records
from triattn_core.results.paper_results import read_model
from triattn_core.results.paper_schema import Figure, Table

FOLDER = run_records.SHIPPED / "papers" / "coin"
SIZES = {1: (8, 2), 2: (11, 2), 3: (5, 2), 5: (2, 2)}  # rows and printed columns as the paper has them
TABLES: dict[int, Table] = {number: read_model(FOLDER / f"table-{number}.json", Table) for number in SIZES}
PAPER = read_model(FOLDER / "paper.json", paper_schema.Paper)
MODEL = {**MODEL, "mechanism": "coin", "layers": 3, "context": True, "fusion": "gate", "aggregation": True}
CONFIG = {"kind": "coin", "task": "pairs", "vocabulary": {"tokens": "words", "least": 2}, "training": {"epochs": 4}}


def number(table: int, row: str, column: int) -> float:
    paper_table = TABLES[table]
    return paper_table.printed(
        next(one for one in paper_table.rows if one.name == row), paper_table.columns[column]
    ).value


def record(data: str, accuracy: float, changed: dict | None = None, **model) -> dict:
    """A line of a file of records."""
    sets = {"train": [f"{data}/train"], "dev": f"{data}/dev", "test": f"{data}/test"}
    config = {**CONFIG, "model": {**MODEL, "pooling": "heads", **model}, "data": sets}
    each = [{"seed": 1, split: {"accuracy": accuracy, "f1": accuracy + 1, "n": 50}} for split in ("dev", "test")]
    fields = {"name": f"{data}-coin", "config": config, "parameters": 6_250_000, "set": changed or {}}
    return fields | {"digest": json.dumps([data, model]), "each_seed": [each[0] | each[1]]}


@pytest.fixture
def checkpoint_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv("TRIATTN_DEVICE", "cpu")
    return tmp_path


def cells(table: int) -> dict[str, list[paper_comparison.Cell]]:
    records = run_records.all_records()[0]
    return {
        row.name: line for row, line in zip(TABLES[table].rows, paper_comparison.fill_table(TABLES[table], records))
    }


@pytest.mark.parametrize("which", SIZES)
def test_tables_have_the_size_of_the_papers(which):
    check_size(TABLES[which], which, SIZES[which])


def test_what_the_paper_says_of_its_tables_in_words_holds():
    """Sections 3.2 and 3.3, and appendix B."""
    assert round(number(3, "original", 0) - number(3, "w/o context", 0), 1) == 0.5
    assert round(number(3, "original", 1) - number(3, "w/o context", 1), 1) == 0.6
    assert (number(3, "w/o aggregat.", 0), number(3, "w/o aggregat.", 1)) == (89.2, 84.9)
    assert all(number(3, row.name, i) < number(3, "original", i) for row in TABLES[3].rows[1:] for i in (0, 1))
    alone = [row.name for row in TABLES[1].rows if row.group == "Without pretraining" and row.name != "COIN"]
    assert all(number(1, name, i) < number(1, "COIN", i) for name in alone for i in (0, 1))
    assert number(1, "COIN (ensemble)", 0) > max(number(1, "BERT", 0), number(1, "SBERT", 0))
    assert number(2, "COIN", 0) == 89.4 and number(2, "COIN (ensemble)", 1) == 5 * number(2, "COIN", 1) == 32.5
    assert number(5, "COIN", 0) == number(2, "COIN", 1) and number(5, "BERT", 0) == number(2, "BERT", 1)
    assert number(5, "BERT", 1) / number(5, "COIN", 1) > 9


def test_the_printed_values_are_those_that_were_checked_against_the_paper():
    """Whoever mends one checks it in the paper, and writes the digest anew."""
    assert digest_values(TABLES) == "0626a61725e460abf089851553b9c12a818454a488c4dc9eb43600a5d19d70af"


def test_without_a_record_every_row_of_ours_says_so(checkpoint_folder):
    (paper,) = [one for one in paper_results.load_papers() if one.paper.name == "COIN"]
    assert not paper.problems and [one.number for one in paper.tables] == [1, 2, 3, 5] and len(paper.figures) == 2
    for table in SIZES:
        for name, line in cells(table).items():
            row = next(one for one in TABLES[table].rows if one.name == name)
            assert all(not one.values and bool(one.reason) == (row.ours is not None) for one in line), (table, name)
    assert cells(1)["COIN"][0].reason.startswith("not trained: no record of ")
    assert all(column.note == "on at most 79,976 of the paper's 384,348 training pairs" for column in TABLES[2].columns)


def test_ablations_are_those_of_the_sweep_and_whole_models_those_of_the_checkpoints(checkpoint_folder):
    file = run_records.records_folder() / "coin-ablations.jsonl"
    lines = {"w/o context": {"context": False}, "simple fusion": {"fusion": "simple"}}
    lines |= {"w/o aggregat.": {"aggregation": False}, "simple pool": {"pooling": "max"}, "original": {}}
    for i, model in enumerate(lines.values()):
        run_records.append_record(file, record("quora", 70.0 + i, **model))
        run_records.append_record(run_records.records_folder() / "trained.jsonl", record("quora", 80.0 + i, **model))
    assert {name: line[0].values for name, line in cells(3).items()} == {
        name: (70.0 + i,) for i, name in enumerate(lines)
    }
    assert not any(line[1].values for line in cells(3).values())
    assert cells(2)["COIN"][0].values == (84.0,) and cells(2)["COIN"][1].values == (6.25,)
    note_texts = {note.head: note.text for note in notes.notes_on_cells(cells(3)["original"])}
    assert (
        note_texts["Encoder"] == "None: the vectors of its words are learnt along."
        and "Start weights" not in note_texts
    )
    assert note_texts["Trained on"] == "All available rows of quora/train; 4 epochs."


def test_the_number_of_blocks_is_drawn_from_its_sweep(checkpoint_folder):
    for layers, accuracy in ((1, 60.0), (3, 62.0), (2, 61.0)):
        line = record("lcqmc", accuracy, {"model.layers": layers}, layers=layers)
        run_records.append_record(run_records.records_folder() / "lcqmc-coin-blocks.jsonl", line)
    for data, points in (("lcqmc", {1.0: (60.0,), 2.0: (61.0,), 3.0: (62.0,)}), ("quora", None)):
        figure = read_model(FOLDER / f"figure-3-{data}.json", Figure)
        figure_curves = curves.measured_curves(figure, run_records.all_records()[0])
        assert [curve.points for curve in figure_curves] == ([points] if points else [])
        table = TABLES[{"lcqmc": 1, "quora": 2}[data]]
        assert all(figure.ours.items() >= column.ours.items() for column in table.columns)


def test_a_vote_is_measured_and_kept_by_one_command(checkpoint_folder, capsys):
    names = ["quora-coin", *(f"quora-coin-seed-{seed}" for seed in (2, 3, 4, 5))]
    for seed, name in enumerate(names, 1):
        source_folder = make_checkpoints(checkpoint_folder / "made" / name, ("quora-coin",))
        (source_folder / "quora-coin").rename(checkpoint_folder / name)
        change(checkpoint_folder / name, training={"seed": seed})
    (checkpoint_folder / "data" / "quora").mkdir(parents=True)
    file = checkpoint_folder / "data" / "quora" / "test.jsonl"
    make_rows(file, 23, 7)
    assert main(["evaluate", *names[:3], str(file), "--vote", "--record", "--json"]) == 0
    assert "vote of 3" in (checkpoint_folder / "results" / "vote.jsonl").read_text("utf-8")
    assert not any(one.values for one in cells(2)["COIN (ensemble)"]), "the paper's ensemble is one of five"
    capsys.readouterr()
    assert main(["evaluate", *names, str(file), "--vote", "--record", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["checkpoints"][-1]
    accuracy, parameters = cells(2)["COIN (ensemble)"]
    assert accuracy.values == (result["metrics"]["accuracy"],) and accuracy.record.rows("test") == 23
    own = sum(parameter.numel() for parameter in load("quora-coin").model.parameters())
    assert parameters.values == (pytest.approx(5 * own / 1e6),)
    assert accuracy.record.entry.metrics["command"].endswith("--vote --record --json")
    other = checkpoint_folder / "other.jsonl"
    make_rows(other, 5, 7)
    for data, arguments, says in (
        (file, ["--record"], "was measured in training"),
        (other, ["--record", "--rows", "3"], "leave out --rows"),
        (other, ["--vote", "--record"], "neither quora/dev nor quora/test"),
    ):
        assert main(["evaluate", *names, str(data), *arguments]) != 0
        assert says in capsys.readouterr().err
    change(checkpoint_folder / names[4], training={"seed": 2})
    assert main(["evaluate", *names, str(file), "--vote", "--record"]) != 0
    assert "two of these checkpoints have the same seed" in capsys.readouterr().err


def test_the_bench_fills_the_table_of_costs(checkpoint_folder, monkeypatch, capsys):
    from tests.bench import coin as bench

    monkeypatch.setattr("sys.argv", ["bench", "--batches", "2", "--record"])
    monkeypatch.setattr(bench, "bert", lambda device: (lambda: None, 101, 7))
    bench.main()
    assert "BERT-base" in capsys.readouterr().out
    table_cells = cells(5)
    assert table_cells["BERT"][0].values == (101 / 1e6,) and 2 < table_cells["COIN"][0].values[0] < 9
    assert 0 < table_cells["BERT"][1].values[0] < table_cells["COIN"][1].values[0] < 9
    (line,) = [
        cost_record
        for cost_record in run_records.read_records(run_records.records_folder() / "coin-cost.jsonl")[0]
        if cost_record.entry.digest == "coin"
    ]
    spread = line.entry.metrics["each_seed"][0]["spread"]
    assert table_cells["COIN"][1].spread == spread > 0 and table_cells["COIN"][0].spread is None
    assert paper_comparison.format_cell(table_cells["COIN"][1]) == f"{table_cells['COIN'][1].ours:.3f} ± {spread:.3f}"
    assert table_cells["COIN"][1].sample().spread is None, "one run has no spread over runs"
    note_texts = {note.head: note.text for note in notes.notes_on_cells(table_cells["COIN"])}
    assert note_texts["Timed"] == "Ours over 2 batches, ± their standard deviation."


def test_what_is_said_of_the_bench_is_what_it_times():
    from tests.bench.coin import ENGLISH, bert

    note_texts = {note.head: note.text for note in TABLES[5].notes}
    assert note_texts["COIN"].startswith(
        f"The English one: embedding {ENGLISH.embedding}, hidden {ENGLISH.hidden}, 3 blocks, words."
    )
    assert ENGLISH.layers == 3
    pooler = 768 * 768 + 768
    assert f"{pooler / 1e6:.2f} million" in note_texts["Params"]
    assert f"{(bert('meta')[1] + pooler) / 1e6:.1f}" == "109.5" == TABLES[5].rows[1].values[0]


def test_what_was_missed_is_said_with_the_numbers_of_the_record():
    metrics = json.loads((SHIPPED / "lcqmc" / "lcqmc-coin" / "metrics.json").read_text("utf-8"))
    (reason,) = [omission.why for omission in PAPER.left_out if "missed" in omission.why]
    dev, test, f1 = (
        [seed[split][metric] for seed in metrics["each_seed"]]
        for split, metric in (("dev", "accuracy"), ("test", "accuracy"), ("test", "f1"))
    )
    assert f"has {mean(test):.2f} (F1 {mean(f1):.2f}), the mean of three seeds" in reason and len(test) == 3
    assert f"standard deviation {stdev(test):.2f}" in reason
    assert all(printed in reason for printed in TABLES[1].rows[4].values)
    assert f"best on dev, {mean(dev):.2f}" in reason and mean(test) < 84
    assert f"{mean(dev) - mean(test):.1f} points below dev" in reason
    on_dev = [event["dev_accuracy"] for event in metrics["history"] if "dev_accuracy" in event]
    assert len(on_dev) == metrics["epochs"] == 10 and on_dev[-1] == max(on_dev)


def test_a_command_waits_for_the_checkpoints_that_it_names(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "SHIPPED", tmp_path)
    command = "triattn sweep checkpoints/one/config.json checkpoints/two-*/config.json"
    assert paper_results.missing_checkpoints(command) == ["one", "two-*"]
    (tmp_path / "two-b").mkdir()
    (tmp_path / "two-b" / "config.json").write_text("{}")
    assert paper_results.missing_checkpoints(command) == ["one"]
    assert paper_results.missing_checkpoints("triattn evaluate SEED") == []


@pytest.mark.parametrize(("votes", "wins"), [(((0.9, 0.1), (0.45, 0.55)), 0), (((0.55, 0.45), (0.1, 0.9)), 1)])
def test_a_tie_of_votes_goes_to_the_higher_mean_probability(votes, wins):
    for answers in (votes, votes[::-1], [*votes, *votes]):
        probabilities = vote(answers)
        assert max(range(2), key=probabilities.__getitem__) == wins and sum(probabilities) == pytest.approx(1)
    assert vote([(0.4, 0.6), (0.45, 0.55), (0.99, 0.01)])[1] > 0.5, "the mean settles a tie alone"
