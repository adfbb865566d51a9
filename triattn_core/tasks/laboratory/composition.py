"""Compositions: of two functions, and of a relation with itself.  Pairs are enough for both: each true cell is a chain
in which query and key share something, and key and context do; in the relation, context and query as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from triattn_core.errors import InputError
from triattn_core.tasks.laboratory.example import ROLES, Cell, Example
from triattn_core.tasks.laboratory.false_friends import COLOURS
from triattn_core.tasks.laboratory.task import LaboratoryTask

PEOPLE = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn")
ANIMALS = ("fox", "hen", "goat", "cat", "mule", "duck")
PLACES = ("barn", "yard", "shed", "field", "loft", "stable")
CITIES = ("Oslo", "Rome", "Bern", "Kyiv", "Riga", "Cork", "Porto", "Graz")
LEAVING, OTHERS = 3, 4  # flights from the first city, as many as to the last; flights between the other cities
STRASSEN = "Kozachinskiy et al. 2025, arXiv 2501.19215"


class FunctionComposition(LaboratoryTask):
    """Keys say which animal a person keeps, the context where each animal is; the answer is the place."""

    NAME, LABEL, LABELS = "function-composition", "Function composition", PLACES
    OPENING_ROW = 8
    FIELDS = ("Person", "Who keeps what", "Where it is")
    TOKENS = ("person", "sentence", "sentence")
    PROVED = (
        "composing two functions is beyond one two-way layer once their values are many for its width, heads and "
        "precision (Peng et al. 2024, arXiv 2402.08164), and within one layer of pairwise scores "
        f"({STRASSEN}) or of a tree of two maps (Chakrabarti et al. 2026, arXiv 2602.02422); at six values nothing is "
        "forbidden."
    )
    OBSERVED = (
        "that in 2,000 steps tree, product, determinant and pairwise scores each learn it with two seeds of three, and "
        "not always by looking at the true pair; one layer of Bi and C-Bi stay near chance, and two layers of Bi find "
        "a part (34 to 67 %)."
    )

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Everybody keeps another animal, and every animal is in another place."""
        pets = [f"{person} keeps the {animal}" for person, animal in zip(PEOPLE, random.sample(ANIMALS, len(ANIMALS)))]
        homes = [
            f"the {animal} is in the {place}" for animal, place in zip(ANIMALS, random.sample(PLACES, len(PLACES)))
        ]
        random.shuffle(pets)
        random.shuffle(homes)
        return random.choice(PEOPLE), tuple(pets), tuple(homes)

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The sentence on the person, with the one on that person's animal."""
        pets, homes = [_ends(key) for key in keys], [_ends(home, article=True) for home in context]
        chained = ((i, j) for i, pet in enumerate(pets) for j, home in enumerate(homes) if pet == (query, home[0]))
        return tuple(chained)

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """The place, where there is exactly one."""
        places = {_ends(context[j], article=True)[1] for _, j in self.truth(query, keys, context)}
        return PLACES.index(places.pop()) if len(places) == 1 else None

    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """People, who may keep what, and what may be where."""
        yield from (("query", person, (person,)) for person in PEOPLE)
        yield from (("keys", f"{who} keeps the {animal}", (who, animal)) for who in PEOPLE for animal in ANIMALS)
        yield from (("context", f"the {animal} is in the {at}", (animal, at)) for animal in ANIMALS for at in PLACES)

    def say(self, example: Example) -> str:
        """The row in words."""
        facts = ". ".join(text[0].upper() + text[1:] for text in (*example.keys, *example.context))
        return f"{facts}. Where is the animal of {example.query}?"


