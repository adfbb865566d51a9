"""A story of a family, two of its people, and how they are related: one example of the task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triattn_core.errors import DataError, InputError, choices
from triattn_core.text.row_fields import field

RELATIONS = (
    "aunt", "brother", "daughter", "daughter-in-law", "father", "father-in-law", "granddaughter", "grandfather",
    "grandmother", "grandson", "mother", "mother-in-law", "nephew", "niece", "sister", "son", "son-in-law", "uncle",
)  # fmt: skip
MOST_PEOPLE, MOST_LINKS = 12, 32  # of a story
_NAME, _WORD, _PERSON = re.compile(r"\[([^\[\]]+)\]"), re.compile(r"[a-z]+(?:'[a-z]+)?|[.,;]"), re.compile(r"@(\d+)")


@dataclass(frozen=True)
class Link:
    """Two people whose names follow one another in a story, and the words around them: a token of the task.

    first, second: positions among the people.  before, between, after: words, up to the neighbouring names.
    span: its characters in the text, from the first name to the second.
    """

    first: int
    second: int
    before: tuple[str, ...]
    between: tuple[str, ...]
    after: tuple[str, ...]
    span: tuple[int, int]


@dataclass(frozen=True)
class Example:
    """A story and two people of it.

    text: names stand in square brackets.  people: their names, in the order of the text.  asked: two positions among
    them; the second is the relation of the first: of a mother and her son, the son.
    relation: of RELATIONS; "" if unknown.  facts: how many facts of the story lead to it; 0 if unknown.
    """

    text: str
    asked: tuple[str, str]
    relation: str = ""
    facts: int = 0
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"story", "query": [name, name], "relation"}`, or from a prepared row `{"words", "names", "query":
        [place, place], "label", "chain"}` whose words name the people as `@0`, `@1`, …

        Raises DataError that names the field.
        """
        query, prepared = row.get("query"), "words" in row
        if not isinstance(query, list) or len(query) != 2:
            raise DataError(f"{where}: field 'query' must be a list of two people, got {query!r:.40}")
        relation = row.get("label" if prepared else "relation", "")
        if relation and relation not in RELATIONS:
            raise DataError(f"{where}: unknown relation {relation!r:.40}; {choices(str(relation), RELATIONS)}")
        chain = row.get("chain") or []
        if prepared:
            names = _names(row, where)
            text = " ".join(_PERSON.sub(lambda match: f"[{names[int(match[1])]}]", word) for word in row["words"])
            one, two = (names[place] for place in query)
        else:
            text, (one, two) = field(row, "story", where), map(str, query)
        return cls(text, (one, two), relation, len(chain), str(row.get("id", "")))

    @property
    def people(self) -> tuple[str, ...]:
        """The names of a story, each once, in the order of the text."""
        return tuple(dict.fromkeys(match[1] for match in _NAME.finditer(self.text)))

    @property
    def label(self) -> int | None:
        """The number of the relation; None if unknown."""
        return RELATIONS.index(self.relation) if self.relation else None

    def links(self) -> Iterator[Link]:
        """One for each two names of different people that follow one another."""
        places = {name: i for i, name in enumerate(self.people)}
        names = list(_NAME.finditer(self.text))
        ends = [0, *(match.end() for match in names)]
        starts = [*(match.start() for match in names), len(self.text)]
        parts = [tuple(_WORD.findall(self.text[end:start].lower())) for end, start in zip(ends, starts)]
        for i, (one, two) in enumerate(zip(names, names[1:])):
            if one[1] != two[1]:
                span = one.start() + 1, two.end() - 1
                yield Link(places[one[1]], places[two[1]], parts[i], parts[i + 1], parts[i + 2], span)

    def check(self) -> None:
        """Raises InputError for a story with too few or too many people, or one who is asked for and is not in it."""
        people = self.people
        if not 2 <= len(people) <= MOST_PEOPLE:
            raise InputError(f"The story names {len(people)} people in [brackets]: from 2 to {MOST_PEOPLE} are read.")
        for name in self.asked:
            if name not in people:
                raise InputError(f"{name!r:.40} is not in the story; its people are {', '.join(people)}.")
        if len(list(self.links())) > MOST_LINKS:
            raise InputError(f"The story is too long: at most {MOST_LINKS} pairs of neighbouring names are read.")


def _names(row: Mapping[str, Any], where: str) -> list[str]:
    """The names of a prepared row; letters where it has none."""
    names, words, query = row.get("names"), row["words"], row["query"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(f"{where}: field 'words' must be a list of words, got {words!r:.40}")
    places = [int(match[1]) for word in words for match in _PERSON.finditer(word)]
    if not all(type(place) is int and place in places for place in query):
        raise DataError(f"{where}: field 'query' must name two people of the story, got {query!r:.40}")
    if not isinstance(names, list) or len(set(names)) <= max(places):
        return [f"Person {place}" for place in range(max(places) + 1)]
    return [str(name).capitalize() for name in names]
