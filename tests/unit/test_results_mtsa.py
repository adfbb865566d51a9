"""The tables of the MTSA paper: they agree with its words, and runs fill their rows by themselves."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import mean

import pytest

from tests.support.paper_tables import check_size, digest_values
from tests.support.tiny import WORDS, make_encoder
from triattn_core.__main__ import main
from triattn_core.results import notes, paper_comparison, paper_results, run_records
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_results import read_model
from triattn_core.results.paper_schema import Table

FOLDER = run_records.SHIPPED / "papers" / "mtsa"
SIZES = {
    1: (16, 6),
    2: (5, 4),
    3: (5, 3),
    4: (9, 13),
    5: (10, 5),
    6: (2, 3),
}  # rows and printed columns as the paper has them
TABLES: dict[int, Table] = {number: read_model(FOLDER / f"table-{number}.json", Table) for number in SIZES}
NAMES = ("no", "yes")
ABLATIONS = "trec-mtsa-ablations"


def number(table: int, row: str, column: str, group: str = "") -> float:
    """A printed number; `column`: how its name begins, or its group's."""
    paper_table = TABLES[table]
    line = next(one for one in paper_table.rows if one.name == row)
    place = next(
        one for one in paper_table.columns if one.printed and one.name.startswith(column) and group in one.group
    )
    return paper_table.printed(line, place).value


@pytest.mark.parametrize("which", SIZES)
def test_tables_have_the_size_of_the_papers(which):
    check_size(TABLES[which], which, SIZES[which])


def test_what_the_paper_says_of_its_tables_in_words_holds():
    """Sections 4.1 and 4.3, and what Table 3 prints in brackets beside its figures."""
    losses = {"fw&bw masks": 1.0, "token2token": 0.5, "source2token": 1.4, "proposed modules": 2.0}
    for what, loss in losses.items():
        assert round(86.3 - number(3, f"MTSA w/o {what}", "Test"), 1) == loss
    for column in ("Test", "|θ|", "Inf. Time"):
        assert number(3, "MTSA", column) == number(1, "MTSA", column)
    assert all(4 < number(1, one, "Time") / number(1, "MTSA", "Time") < 5 for one in ("Bi-LSTM", "Bi-GRU"))
    assert number(1, "MTSA", "Test") == max(number(1, row.name, "Test") for row in TABLES[1].rows)
    for column in TABLES[5].columns:
        printed = {row.name: TABLES[5].printed(row, column) for row in TABLES[5].rows}
        best = max(one.value for one in printed.values() if one)
        assert (printed["MTSA"].value == best) == (column.group != "SUBJ")


def test_mtsa_is_first_on_roles_and_translation_as_the_paper_says():
    own = [row.name for row in TABLES[4].rows if row.group == "Baselines and MTSA"]
    for column in ("P", "R", "F1", "Comp."):
        assert number(4, "MTSA", column, "Brown") == max(number(4, name, column, "Brown") for name in own)
    assert number(4, "MTSA", "F1", "WSJ") == number(4, "Multi-head", "F1", "WSJ")
    assert round(number(6, "MTSA", "Setup1") - number(6, "Multi-head (Transformer)", "Setup1"), 2) == 0.45
    assert round(number(6, "MTSA", "Setup2") - number(6, "Multi-head (Transformer)", "Setup2"), 2) == 0.23


def test_the_printed_values_are_those_that_were_checked_against_the_paper():
    """Whoever mends one checks it in the paper, and writes the digest anew."""
    assert digest_values(TABLES) == "b999ffbdfc861dd00dc484f4ae5e7326f60fd6e2316c96c338182b6112cdc5b4"


def test_what_is_left_out_is_said_with_its_reason():
    (paper,) = [one for one in paper_results.load_papers() if one.paper.name == "MTSA"]
    left = {omission.what: omission.why for omission in paper.paper.left_out}
    assert [table.number for table in paper.tables] == list(SIZES) and not paper.problems
    assert "not available" in left["CoNLL-05 and Brown (Table 4)"] and "not available" in left["WMT 2014 (Table 6)"]
    assert all("44,075 of the paper's 549,367" in column.note for column in TABLES[1].columns if column.group == "SNLI")


# --- runs fill their rows ---


