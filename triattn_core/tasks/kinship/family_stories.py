"""How are two people of a story related?  The two as query, neighbouring names with their words as key and context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from triattn_core.tasks.kinship.story import RELATIONS, Example
from triattn_core.text.roles import Limits, Role, Roles
from triattn_core.text.rows import read_json_lines
from triattn_core.trace.site import Site

NAME, LABEL = "kinship", "Family stories"
LANGUAGES = ("en",)
OUTPUTS = len(RELATIONS)
TRAINED = 3  # facts of the longest story that models are trained on
from_file = Example.from_row


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of a JSON Lines file of rows as of `from_row`.  Raises DataError that names the line."""
    for where, row in read_json_lines(path):
        yield Example.from_row(row, where)


@dataclass(frozen=True)
class StoryRoles(Roles):
    """The two people as query, the links as keys and as context; `example` has the rest."""

    example: Example | None = None

    @property
    def length(self) -> int:
        """How many links there are: what a row of a batch costs."""
        return len(self.key)

    def axes(self, site: Site) -> dict[str, Role]:
        """Whose tokens stand along the axes of a site."""
        if site.role == "triangle" and self.example is not None:  # of people, not of links
            people = self.example.people
            starts = [self.example.text.index(f"[{name}]") + 1 for name in people]
            row = _role("story", people, [(start, start + len(name)) for start, name in zip(starts, people)])
            return {"query": row, "key": row, "context": row}
        if site.role == "joint":  # one sequence, the two people first
            columns = (a + b for a, b in zip(_columns(self.query), _columns(self.key)))
            both = Role(*columns)
            return {"query": both, "key": both}
        return {"query": self.query, "key": self.key, "context": self.context}


def _columns(role: Role) -> tuple[tuple, ...]:
    return (
        role.ids, role.strings, role.texts, role.spans, role.special, role.positions, role.types, role.segments,
    )  # fmt: skip


def roles(batch: Sequence[Example], tokenizer: object, limits: Limits) -> list[tuple[StoryRoles]]:
    """Query, key and context of each example.  Raises InputError as `Example.check`."""
    rows = []
    for example in batch:
        example.check()
        links = list(example.links())
        asked = " and ".join(example.asked)
        query = _role("question", [asked], [(0, len(asked))])
        story = _role("story", [example.text[slice(*link.span)] for link in links], [link.span for link in links])
        rows.append((StoryRoles(query, story, story, example=example),))
    return rows


def _role(name: str, strings: Sequence[str], spans: Sequence[tuple[int, int]]) -> Role:
    size = len(strings)
    columns = (name,) * size, tuple(spans), (False,) * size, tuple(range(size)), (0,) * size, (name,) * size
    return Role((0,) * size, tuple(strings), *columns)


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by the names that tokens carry."""
    return {"question": " and ".join(example.asked), "story": example.text}


def labels(example: Example) -> tuple[str, ...]:
    """The relations."""
    return RELATIONS


def verdict(example: Example, probabilities: Sequence[float]) -> tuple[bool, int]:
    """(right relation, number of facts)."""
    return max(range(OUTPUTS), key=probabilities.__getitem__) == example.label, example.facts


def metrics(verdicts: Sequence[tuple[bool, int]]) -> dict[str, float]:
    """In per cent: right relations; those of stories with as many facts as in training, and with more."""
    parts = {
        "accuracy": [right for right, _ in verdicts],
        "accuracy_as_trained": [right for right, facts in verdicts if 0 < facts <= TRAINED],
        "accuracy_longer": [right for right, facts in verdicts if facts > TRAINED],
    }
    return {name: round(100 * fmean(column), 2) for name, column in parts.items() if column}


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """In per cent: the most frequent relation."""
    counts = Counter(example.relation for example in examples)
    return {"majority": round(100 * counts.most_common(1)[0][1] / counts.total(), 2)}


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Stories written for this project."""
    return tuple(read(Path(__file__).with_name("kinship.en.jsonl")))


def row(example: Example) -> dict:
    """The example as a row."""
    return {"story": example.text, "query": list(example.asked), "relation": example.relation}
