"""recipe.json of an encoder: what does not fit is refused in one line, before anything is read or written."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import encoder_root
from triattn_core.errors import ConfigError
from triattn_core.training.recipe import read_recipe

GOOD = {
    "kind": "encoder",
    "start": {
        "name": "nothing",
        "had_seen": [],
        "config": {"hidden_size": 12},
        "vocabulary": {"data": ["zh/train"], "least": 2},
    },
    "stages": [{"data": ["zh/train"], "epochs": 1, "mask": 0.1, "rate": 1e-3}],
    "dev": "zh/dev",
    "word_weight": 0.2,
    "batch": 8,
    "max_tokens": 16,
    "precision": "no",
    "seed": 1,
}
WEIGHTS = {"name": "w", "had_seen": [{"name": "a", "what": "b"}], "path": "here", "sha256": "0" * 64}


def changed(at: str, value: object) -> dict:
    """The good recipe with one setting changed, or without it where the value is None."""
    recipe = copy.deepcopy(GOOD)
    *keys, last = [int(part) if part.isdigit() else part for part in at.split(".")]
    inner = recipe
    for key in keys:
        inner = inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return recipe


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        *((name, None, f"{name}: Field required") for name in GOOD if name != "kind"),
        ("start.name", None, "start needs a name"),
        ("start.had_seen", None, "start needs a name, and its pre-training data"),
        ("start", {"encoder": "minilm-en"}, "with the digest of its tensors"),
        ("task", "dialog", "task: "),
        ("train_layers", 0, "train_layers: "),
        ("start.vocabulary", None, "has both config and vocabulary"),
        ("start", {"name": "w", "had_seen": []}, "weights are named by package or path, and sha256"),
        ("stages", [], "stages: "),
        ("stages.0.data", "zh/train", "stages.0.data: "),
        ("stages.0.epochs", 0, "stages.0.epochs: "),
        ("stages.0.mask", 15, "stages.0.mask: "),
        ("stages.0.rate", -1, "stages.0.rate: "),
        ("stages.0.even", 0.5, "stages.0.even: "),
        ("stages.0.stop_after", 0, "stages.0.stop_after: "),
        ("stages.0.epoch", 3, "unknown key 'stages.0.epoch'; did you mean 'epochs'"),
        ("swap", 5, "swap: "),
        ("batch", 0, "batch: "),
        ("seed", "one", "seed: "),
        ("precision", "half", "precision: "),
        ("sede", 1, "unknown key 'sede'; did you mean 'seed'"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, capsys, at, value, message):
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(changed(at, value)), "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_recipe(path)
    assert message in str(caught.value) and str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert main(["train", str(path), "--runs", str(tmp_path / "runs")]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["recipe.json"]


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ("word_weight", 0.2),
        ("swap", 0.5),
        ("stages.0.mask", 0.1),
        ("stages.0.word_weight", 0.2),
        ("stages.0.match", False),
    ],
)
def test_what_texts_read_apart_do_not_use_is_refused(tmp_path, at, value):
    recipe = changed("objective", "apart") | {"word_weight": 0.0}
    recipe["stages"][0]["mask"] = 0.0
    (tmp_path / "recipe.json").write_text(json.dumps(recipe), "utf-8")
    assert read_recipe(tmp_path / "recipe.json") == recipe
    *stage, name = at.split(".")
    (recipe["stages"][0] if stage else recipe)[name] = value
    (tmp_path / "recipe.json").write_text(json.dumps(recipe), "utf-8")
    with pytest.raises(ConfigError, match="texts read apart have no mask, word_weight, swap or match"):
        read_recipe(tmp_path / "recipe.json")


@pytest.mark.parametrize("start", [GOOD["start"], WEIGHTS])
def test_a_good_one_is_given_as_it_stands(tmp_path, start):
    (tmp_path / "recipe.json").write_text(json.dumps(GOOD | {"start": start}), "utf-8")
    assert read_recipe(tmp_path / "recipe.json") == GOOD | {"start": start}


@pytest.mark.parametrize("name", [path.name for path in sorted(encoder_root().iterdir())])
def test_the_shipped_ones_are_good(name):
    assert read_recipe(Path(encoder_root() / name / "recipe.json"))["kind"] == "encoder"