class RelationComposition(LaboratoryTask):
    """Keys and context are flights, each of a colour; the query is a journey with one change, and the answer the colour
    of the flight to which one changes.

    As many flights leave the first city as reach the last, so that counting them says nothing.  Were the answer the
    city of the change, the cities that are both reached and left would say it without any pair (tried: 100 % right with
    less weight on the truth than even weights have).
    """

    NAME, LABEL, LABELS = "relation-composition", "Relation composition", COLOURS
    OPENING_ROW = 2
    NODES = CITIES
    FIELDS = ("Journey", "Flights")
    TOKENS = ("journey", "flight", "flight")
    CHANCE = (
        f"Chance is one over the {LEAVING} flights that reach the last city; a model that has learnt nothing names any "
        f"of {len(COLOURS)} colours."
    )
    PROVED = (
        "to say for all pairs of cities at once whether a change connects them is within one layer of pairwise scores, "
        f"and beyond one two-way layer of constant width ({STRASSEN}); for one journey at this size nothing is "
        "forbidden."
    )
    OBSERVED = (
        "that pairwise scores learn it, and product and determinant do; the tree, in which nothing compares context "
        "and query, stops at 65 to 66 %. One layer of Bi stays near chance, two come to 35 to 40 %, C-Bi to 67."
    )

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Three flights leave the first city, three reach the last, and one city is common to both."""
        first, last, *others = random.sample(CITIES, len(CITIES))
        reached, rest = others[:LEAVING], others[LEAVING:]
        flights = [(first, city) for city in reached]
        flights += [(city, last) for city in (random.choice(reached), *random.sample(rest, LEAVING - 1))]
        between = [(start, end) for start in others for end in others if start != end]
        flights += random.sample(between, OTHERS)
        random.shuffle(flights)
        colours = random.sample(COLOURS, len(flights))
        texts = tuple(f"{start} to {end} ({colour})" for (start, end), colour in zip(flights, colours))
        return f"{first} to {last}", texts, texts

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The flights from the first city with those that go on from there to the last; in both orders, since keys and
        context are the same flights."""
        chains = self._chains(query, keys)
        return tuple(sorted({*chains, *((j, i) for i, j in chains)}))

    def _chains(self, query: str, flights: Sequence[str]) -> list[Cell]:
        (first, last), ends = _ends(query), [_ends(_flight(text)[0]) for text in flights]
        pairs = ((i, j) for i in range(len(ends)) for j in range(len(ends)))
        return [(i, j) for i, j in pairs if ends[i] == (first, ends[j][0]) and ends[j] == (ends[i][1], last)]

    def ends(self, text: str) -> tuple[int, int]:
        """The cities of a journey or of a flight."""
        start, end = _ends(text.partition(" (")[0])
        return CITIES.index(start), CITIES.index(end)

    def answer_cells(self, example: Example) -> tuple[Cell, ...]:
        """The first flight with the second; the truth holds the other order too."""
        return tuple(self._chains(example.query, example.keys))

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """The colour of the second flight, where there is exactly one."""
        colours = {_flight(keys[j])[1] for _, j in self._chains(query, keys)}
        return COLOURS.index(colours.pop()) if len(colours) == 1 else None

    def baseline(self, examples: Iterable[Example] = ()) -> dict[str, float]:
        """`chance`: of naming the colour of any flight to the last city."""
        return {"chance": round(100 / LEAVING, 2)}

    def solve(self, query: str, keys: Sequence[str], context: Sequence[str], id: str = "") -> Example:
        """As for every task; the context is the flights again."""
        return super().solve(query, keys, keys, id)

    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Journeys, each from one city to another, and flights, which have a colour too."""
        ends = [(start, end) for start in CITIES for end in CITIES if start != end]
        yield from (("query", f"{start} to {end}", (f"from {start}", f"to {end}")) for start, end in ends)
        for role in ROLES[1:]:
            for start, end in ends:
                words = f"from {start}", f"to {end}"
                yield from ((role, f"{start} to {end} ({colour})", (*words, colour)) for colour in COLOURS)

    def say(self, example: Example) -> str:
        """The row in words."""
        return f"Flights: {', '.join(example.keys)}. To which does one change from {example.query}?"


def _flight(text: str) -> tuple[str, str]:
    """The ends of a flight, and its colour."""
    ends, _, colour = text.partition(" (")
    if not colour.endswith(")"):
        raise InputError(
            f"{text!r} is no flight: write two cities and a colour, such as {CITIES[0]} to {CITIES[1]} (blue)."
        )
    return ends, colour[:-1]


def _ends(text: str, article: bool = False) -> tuple[str, str]:
    """The first and last word of a sentence, without its leading article."""
    words = text.split(" ")[article:]
    if len(words) < 2:
        raise InputError(f"{text!r} is no token of this task.")
    return words[0], words[-1]


FUNCTION_COMPOSITION, RELATION_COMPOSITION = FunctionComposition(), RelationComposition()
