"""False friends: one foreign word means another thing in each language, so a card alone or a language alone says
nothing; only a card read in one of tonight's languages does.

There are more colours than cards: with as many, a model can learn to look everywhere but at the right card and to name
the colour that is missing (tried: 100 % right with 2 % of its weight on the truth).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.tasks.laboratory.example import Cell, Example
from triattn_core.tasks.laboratory.statements import COUNTING, PAIRWISE
from triattn_core.tasks.laboratory.task import LaboratoryTask

if TYPE_CHECKING:
    import pandas as pd

ENGLISH = ("dog", "river", "bread", "moon", "door", "fish", "tree", "stone", "bird", "shoe", "rain")
FOREIGN = ("mira", "tolu", "vena", "kesh", "luma", "dorn", "salo", "pirt", "ombe", "fael", "zuni")
LANGUAGES = ("Vesk", "Oran", "Tami", "Ulda", "Brei", "Zhon", "Kiru", "Palo", "Neth", "Sora", "Ivic")
COLOURS = ("blue", "red", "green", "yellow", "black", "white", "brown", "pink", "grey", "orange", "purple", "silver")
CARDS, TONIGHT = 6, 3


class FalseFriends(LaboratoryTask):
    """Cards are keys, the languages spoken tonight are the context; the answer is the colour of the right card."""

    NAME, LABEL, LABELS = "false-friends", "False friends", COLOURS
    OPENING_ROW = 1
    FIELDS = ("Word", "Cards", "Spoken tonight")
    TOKENS = ("word", "card", "language")
    CHANCE = (
        f"Chance is one over the {CARDS} cards; a model that has learnt nothing names any of {len(COLOURS)} colours, "
        f"including colours on no card, and is right once in {len(COLOURS)} rows ({100 / len(COLOURS):.1f} %)."
    )
    SIZE = "words (as many languages)"
    PROVED = COUNTING
    OBSERVED = (
        "that in as many steps two-way models of this size stay at chance. In ten times as many two layers of Bi learn "
        "it with two seeds, in thirty times with the third: the second can look up what the first wrote into each "
        "card. C-Bi finds part of it and no more; one layer of Bi stays at chance, and has 19 % after thirty times "
        "(“Against training” below). Rows are new, the dictionary is not: every word in every language was in "
        "training. " + PAIRWISE
    )
    SIZES = (TONIGHT + 1, len(FOREIGN))

    def __init__(self, size: int = len(FOREIGN)):
        """size: words, as many as languages."""
        self.size, self.cards = size, min(CARDS, size - TONIGHT + 1)
        self.english, self.foreign, self.languages = ENGLISH[:size], FOREIGN[:size], LANGUAGES[:size]
        # A cyclic Latin square: each word means each thing in exactly one language.
        self.meaning = {
            (word, language): ENGLISH[(i + j) % size]
            for i, word in enumerate(self.foreign)
            for j, language in enumerate(self.languages)
        }

    def with_size(self, size: int) -> FalseFriends:
        """So many words and languages; of few words, as many cards as can be wrong, and the right one."""
        return FalseFriends(size)

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Cards of different words and colours, three languages; exactly one card means the word tonight."""
        query, tonight = random.choice(self.english), random.sample(self.languages, TONIGHT)
        means = [word for word in self.foreign if any(self.meaning[word, language] == query for language in tonight)]
        right = random.choice(means)
        words = [right, *random.sample([word for word in self.foreign if word not in means], self.cards - 1)]
        random.shuffle(words)
        colours = random.sample(COLOURS, self.cards)
        return query, tuple(f"{word} ({colour})" for word, colour in zip(words, colours)), tuple(tonight)

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The cells of a card and a language in which it means the query."""
        words = [_parts(text)[0] for text in keys]
        places = ((i, j) for i in range(len(keys)) for j in range(len(context)))
        return tuple((i, j) for i, j in places if self.meaning[words[i], context[j]] == query)

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """The colour of the right card, where there is exactly one such."""
        colours = {_parts(keys[i])[1] for i, _ in self.truth(query, keys, context)}
        return COLOURS.index(colours.pop()) if len(colours) == 1 else None

    def baseline(self, examples: Iterable[Example] = ()) -> dict[str, float]:
        """`chance`: of naming the colour of any card."""
        return {"chance": round(100 / self.cards, 2)}

    def dictionary(self) -> pd.DataFrame:
        """What each foreign word means in each language: a row a word, a column a language."""
        import pandas as pd

        meanings = [[self.meaning[word, language] for language in self.languages] for word in self.foreign]
        return pd.DataFrame(meanings, index=list(self.foreign), columns=list(self.languages))

    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """English words, cards of a word and a colour, languages."""
        yield from (("query", word, (word,)) for word in self.english)
        yield from (("keys", f"{word} ({colour})", (word, colour)) for word in self.foreign for colour in COLOURS)
        yield from (("context", language, (language,)) for language in self.languages)

    def say(self, example: Example) -> str:
        """The row in words."""
        return (
            f"Who has the {example.query}? Cards: {', '.join(example.keys)}. "
            f"Spoken tonight: {', '.join(example.context)}."
        )


def _parts(text: str) -> tuple[str, str]:
    word, _, colour = text.partition(" (")
    if not colour.endswith(")"):
        raise InputError(f"{text!r} is no card: write a word and a colour, such as mira (blue).")
    return word, colour[:-1]


FALSE_FRIENDS = FalseFriends()
