"""Training of a TAN's heads: the rows that are read, and the epoch that is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

from tests.support.tiny import change, make_world, mark
from triattn_core.__main__ import main
from triattn_core.checkpoint.config import read_config
from triattn_core.errors import DataError
from triattn_core.tasks import pairs
from triattn_core.training.best_checkpoint import best
from triattn_core.training.tan import trainer as tan_training

LEFT_OUT = (1, 5, 6, 17)  # of 48 training rows


@pytest.mark.parametrize(
    ("accuracies", "step"),
    [([0.5, 0.7, 0.6], 2), ([0.6, 0.8, 0.8, 0.7], 2), ([0.5, 0.6, 0.9], 3), ([0.0, 0.0], 1), ([], None)],
)
def test_best_is_the_first_of_the_best(accuracies, step):
    rows = [{"step": n, "dev_accuracy": value} for n, value in enumerate(accuracies, 1)]
    rows += [{"step": 9, "train_loss": 0.1}]
    assert best(rows).get("step") == step


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """One config; of the training rows four are marked, and of dev two."""
    root = make_world(tmp_path_factory.mktemp("small"), ("bi",))
    mark(root / "data" / "small" / "train.jsonl", in_eval=LEFT_OUT[:2], dup=LEFT_OUT[2:])
    mark(root / "data" / "small" / "dev.jsonl", in_eval=(0,), dup=(2,))
    return root


@pytest.mark.parametrize("left_after", [None, 6, 12, 18])
@pytest.mark.parametrize(("accuracies", "kept"), [([0.5, 0.7, 0.7, 0.6], 12), ([0.8, 0.7, 0.8, 0.9], 24)])
def test_the_epoch_that_is_best_on_dev_becomes_the_checkpoint(
    small, tmp_path, monkeypatch, accuracies, kept, left_after
):
    """Four epochs of six steps whose accuracies are told; also in a run that is left after one of them and resumed."""
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(small / "checkpoints"))
    config = read_config(small / "checkpoints" / "small-bi" / "config.json")
    config = config.model_copy(update={"training": config.training.model_copy(update={"epochs": 4})})
    folder, runs, measured, states = tmp_path / "small-bi", small / "runs", [], {}

    def fake_evaluate(module, features, device) -> dict[str, float]:
        measured.append({name: tensor.half() for name, tensor in module.state_dict().items()})
        return {"dev_loss": 0.5, "dev_accuracy": accuracies[len(states)]}

    monkeypatch.setattr(tan_training, "evaluate", fake_evaluate)
    for resume in (False, True):
        for event in tan_training.train_tan(config, folder, small / "data", runs, resume, Accelerator(cpu=True)):
            if event.kind == "saved":
                states[event.step] = measured[-1]
            if (event.kind, event.step) == ("saved", left_after) and not resume:
                break
        if left_after is None:
            break
    assert list(states) == [6, 12, 18, 24]
    weights = load_file(folder / "model.safetensors")
    assert [step for step, state in states.items() if all(torch.equal(weights[n], state[n]) for n in weights)] == [kept]


# --- the rows ---


@pytest.fixture
def measured(small, monkeypatch):
    """Trains with changed settings for one epoch: the training rows and the dev rows, as (tokens of A, label)."""
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(small / "checkpoints"))
    sets = []

    def make(tan, config, data, run, accelerator):
        sets.append(data)
        return job(tan, config, data, run, accelerator)

    job = tan_training.make_job
    monkeypatch.setattr(tan_training, "make_job", make)

    def trained(name: str, **data) -> tuple[list, list, int]:
        folder = small / "others" / name
        shutil.copytree(small / "checkpoints" / "small-bi", folder)
        change(folder, data=data, training={"epochs": 1})
        config = read_config(folder / "config.json")
        events = list(
            tan_training.train_tan(config, folder, small / "data", small / "runs", False, Accelerator(cpu=True))
        )
        both = (sets[-1][one] for one in (config.data.train[0], config.data.dev))
        return *(list(zip(one.lengths[:, 0].tolist(), one.labels.tolist())) for one in both), events[-1].steps

    return trained


def rows(small: Path, name: str, but: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    """(words of A, label) of the rows of a file, but for some; every word of A is a token."""
    examples = enumerate(pairs.read(small / "data" / "small" / f"{name}.jsonl"))
    return [
        (len(example.text_a.replace("?", " ?").split()), example.label)
        for number, example in examples
        if number not in but
    ]


def test_marked_rows_are_not_trained_on_and_dev_is_whole(small, measured):
    kept = rows(small, "train", LEFT_OUT)
    assert measured("all") == (kept, rows(small, "dev"), 6)
    assert len(kept) == 44 and len(rows(small, "dev")) == 20
    assert [example.label for example in pairs.read(small / "data" / "small" / "train.jsonl", training=True)] == [
        label for _, label in kept
    ]


@pytest.mark.parametrize(("every", "steps"), [(3, 2), (2, 3), (43, 1)])
def test_every_so_many_rows_are_trained_on_and_dev_is_whole(small, measured, every, steps):
    """Also where the features of all rows, or of others, stand on disk from the tests before."""
    expected = rows(small, "train", LEFT_OUT)[::every]
    assert len(expected) == -(-44 // every)
    assert measured(f"every-{every}", every=every) == (expected, rows(small, "dev"), steps)


def test_a_row_without_a_word_is_named(small, measured):
    rows = (small / "data" / "small" / "dev.jsonl").read_text("utf-8").splitlines()[:3]
    rows.append('{"text_a": "who", "text_b": "\\u200b", "label": 1}')
    (small / "data" / "small" / "blank.jsonl").write_text("\n".join(rows), "utf-8")
    with pytest.raises(DataError, match="blank.jsonl:4: Sentence B has no character that the model can read"):
        measured("blank", dev="small/blank")


def test_what_is_trained_on_here_is_measured_whole_there(small, measured):
    """The same set as dev of another checkpoint has all its rows, though features without them stand on disk."""
    measured("here")
    assert measured("there", train=["small/dev"], dev="small/train") == (
        rows(small, "dev", but=(0, 2)),
        rows(small, "train"),
        3,
    )


@pytest.mark.parametrize("more", [{}, {"every": 2}])
def test_rows_are_evened_and_dev_is_whole(small, measured, more):
    """Of the pairs alike in the share of common words none of the labels outweighs the other."""
    path = small / "data" / "small" / "train.jsonl"
    texts = [pairs.texts(example).values() for example in pairs.read(path)]
    words = [[set(text.replace("?", " ?").split()) for text in two] for two in texts]
    tenth = [min(int(10 * len(a & b) / len(a | b)), 9) for a, b in words]
    labels = [example.label for example in pairs.read(path)]
    kept, fewer = [], 0
    for number in range(10):
        sides = [[i for i in range(48) if i not in LEFT_OUT and (tenth[i], labels[i]) == (number, k)] for k in (0, 1)]
        kept.append(min(map(len, sides)))
        fewer += sum(map(len, sides)) - 2 * kept[-1]
    assert fewer > 8
    trained, dev, _ = measured(f"even-{len(more)}", even=1.0, **more)
    assert len(trained) == -(-2 * sum(kept) // more.get("every", 1))
    assert dev == rows(small, "dev")
    if not more:
        assert sum(label for _, label in trained) == sum(kept)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"training": {"precision": "fp8"}}, "training.precision"),
        ({"training": {"more_seeds": "many"}}, "training.more_seeds"),
        ({"data": {"every": 0}}, "data.every"),
        (None, "no such file"),
    ],
)
def test_a_bad_config_is_seen_before_the_first_is_trained(small, tmp_path, capsys, changed, complaint):
    if changed:
        shutil.copytree(small / "checkpoints" / "small-bi", tmp_path / "bad")
        change(tmp_path / "bad", **changed)
    configs = [str(folder / "config.json") for folder in (small / "checkpoints" / "small-bi", tmp_path / "bad")]
    assert main(["train", *configs, "--data", str(small / "data"), "--runs", str(tmp_path / "runs")]) == 1
    message = capsys.readouterr().err.strip()
    assert message.startswith("triattn: ") and len(message.splitlines()) == 1 and complaint in message
    assert not (tmp_path / "runs").exists()
