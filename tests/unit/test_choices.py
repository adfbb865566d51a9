"""Dialogues and reading comprehension: what is read, what is cut, and what becomes query, key and context."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.oracles.filtering import means
from tests.support.tiny import WORDS, make_encoder
from triattn_core.inference.batch import collate
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import dialogue, reading
from triattn_core.text.roles import Limits
from triattn_core.text.segmentation import sentences

TALK = dialogue.Example(
    ("who play the movie ?", "the red car .", "where is the big browser ?"), ("not small", "watch what film"), 1
)
TEXT = reading.Example(
    "The big red car. Who watch the film? A movie is not blue.\nWhere is the browser.",
    "what is blue ?",
    ("the movie", "a car", "not the big film"),
    2,
)
LIMITS = Limits(40, (3, 2, 13))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    make_encoder(folder)
    return load_encoder(str(folder), "cpu")


def words(role, texts: dict[str, str]) -> list[str]:
    """What each token is, cut from the untouched text."""
    return [texts[name][start:end] if name else "" for name, (start, end) in zip(role.texts, role.spans)]


@pytest.mark.parametrize(("task", "example", "names"), [
    (dialogue, TALK, ("turn.3", "response")),
    (reading, TEXT, ("question", "option")),
])  # fmt: skip
def test_an_option_has_its_own_roles(world, task, example, names):
    _, tokenizer = world
    (options,) = task.roles([example], tokenizer, Limits(60))
    assert len(options) == len(example.candidates if task is dialogue else example.options)
    for option, roles in enumerate(options):
        texts = task.texts(example, option)
        assert set(roles.query.texts) == {names[0]} and set(roles.key.texts) == {names[1]}
        for role in (roles.query, roles.key):
            assert [roles.context.ids[place] for place in role.positions] == list(role.ids)
            assert "".join(words(role, texts)) == texts[role.texts[0]].replace(" ", "")
        whole = [word for word in words(roles.context, texts) if word]
        assert "".join(whole) == "".join("".join(texts.values()).split())
        assert roles.context.strings.count("[SEP]") == len(texts)
        # BERT's second segment begins with what is asked.
        second = {name for name, kind in zip(roles.context.texts, roles.context.types) if kind == 1}
        assert second - {""} == ({"response"} if task is dialogue else {"question", "option"})


def test_segments_are_turns_and_sentences(world):
    _, tokenizer = world
    (roles, _), = dialogue.roles([TALK], tokenizer, Limits(60))  # fmt: skip
    assert list(dict.fromkeys(roles.context.segments)) == ["", "turn 1", "turn 2", "turn 3", "response"]
    (roles, *_), = reading.roles([TEXT], tokenizer, Limits(60))  # fmt: skip
    expected = ["", *(f"sentence {i}" for i in (1, 2, 3, 4)), "question", "option"]
    assert list(dict.fromkeys(roles.context.segments)) == expected
    assert roles.context.strings[roles.context.segments.index("sentence 3")] == "A"


@pytest.mark.parametrize(("task", "example"), [(dialogue, TALK), (reading, TEXT)])
def test_cells_stay_within_segments_and_special_tokens_are_their_own(world, task, example):
    _, tokenizer = world
    (options,) = task.roles([example], tokenizer, LIMITS)
    for roles in options:
        for role, most in zip((roles.query, roles.key, roles.context), LIMITS.cells):
            assert len(role.runs) <= max(most, len(set(role.segments) - {""}) + sum(role.special))
            assert [place for start, end in role.runs for place in range(start, end)] == list(range(len(role)))
            for start, end in role.runs:
                assert len(set(role.segments[start:end])) == 1
                assert end - start == 1 or not any(role.special[start:end])
        assert len(roles.context.cells) == 13 < len(roles.context)


ASKED = replace(TEXT, question="The movie is blue. What is red ?", options=("a car. Not the film. big", "small ."))
SAID = replace(
    TALK, history=("A car. It is red .", "The movie is blue. What is red ?"), candidates=("a car. Not the film. big",)
)


@pytest.mark.parametrize("most", [2, 3, 5, 7, 11])
@pytest.mark.parametrize(("task", "example"), [(dialogue, SAID), (reading, ASKED)])
def test_a_cell_does_not_cross_a_sentence_where_there_are_enough(world, task, example, most):
    _, tokenizer = world
    (options,) = task.roles([example], tokenizer, Limits(60, (most, most, 40)))
    for option, roles in enumerate(options):
        spans = {name: sentences(text) for name, text in task.texts(example, option).items()}
        for role in (roles.query, roles.key, roles.context):
            units = [
                next(((name, i) for i, (a, b) in enumerate(spans[name]) if a <= start < b)) if name else place
                for place, (name, (start, _)) in enumerate(zip(role.texts, role.spans))
            ]
            cells = 40 if role is roles.context else most
            apart = all(units[start] == units[end - 1] for start, end in role.runs)
            assert apart is (len(set(units)) <= cells), (units, cells)
            assert len(role.runs) == min(cells, len(role))


@pytest.mark.parametrize(("task", "example"), [(dialogue, TALK), (reading, TEXT)])
@torch.no_grad()
def test_cells_are_means_of_what_the_encoder_gives_their_tokens(world, task, example):
    """In a padded batch, beside the oracle; the own context vectors of query and key in the same cells."""
    encoder, tokenizer = world
    (options,) = task.roles([example], tokenizer, LIMITS)
    states = encoder(collate(options, tokenizer))
    (plain,) = task.roles([example], tokenizer, Limits(LIMITS.tokens))
    whole = encoder(collate(plain, tokenizer))
    for row, roles in enumerate(options):
        for name in ("query", "key", "context"):
            role, ours, tokens = getattr(roles, name), getattr(states, name), getattr(whole, name)
            assert ours.keep[row].sum() == len(role.runs)
            assert len(role.runs) < len(role) or name == "key"
            for which in ("vectors", "own")[: 1 + (name != "context")]:
                expected = torch.from_numpy(means(getattr(tokens, which)[row].numpy(), role.runs)).float()
                torch.testing.assert_close(getattr(ours, which)[row, : len(role.runs)], expected)
    torch.testing.assert_close(states.pooled, whole.pooled)


def test_of_a_long_dialogue_the_oldest_turns_are_left_out(world):
    """The same for all candidates, and said."""
    _, tokenizer = world
    turns = tuple(" ".join(WORDS[i % 7 : i % 7 + 5]) for i in range(200))
    example = dialogue.Example(turns, ("car", "the big red car is not small"), 0)
    (options,) = dialogue.roles([example], tokenizer, Limits(60))
    assert max(len(option.context) for option in options) <= 60
    kept = {tuple(dict.fromkeys(option.context.segments)) for option in options}
    assert len(kept) == 1
    first = next(iter(kept))[1]
    assert options[0].query.texts[0] == "turn.200" and 180 < int(first.split()[1]) < 197
    prefix = f"Turns 1 to {int(first.split()[1]) - 1} are left out"
    assert all(any(note.startswith(prefix) for note in option.notes) for option in options)
    # A cell a turn: no more turns than cells are there for.
    ((roles, _),) = dialogue.roles([example], tokenizer, Limits(500, (3, 2, 13)))
    assert len(set(roles.context.segments) - {"", "response"}) == 5 and len(roles.context.cells) <= 13


def test_a_long_passage_of_equal_sentences_is_read_from_its_beginning(world):
    _, tokenizer = world
    long = replace(TEXT, passage="The big red car is not blue. " * 3000)
    (options,) = reading.roles([long], tokenizer, Limits(50, (3, 2, 13)))
    assert max(len(option.context) for option in options) == 50
    assert any(note.startswith("The passage is cut after ") for note in options[0].notes)
    assert [option.context.texts.count("passage") for option in options] == [
        options[0].context.texts.count("passage")
    ] * 3
    segments = list(dict.fromkeys(options[0].context.segments))
    assert any("–" in name for name in segments) or len(segments) <= 10


@pytest.mark.parametrize("place", [0, 7, 400, 997, 999])
def test_of_a_long_passage_the_part_is_read_that_is_asked_about(world, place):
    _, tokenizer = world
    parts = ["The big red car. "] * 1000
    parts[place] = "Where is the browser. "
    long = replace(TEXT, passage="".join(parts), question="where is the browser ?")
    (options,) = reading.roles([long], tokenizer, Limits(50))
    texts, context = reading.texts(long), options[0].context
    rows = [i for i, name in enumerate(context.texts) if name == "passage"]
    read = [word for word, name in zip(words(context, texts), context.texts) if name == "passage"]
    assert "browser" in read and len(read) == 50 - 4 - 5 - 4
    assert read[0] in ("The", "Where") or place == 999  # the last run begins where it must to end with the text
    assert context.segments[rows[read.index("browser")]] == f"sentence {place + 1}"
    before, after = context.spans[rows[0]][0], context.spans[rows[-1]][1]
    sizes = [len(part.strip()) for part in (long.passage[:before], long.passage[after:])]
    suffix = f"{sizes[0]:,} characters before them and {sizes[1]:,} after."
    assert any(note.endswith(suffix) for note in options[0].notes) is (before > 0)
