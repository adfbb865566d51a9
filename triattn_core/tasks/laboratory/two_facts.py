"""Two supporting facts, after bAbI task 2 (Weston et al. 2015, arXiv 1502.05698): a thing is where the person who took
it went last.  A token is a whole sentence, the sum of its words, and the story is read as keys and as context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from triattn_core.errors import InputError
from triattn_core.tasks.laboratory.example import ROLES, Cell, Example
from triattn_core.tasks.laboratory.task import LaboratoryTask

PEOPLE = ("Mary", "John", "Emma", "Paul")
THINGS = ("milk", "book", "coat", "lamp")
PLACES = ("garden", "kitchen", "office", "attic", "station", "market")
TAKEN = 3  # sentences "took"
MOVES = 5  # sentences "went": one of each who took something, and others


class TwoFacts(LaboratoryTask):
    """The query is a thing; key and context are the sentences; the answer is a place."""

    NAME, LABEL, LABELS, ORDERED = "two-facts", "Two supporting facts", PLACES, True
    REPEATS = True  # somebody may go to the same place twice
    OPENING_ROW = 2
    FIELDS = ("Where is the", "Story")
    TOKENS = ("thing", "sentence", "sentence")
    PROVED = (
        "composing two facts is beyond one two-way layer once the facts are many for its width, heads and precision "
        "(Peng et al. 2024, arXiv 2402.08164); at eight sentences nothing is forbidden."
    )
    OBSERVED = (
        "that one layer of Bi stops at guessing among the moves, and two layers do not. Pairs are enough for it in "
        "principle, so no gap is forced; and Tri finds it with additive relevance, not with scaled dot."
    )

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Three people take a thing each; everybody who has one goes somewhere at least once."""
        takers, things = random.sample(PEOPLE, TAKEN), random.sample(THINGS, TAKEN)
        movers = [*takers, *(random.choice(PEOPLE) for _ in range(MOVES - TAKEN))]
        story = [f"{person} took the {thing}" for person, thing in zip(takers, things)]
        story += [f"{person} went to the {random.choice(PLACES)}" for person in movers]
        random.shuffle(story)
        return random.choice(things), tuple(story), tuple(story)

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The sentence in which the thing is taken, with the last move of whoever took it; in both orders, since keys
        and context are the same sentences."""
        cells = []
        for i, sentence in enumerate(keys):
            person, verb, thing = _parts(sentence)
            moves = [j for j, other in enumerate(context) if _parts(other)[:2] == (person, "went")]
            if (verb, thing) == ("took", query) and moves:
                cells.append((i, moves[-1]))
        return tuple(sorted({*cells, *((j, i) for i, j in cells)}))

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """The place, where exactly one person has taken the thing."""
        moves = [_parts(context[j]) for i, j in self.truth(query, keys, context) if _parts(keys[i])[1] == "took"]
        return PLACES.index(moves[0][2]) if len(moves) == 1 else None

    def answer_cells(self, example: Example) -> tuple[Cell, ...]:
        """The sentence "took" with the sentence "went"; the truth holds the other order too."""
        return tuple(cell for cell in example.truth if "took" in example.keys[cell[0]])

    def solve(self, query: str, keys: Sequence[str], context: Sequence[str], id: str = "") -> Example:
        """As for every task; the context is the story again."""
        return super().solve(query, keys, keys, id)

    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Things, and every sentence."""
        yield from (("query", thing, (thing,)) for thing in THINGS)
        for role in ROLES[1:]:
            for person in PEOPLE:
                yield from ((role, f"{person} took the {thing}", (person, "took", thing)) for thing in THINGS)
                yield from ((role, f"{person} went to the {place}", (person, "went", place)) for place in PLACES)

    def say(self, example: Example) -> str:
        """The row in words."""
        return f"{' '.join(f'{sentence}.' for sentence in example.keys)} Where is the {example.query}?"


def _parts(sentence: str) -> tuple[str, str, str]:
    person, verb, *tail = sentence.split(" ")
    if not tail:
        raise InputError(f"{sentence!r} is no sentence of these stories, such as {PEOPLE[0]} took the {THINGS[0]}.")
    return person, verb, tail[-1]


TWO_FACTS = TwoFacts()
