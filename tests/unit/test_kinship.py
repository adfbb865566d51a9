"""Family stories: how they are read, what a model of them may depend on, and from a file to a verdict."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from tests.oracles import kinship as oracle
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.verify import verify
from triattn_core.configs.kinship import KinshipConfig
from triattn_core.errors import DataError, InputError
from triattn_core.inference.explain import explain
from triattn_core.inference.story_batch import WORDS, StoryBatch, nearest, stories
from triattn_core.models.kinship import KinshipModel
from triattn_core.tasks.kinship import family_stories
from triattn_core.tasks.kinship.story import MOST_PEOPLE, RELATIONS, Example

FORMS = [
    {"mechanism": "tri"},
    {"mechanism": "tri", "similarity": "strassen", "distinct": True},
    {"mechanism": "cbi"},
    {"mechanism": "bi_joint", "layers": 2},
    {"mechanism": "triangle", "layers": 2},
]
PREPARED = {
    "words": ["@0", "met", "her", "son", "@1", ".", "@1", "'s", "sister", "@2", "came"],
    "names": ["ada", "ben", "cleo"],
    "query": [0, 2],
    "label": "daughter",
    "chain": [[0, 1], [1, 2]],
}


def build(**settings) -> KinshipModel:
    torch.manual_seed(1)
    model = KinshipModel(KinshipConfig(**{"hidden": 12, "heads": 2} | settings)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    with torch.no_grad():
        model.words.weight[0] = 0.0  # no word
    return model


def test_links_agree_with_the_oracle() -> None:
    for example in family_stories.examples():
        found = [(example.people[link.first], example.people[link.second], link) for link in example.links()]
        expected = oracle.links(example.text)
        assert [(one, two) for one, two, _ in found] == [(one, two) for one, two, _ in expected]
        for (*_, link), (*_, words) in zip(found, expected):
            assert [word for word in link.between if word.isalpha()] == words
            assert example.text[slice(*link.span)].startswith(example.people[link.first])
            assert example.text[slice(*link.span)].endswith(example.people[link.second])


def test_a_prepared_row_is_a_story() -> None:
    example = Example.from_row(PREPARED)
    assert example.people == ("Ada", "Ben", "Cleo") and example.asked == ("Ada", "Cleo")
    assert RELATIONS[example.label or 0] == "daughter" and example.facts == 2
    assert [(link.first, link.second) for link in example.links()] == [(0, 1), (1, 2)]  # Ben to Ben is none
    unnamed = Example.from_row({name: value for name, value in PREPARED.items() if name != "names"})
    assert unnamed.people == ("Person 0", "Person 1", "Person 2")
    again = Example.from_row(family_stories.row(example))
    assert (again.text, again.asked, again.relation) == (example.text, example.asked, example.relation)


@pytest.mark.parametrize(
    ("changed", "said"),
    (
        ({"label": "friend"}, "unknown relation"),
        ({"query": [0]}, "two people"),
        ({"query": [0, 7]}, "two people of the story"),
        ({"words": "no list"}, "list of words"),
        ({"words": ["nobody"]}, "two people of the story"),
    ),
)
def test_a_wrong_row_is_told(changed: dict, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Example.from_row(PREPARED | changed, "row 1")


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    (
        ("Nobody is named.", ("Ann", "Bob"), "names 0 people"),
        ("[Ann] and [Bob]", ("Ann", "Cy"), "'Cy' is not in the story"),
        (" ".join(f"[p{i}]" for i in range(13)), ("p0", "p1"), "names 13 people"),
        ("[Ann] [Bob] " * 20, ("Ann", "Bob"), "too long"),
    ),
)
def test_a_story_that_is_not_read_is_told(text: str, asked: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Example(text, asked).check()


def test_of_long_gaps_the_words_next_to_the_names_are_read() -> None:
    words = [str(i) for i in range(30)]
    assert list(nearest(words)) == [*words[: WORDS // 2], *words[-WORDS // 2 :]]
    assert list(nearest(words[:WORDS])) == words[:WORDS]


@torch.no_grad()
@pytest.mark.parametrize("settings", FORMS, ids=lambda one: "-".join(map(str, one.values())))
def test_padding_and_other_rows_cannot_matter(settings: dict) -> None:
    model, examples = build(**settings), [Example.from_row(PREPARED), *family_stories.examples()]
    examples.append(Example("[A] saw his son [B], [B] his wife [C], [C] her mother [D], [D] her aunt [E].", ("A", "E")))
    together = model(stories(examples))
    for i, example in enumerate(examples):
        torch.testing.assert_close(model(stories([example]))[0], together[i], rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_the_grid_agrees_with_the_oracle_and_knows_no_order_of_people() -> None:
    model, batch = build(mechanism="triangle"), stories(family_stories.examples()[:1])
    links = torch.randn(1, batch.keep.shape[1], 12)
    turned = model.reverse(links)
    ends = batch.ends[0].tolist()
    rows = [[(*pair, vector.tolist()) for pair, vector in zip(ends, part[0])] for part in (links, turned)]
    expected = torch.tensor(oracle.grid(batch.people.shape[1], *rows)) + model.plain(torch.eye(3, dtype=torch.long))
    torch.testing.assert_close(model.grid(batch, links)[0], expected)
    order = torch.tensor([2, 0, 1])
    moved = StoryBatch(**vars(batch) | {"ends": order[batch.ends], "asked": order[batch.asked]})
    torch.testing.assert_close(model(moved), model(batch), rtol=1e-4, atol=1e-5)


def test_renamed_people_stay_apart_and_keep_their_links() -> None:
    torch.manual_seed(0)
    batch = stories([Example.from_row(PREPARED)])
    seen = set()
    for _ in range(30):
        new = batch.renamed()
        (one, two), (again, third) = new.ends[0].tolist()
        assert two == again and len({one, two, third}) == 3
        assert new.asked[0].tolist() == [one, third]
        assert max(one, two, third) < MOST_PEOPLE
        seen.add(one)
    assert len(seen) > 5


def test_only_what_can_be_stacked_is() -> None:
    with pytest.raises(ValidationError, match="are stacked"):
        KinshipConfig(mechanism="tri", layers=2)


def write_stories(path: Path, rows: int, seed: int) -> None:
    """Stories of two facts, in which the second word alone decides."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(rows):
            who, relation = draw.choice((("sister", "daughter"), ("brother", "son")))
            story = f"[Ann] has a son, [Bob]. [Bob] called his {who} [Kim] at once."
            file.write(json.dumps({"story": story, "query": ["Ann", "Kim"], "relation": relation}) + "\n")


