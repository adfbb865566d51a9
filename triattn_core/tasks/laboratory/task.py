"""What all laboratory tasks share: the generator, the truth of a row, and the protocol of all tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from math import prod
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from triattn_core.cached import cached_property
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.tasks.laboratory.example import (
    NAMES,
    ROLES,
    SEPARATOR,
    Cell,
    LaboratoryRoles,
    Vocabulary,
    node_role,
    role_of,
)
from triattn_core.tasks.laboratory.example import (
    Example as LaboratoryExample,
)
from triattn_core.text.roles import Limits, Roles
from triattn_core.text.rows import read_json_lines

if TYPE_CHECKING:
    import pandas as pd


class LaboratoryTask(ABC):
    """One task; the same protocol as the modules of `triattn_core.tasks`, and `generate`, `truth` and `answer`."""

    NAME: str
    LABEL: str
    LABELS: tuple[str, ...]
    LANGUAGES = ("en",)
    Example = LaboratoryExample
    ORDERED = False  # whether the order of keys and context tokens matters
    DISTINCT = False  # whether keys and context are the same tokens, and a pair of one with itself is no pair
    REPEATS = False  # whether a token may stand twice among the keys, or in the context, of a row
    MODULUS = 0  # of tasks on residues, whose tokens are numbers: for Fourier inputs
    SIZES: tuple[int, int] | None = None  # the smallest and the largest size, of tasks that have one
    # Of the examples, the one that the page opens on: Tri-Attention has it right and, but for the control, one layer
    # of joint Bi has not.
    OPENING_ROW = 0
    FIELDS: tuple[str, ...]  # names of its query, its keys and its context; of two, keys are read as context too
    TOKENS = NAMES  # what one token of its query, its keys and its context is called
    CHANCE = ""  # a sentence where a model that has learnt nothing is not at chance
    NODES: tuple[str, ...] = ()  # of tasks whose tokens are pairs: what they go from and to
    SIZE = ""  # what its size counts, of tasks that have one
    PROVED = ""  # of it, with the source, and
    OBSERVED = ""  # what is only observed of the models here: each a sentence without its first word
    size = 0

    def dictionary(self) -> pd.DataFrame | None:
        """What the words of a row mean, of tasks whose words mean something."""
        return None

    @abstractmethod
    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The query, keys and context of a new row."""

    @abstractmethod
    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The (key, context) cells that carry the answer, found anew from the tokens."""

    @abstractmethod
    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """The label of a row; None where its cells do not agree on one, or where there are none and that is no
        answer."""

    @abstractmethod
    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Every token the task knows: (role, text, words)."""

    @abstractmethod
    def say(self, example: LaboratoryExample) -> str:
        """The row in one or two sentences."""

    def ends(self, text: str) -> tuple[int, int]:
        """The places in NODES that a token goes from and to."""
        raise NotImplementedError

    def answer_cells(self, example: LaboratoryExample) -> tuple[Cell, ...]:
        """The cells of the truth to name: where a pair is true in both orders, one of them."""
        return example.truth

    def describe_cell(self, example: LaboratoryExample, cell: Cell) -> str:
        """A true cell in words, without what adds nothing to it."""
        return f"{example.keys[cell[0]]} with {example.context[cell[1]]}"

    def cells(self, shape: tuple[int, ...]) -> int:
        """How many of the weights of a shape, as of `analysis.truth.truth_mask`, can be more than zero."""
        size = prod(shape)
        return size - min(shape) if self.DISTINCT and len(shape) == 2 else size

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokens, numbered."""
        return Vocabulary.of(self.tokens(), self.TOKENS)

    @cache  # noqa: B019
    def at_size(self, size: int | None) -> LaboratoryTask:
        """The same task at another size; None for its own.  Raises ConfigError."""
        if size in (None, self.size):
            return self
        if self.SIZES is None or not self.SIZES[0] <= size <= self.SIZES[1]:
            can = f"from {self.SIZES[0]} to {self.SIZES[1]}" if self.SIZES else "its own alone"
            raise ConfigError(f"data.size {size}: {self.NAME} has sizes {can}")
        return self.with_size(size)

    def with_size(self, size: int) -> LaboratoryTask:
        """The task at a size within SIZES."""
        raise NotImplementedError

    @property
    def OUTPUTS(self) -> int:
        """How many answers there are."""
        return len(self.LABELS)

    def check_repeats(self, keys: Sequence[str], context: Sequence[str]) -> None:
        """Raises InputError naming a token that is listed twice, where no generated row has one."""
        for name, texts in zip(self.TOKENS[1:], () if self.REPEATS else (keys, context)):
            for i, text in enumerate(texts):
                if text in texts[:i]:
                    raise InputError(f"{name} {text!r} is listed twice: list each {name} once")

    def solve(self, query: str, keys: Sequence[str], context: Sequence[str], id: str = "") -> LaboratoryExample:
        """A row of given tokens with its truth and label.  Raises InputError for an unknown or repeated token."""
        for role, texts in zip(ROLES, ((query,), keys, context)):
            self.vocabulary.look_up(role, texts)
        self.check_repeats(keys, context)
        truth, label = self.truth(query, keys, context), self.answer(query, keys, context)
        return LaboratoryExample(query, tuple(keys), tuple(context), label, truth, id)

    def generate(self, seed: int | str, rows: int | None = None) -> Iterator[LaboratoryExample]:
        """Rows drawn from a seed, the same on every machine; without `rows`, for ever."""
        random = Random(f"{self.NAME}/{seed}")
        numbers = range(1, rows + 1) if rows is not None else iter(int, 1)
        for number_ in numbers:
            yield self.solve(*self.draw(random), id=f"{seed}-{number_}" if rows is not None else "")

    def read(self, path: Path, training: bool = False) -> Iterator[LaboratoryExample]:
        """The rows of a JSON Lines file. Raises DataError with file and line."""
        return (self.from_file(row, where) for where, row in read_json_lines(path))

    def from_file(self, row: dict, where: str) -> LaboratoryExample:
        """The example of a row of its file format.  Raises DataError."""
        example = LaboratoryExample.from_row(row, where)
        try:
            self.check_repeats(example.keys, example.context)
        except InputError as error:
            raise DataError(f"{where}: {error}") from None
        return example

    def roles(self, batch: Sequence[LaboratoryExample], vocabulary: Vocabulary, limits: Limits) -> list[tuple[Roles]]:
        """Query, keys and context as they stand.  Raises InputError for an unknown or repeated token."""
        roles: list[tuple[Roles]] = []
        for example in batch:
            example.check()
            self.check_repeats(example.keys, example.context)
            parts = zip(ROLES, ((example.query,), example.keys, example.context))
            query, key, context = (role_of(i, name, texts, vocabulary) for i, (name, texts) in enumerate(parts))
            roles.append((LaboratoryRoles(query, key, context, nodes=node_role(self.NODES)),))
        return roles

    def texts(self, example: LaboratoryExample, option: int = 0) -> dict[str, str]:
        """The example's texts by the names that tokens carry."""
        keys, context = SEPARATOR.join(example.keys), SEPARATOR.join(example.context)
        return {"query": example.query, "keys": keys, "context": context}

    def labels(self, example: LaboratoryExample) -> tuple[str, ...]:
        """What the probabilities belong to."""
        return self.LABELS

    def verdict(self, example: LaboratoryExample, probabilities: Sequence[float]) -> tuple[bool, int | None, int]:
        """Whether the example is answered rightly, its label, and the answer."""
        answer = max(range(len(probabilities)), key=probabilities.__getitem__)
        return answer == example.label, example.label, answer

    def metrics(self, verdicts: Sequence[tuple[bool, int | None, int]]) -> dict[str, float]:
        """Accuracy in per cent."""
        return {"accuracy": round(100 * sum(right for right, *_ in verdicts) / len(verdicts), 2)}

    def baseline(self, examples: Iterable[LaboratoryExample] = ()) -> dict[str, float]:
        """`chance`: the accuracy in per cent of guessing."""
        return {"chance": round(100 / len(self.LABELS), 2)}

    @cache  # noqa: B019
    def examples(self, language: str = "en") -> tuple[LaboratoryExample, ...]:
        """The first rows of seed 0."""
        return tuple(islice(self.generate(0, 16), 16))

    def row(self, example: LaboratoryExample) -> dict:
        """The example as a row of its file format."""
        lists = {"keys": list(example.keys), "context": list(example.context)}
        truth = [list(cell) for cell in example.truth]
        return {"query": example.query, **lists, "label": example.label, "truth": truth}