def rows(path: Path, count: int, seed: int, labels: int, pairs: bool = False) -> None:
    """Rows whose first word tells the class."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    lines = []
    for i in range(count):
        label = i % labels
        text = " ".join([WORDS[label], *draw.choices(WORDS[4:-3], k=5)])
        row = {"text_a": "the film", "text_b": text, "src": ("random", "variable")[i % 2]} if pairs else {"text": text}
        lines.append(json.dumps({**row, "label": label}) + "\n")
    path.write_text("".join(lines), "utf-8")


def config(folder: Path, task: str, data: dict, **model) -> Path:
    plan = {"format": 1, "kind": "sentence", "task": task, "language": "en", "encoder": "tiny", "max_tokens": 12}
    plan |= {"labels": NAMES} if task == "sentences" else {}
    plan["model"] = {"mechanism": "mtsa", "width": 7, "out": 10, "heads": 2, "hidden": 5, **model}
    plan |= {"data": data, "training": {"epochs": 1, "rate": 0.01, "batch": 8}}
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(plan), "utf-8")
    return folder / "config.json"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Checkpoints and records, as `triattn train` and `triattn sweep` leave them."""
    root = tmp_path_factory.mktemp("world")
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    had = [{"name": "SNLI", "what": "all of it", "set": "snli"}]
    metrics = {"start": "nothing", "start_had_seen": had}
    (root / "checkpoints" / "encoders" / "tiny" / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    for name, count, labels in (("trec/train", 23, 2), ("trec/test", 11, 2), ("cr/all", 19, 2)):
        rows(root / "data" / f"{name}.jsonl", count, count, labels)
    for name, count in (("snli/train", 29), ("snli/dev", 13), ("snli/test", 17)):
        rows(root / "data" / f"{name}.jsonl", count, count, 3, pairs=True)
    trec = config(root / "checkpoints" / "trec-mtsa", "sentences", {"train": ["trec/train"], "test": "trec/test"})
    cr = {"train": ["cr/all"], "test": "cr/all", "folds": 3}
    folded = config(root / "checkpoints" / "baselines" / "cr-multi-head", "sentences", cr, mechanism="multi_head")
    split = {"train": ["snli/train"], "dev": "snli/dev", "test": "snli/test"}
    snli = config(root / "elsewhere" / "snli-mtsa", "inference", split, vectors="layer:1")
    where = ["--data", str(root / "data"), "--runs", str(root / "runs")]
    without = [f"model.{name}=false" for name in ("token2token", "source2token")]
    all_ = [one for setting in ('model.masks=["none"]', *without) for one in ("--set", setting)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        for command in (
            ["train", str(trec)],
            ["train", str(folded)],
            ["sweep", str(trec), "--set", without[1], "--seeds", "1,2", "--test", "--name", ABLATIONS],
            ["sweep", str(trec), "--set", "training.epochs=1", "--test", "--resume", "--name", ABLATIONS],
            ["sweep", str(trec), *all_, "--test", "--resume", "--name", ABLATIONS],
            ["sweep", str(trec), "--set", without[0], "--test", "--name", "of-another-sweep"],
            ["sweep", str(snli), "--test"],
            ["sweep", str(snli), "--set", "data.where.src=random", "--test", "--name", "snli-random"],
        ):
            assert main([*command, *where]) == 0
        yield root


@pytest.fixture
def records(world) -> list[run_records.Record]:
    records, problems = run_records.all_records()
    assert not problems
    return records


def cell(table: int, row: str, column: str, group: str, records: list[run_records.Record]) -> Cell:
    table, line = TABLES[table], next(one for one in TABLES[table].rows if one.name == row)
    place = next(one for one in table.columns if one.name.startswith(column) and group in one.group)
    return paper_comparison.make_cell(table, line, place, records)


def test_a_checkpoint_and_sweeps_fill_the_rows_of_their_settings_alone(records):
    named = {row.name: cell(3, row.name, "Test", "TREC", records).record for row in TABLES[3].rows}
    assert {name: one and one.file for name, one in named.items()} == {
        "MTSA": ABLATIONS, "MTSA w/o fw&bw masks": None, "MTSA w/o token2token": None,
        "MTSA w/o source2token": ABLATIONS, "MTSA w/o proposed modules": ABLATIONS,
    }  # fmt: skip
    alone = cell(3, "MTSA w/o source2token", "Test", "TREC", records)
    assert len(alone.values) == 2 and alone.record.rows("test") == 11
    size = cell(3, "MTSA w/o source2token", "|θ|", "TREC", records)
    assert size.values == (size.record.entry.metrics["parameters"] / 1e6,) and size.values[0] < 1
    assert cell(5, "MTSA", "Accuracy", "TREC", records).record.file == ""
    missing = cell(5, "Bi-LSTM", "Accuracy", "TREC", records)
    assert missing.ours is None and missing.reason == "not trained: no record of trec, bi_lstm"
    missing = cell(3, "MTSA w/o token2token", "Test", "TREC", records)
    assert missing.reason == "not trained: no record of trec, mtsa, without token2token"


def test_a_sweep_does_not_take_the_test_of_one_fold_for_that_of_all(world, capsys):
    folded = world / "checkpoints" / "baselines" / "cr-multi-head" / "config.json"
    assert main(["sweep", str(folded), "--test", "--data", str(world / "data"), "--runs", str(world / "runs")]) == 1
    assert "one fold alone" in capsys.readouterr().err


def test_folds_trained_in_an_unlisted_folder_fill_their_row_with_their_spread(records):
    result_cell = cell(5, "Multi-head", "Accuracy", "CR", records)
    folds = result_cell.record.entry.metrics["folds"]
    assert (
        result_cell.values == tuple(folds["each"])
        and len(result_cell.values) == 3
        and result_cell.record.unit == "fold"
    )
    assert result_cell.ours == pytest.approx(mean(folds["each"])) and result_cell.spread == pytest.approx(
        folds["spread"], abs=6e-3
    )
    assert result_cell.record.rows("test") == 19
    assert "3 folds behind 1 cell of ours" in next(
        n.text for n in notes.notes_on_cells([result_cell]) if n.head == "Seeds"
    )


def test_one_fold_alone_is_said_to_be_that(records):
    entry = next(record for record in records if record.folds).entry
    metrics = {name: value for name, value in entry.metrics.items() if name != "folds"}
    fold_record = run_records.Record(run_records.Entry(entry.name, entry.path, entry.config, metrics, "", 0), "sweep")
    assert fold_record.unit == "fold 1 of 3, alone"
    cell_notes = notes.notes_on_cells([cell(5, "Multi-head", "Accuracy", "CR", [fold_record])])
    seeds_note = next(note.text for note in cell_notes if note.head == "Seeds")
    assert seeds_note.startswith("Fold 1 of 3, alone behind 1 cell of ours")


def test_all_training_pairs_and_random_ones_are_columns_of_their_own(records):
    whole, random_ = (cell(1, "MTSA", name, "SNLI", records) for name in ("Test", "random"))
    assert (whole.record.file, random_.record.file) == ("snli-mtsa", "snli-random")
    assert cell(1, "MTSA", "|θ|", "SNLI", records).record is whole.record
    assert cell(3, "MTSA", "|θ|", "SNLI", records).record is None  # of one sweep alone
    assert cell(2, "Transfer + MTSA", "Test", "SNLI", records).record is whole.record
    assert cell(2, "Transfer + MTSA", "Dev", "SNLI", records).ours is not None
    assert cell(1, "MTSA", "Train", "SNLI", records).reason == "not measured on train: snli-mtsa"
    assert cell(1, "MTSA", "Memory", "Cost", records).reason.startswith("see the foot of Results")
    assert not cell(1, "300D Reinforced SAN", "Memory", "Cost", records).reason
    note_texts = {note.head: note.text for note in notes.notes_on_cells([whole])}
    assert (
        "the states of its layer 1, frozen" in note_texts["Encoder"]
        and "inflated by contamination" in note_texts["Start weights"]
    )


def test_the_command_prints_the_tables(records, capsys):
    assert main(["results"]) == 0
    output = capsys.readouterr().out.partition("\nMTSA\n")[2].partition("\nT-trilinear\n")[0]
    assert output.count("\nTable ") == len(SIZES) and "Ours of SNLI: on at most 44,075 of the paper's 549,367" in output
    widths = {line.replace(r"\|", "").count("|") for line in output.splitlines() if line.startswith("|")}
    assert len(widths) == len(SIZES)
    (line,) = [one for one in output.splitlines() if one.startswith("| Multi-head | 82.6 ± 1.9")]
    row_cells = [part.strip() for part in line.strip("|").split("|")]
    assert "(3)" in row_cells[2] and row_cells[4] == "not trained"
    assert "\n\nTrained on: All available rows of " in output


@pytest.mark.parametrize("table, control", [(4, "roles-mtsa-even")])
def test_a_control_with_even_weights_is_no_mtsa(table: int, control: str) -> None:
    records = run_records.read_records(run_records.SHIPPED / "trained.jsonl")[0]
    (record,) = (record for record in records if record.entry.name == control)
    cells = paper_comparison.fill_table(TABLES[table], [record])
    assert all(cell.ours is None for line in cells for cell in line)
