"""The records of checkpoints: whatever is missing is said as missing, never raised."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from triattn_core.checkpoint import metadata, provenance
from triattn_core.checkpoint.registry import VARIABLE, Entry

CONFIG = {
    "task": "pairs",
    "language": "en",
    "encoder": "small",
    "data": {"train": ["quora/train"], "dev": "quora/dev", "test": "quora/test"},
    "model": {"mechanism": "tri", "similarity": "additive"},
    "digest": "aa",
}


def entry(path: Path = Path("x"), config: dict | None = None, name: str = "x", **metrics) -> Entry:
    return Entry(name, path, CONFIG if config is None else config, metrics, "aa", 1)


@pytest.mark.parametrize("config", [{}, {"model": None, "data": 3, "task": None}, {"model": [], "data": []}])
def test_a_bare_card_has_empty_records(config: dict) -> None:
    bare = entry(config=config, test="none")
    assert metadata.model_setting(bare, "mechanism") == "" == metadata.main_metric(bare)
    assert metadata.main_score(bare) is None
    assert provenance.pretraining_sources(bare) is None
    assert metadata.language(bare) == "" == metadata.language_name(metadata.language(bare))
    assert provenance.model_card_summary(bare) == ""
    assert len(metadata.comparable_groups([bare])) == 1


def test_what_may_be_compared_stands_together_best_first() -> None:
    entries = [entry(name=name, test={"accuracy": value}) for name, value in (("low", 80.0), ("high", 86.5))]
    other = entry(name="other", config={**CONFIG, "language": "zh"}, test={"R10@1": 72.0})
    groups = metadata.comparable_groups([*entries, other])
    assert [[one.name for one in group] for group in groups.values()] == [["high", "low"], ["other"]]
    assert list(groups) == [("Sentence pairs", "Quora", "English"), ("Sentence pairs", "Quora", "Chinese")]


def test_groups_stand_in_the_order_of_the_tasks() -> None:
    of = ("dialogue", "reading", "mine", "pairs")
    groups = metadata.comparable_groups([entry(name=task, config={**CONFIG, "task": task}) for task in of])
    assert [task for task, _, _ in groups] == ["Sentence pairs", "Dialogue", "Reading comprehension", "mine"]


def test_cards_are_offered_by_language_and_as_the_paper_lists_similarities() -> None:
    variants = [("zh", "dot"), ("xx", "additive")]
    variants += [("en", name) for name in ("own", "bilinear", "scaled_dot", "additive")]
    entries = [entry(config={"language": code, "model": {"similarity": name}}, name=name) for code, name in variants]
    order = [(metadata.language(one), one.name) for one in sorted(entries, key=metadata.sort_key)]
    english = [("en", name) for name in ("additive", "scaled_dot", "bilinear", "own")]
    assert order == [*english, ("zh", "dot"), ("xx", "additive")]
    assert [metadata.language_name(code) for code in ("en", "zh", "xx")] == ["English", "Chinese", "xx"]


def test_a_users_checkpoints_come_after_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "ours"))
    entries = [
        entry(tmp_path / place / name, name=name) for place, name in (("mine", "a"), ("ours", "c"), ("ours", "b"))
    ]
    assert [one.name for one in sorted(entries, key=metadata.sort_key)] == ["b", "c", "a"]


def test_differences_of_configs() -> None:
    a = {"model": {"mechanism": "tri", "value": "additive", "layers": 2}, "digest": "a", "empty": {}}
    b = {"model": {"mechanism": "bi", "layers": 2}, "digest": "b", "empty": {}}
    differ, equal = metadata.differences(a, b)
    assert differ == {"model.mechanism": ("tri", "bi"), "model.value": ("additive", None)}
    assert equal == {"model.layers": 2, "empty": {}}


def test_differences_of_several_configs() -> None:
    configs = [{"seed": seed, "layers": 2, "task": "pairs"} for seed in (1, 2, 2)]
    del configs[2]["task"]
    differ, equal = metadata.differences(*configs)
    assert differ == {"seed": (1, 2, 2), "task": ("pairs", "pairs", None)} and equal == {"layers": 2}


def test_seeds_are_found_by_their_configs() -> None:
    def of(name: str, seed: int, digest: str = "", **settings) -> Entry:
        training = {"seed": seed, "epochs": 1, "more_seeds": [2, 3] if seed == 1 else []}
        return entry(name=name, config={"training": training, "digest": name, "encoder_digest": digest, **settings})

    first = of("first", 1)
    entries = [
        of("a copy", 1),
        of("second", 2),
        of("third", 3),
        of("other encoder", 4, "x"),
        of("wider", 5, heads=2),
    ]
    broken = replace(of("broken", 6), problem="no weights")
    assert [variant.name for variant in metadata.seed_variants(first, [*entries, broken, first])] == [
        "first",
        "second",
        "third",
    ]
    assert metadata.seed_variants(entries[4], [first, *entries]) == [entries[4]]


def test_the_source_of_the_test_set_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    folder = tmp_path / "encoders" / "small"
    folder.mkdir(parents=True)
    assert provenance.pretraining_sources(entry()) is None
    (folder / "metrics.json").write_text('{"start_had_seen": []}')
    assert provenance.pretraining_sources(entry()) == ()
    datasets = [{"name": "Duplicates", "what": "questions", "set": "mrpc, quora"}, {"name": "MS MARCO"}]
    (folder / "metrics.json").write_text(json.dumps({"start_had_seen": datasets}))
    assert [(source.name, source.of_test) for source in provenance.pretraining_sources(entry())] == [
        ("Duplicates", True),
        ("MS MARCO", False),
    ]


def test_the_summary_is_the_first_paragraph(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlicense: x\n---\n# Title\n\nFirst line\nand second.\n\nMore.\n")
    assert provenance.model_card_summary(entry(tmp_path)) == "First line and second."
    assert provenance.files(tmp_path) == {"README.md": 58}