SITES = {
    "tri": ("layer.0/a_over_b/weight", {"head": 4, "query": 1, "key": 2, "context": 2}),
    "bi_joint": ("layer.0/joint/weight", {"head": 4, "query": 3, "key": 3}),
    "triangle": ("layer.1/triangle/weight", {"head": 4, "query": 3, "key": 3, "context": 3}),
}


@pytest.mark.parametrize("mechanism", SITES)
def test_from_a_file_of_stories_to_a_verdict(tmp_path: Path, capsys, mechanism: str) -> None:
    (tmp_path / "data" / "own").mkdir(parents=True)
    for name, rows in (("train", 80), ("test", 20)):
        write_stories(tmp_path / "data" / "own" / f"{name}.jsonl", rows, len(name))
    folder = tmp_path / "mine"
    folder.mkdir()
    config = {
        "format": 1, "kind": "kinship", "model": {"mechanism": mechanism, "hidden": 16},
        "data": {"train": ["own/train"], "test": "own/test"},
        "training": {"epochs": 40, "batch": 24, "rate": 0.005, "seed": 0},
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    arguments = ["--data", str(tmp_path / "data"), "--runs", str(tmp_path / "runs")]
    assert main(["train", str(folder / "config.json"), *arguments]) == 0
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["n"] == 20 and metrics["dev"]["n"] == 8
    assert metrics["test"]["accuracy"] == 100.0
    assert all(check.good for check in verify(str(folder)))
    prediction, trace = explain(load(folder, "cpu"), family_stories.examples()[1])
    assert prediction.labels == RELATIONS
    site, sizes = SITES[mechanism]
    assert trace.sites[site].sizes == sizes
    capsys.readouterr()
    assert main(["evaluate", str(folder), str(tmp_path / "data" / "own" / "test.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["accuracy"] == 100.0


def test_metrics_part_stories_by_their_facts() -> None:
    verdicts = [(True, 2), (False, 3), (True, 5), (True, 9), (True, 0)]
    assert family_stories.metrics(verdicts) == {
        "accuracy": 80.0, "accuracy_as_trained": 50.0, "accuracy_longer": 100.0,
    }  # fmt: skip
