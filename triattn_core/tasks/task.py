"""What a task is: a module with these names, and the form in which its texts go in.

Pages, training, mining and cards ask a task for its FORM, never for its name: a task of a form that is known here is a
file and a line in the table of `triattn_core.tasks`.  `tests/contracts/test_tasks.py` holds every task to this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from triattn_core.tasks.rankings import Words
    from triattn_core.text.roles import Limits
    from triattn_core.text.tokenizer import Tokenizer


class InputForm(Enum):
    """What a reader types for an example, and so which form a page shows."""

    PAIR = "two sentences, judged together"
    SENTENCES = "one or two sentences, each encoded on its own"
    CANDIDATES = "turns of a dialogue and candidates for the next one"
    OPTIONS = "a passage, a question and options"
    PASSAGE = "a passage and a question, whose answer is a span"

    @property
    def chooses(self) -> bool:
        """Whether one of several texts is the answer: then the task is a `ChoiceTask`."""
        return self in (InputForm.CANDIDATES, InputForm.OPTIONS)

    @property
    def joint(self) -> bool:
        """Whether query, key and context are cut from one joint sequence; else it is an `EncodedTask`."""
        return self.chooses or self is InputForm.PAIR


class Example(Protocol):
    """One example: a frozen dataclass of texts.  label: what is right, None where nobody has said.  id: kind and
    number."""

    label: Any
    id: str

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """The example of a row of the task's file format.  Raises DataError naming the field."""

    def check(self) -> None:
        """Raises InputError in one line where a text cannot be read."""


class Task(Protocol):
    """What every task has.  A module is one: `TASKS[name]`.

    NAME: in configs, files and on the command line.  LABEL: on pages and in their URLs.  OUTPUTS: numbers that a model
    gives an example, or each of its options; None where a checkpoint's own labels say it.  LANGUAGES: that have
    examples of the project's own.
    """

    NAME: str
    LABEL: str
    FORM: InputForm
    OUTPUTS: int | None
    LANGUAGES: tuple[str, ...]
    Example: type[Example]

    def read(self, path: Path, training: bool = False) -> Iterator[Any]:
        """The examples of a file; with `training` without rows that must not be trained on.  Raises DataError with
        file and line."""

    def from_file(self, row: dict, where: str) -> Any:
        """The example of a row of a data set, whose text may be spaced.  Raises DataError naming the field."""

    def roles(self, batch: Sequence[Any], tokenizer: Tokenizer, limits: Limits) -> list[tuple]:
        """For each example one `Roles` an option, or one `Texts` a window.  Raises InputError where a text has no token
        that can be read."""

    def examples(self, language: str = "en") -> tuple:
        """Examples written for this project; English ones for a language without its own."""

    def texts(self, example: Any, option: int = 0) -> dict[str, str]:
        """The example's texts by the names that tokens carry."""

    def labels(self, example: Any) -> tuple[str, ...]:
        """What the probabilities belong to; empty where a checkpoint or the text says it."""

    def verdict(self, example: Any, answer: Sequence) -> tuple:
        """Whether the answer (probabilities, or spans) is right, first, and what `metrics` needs besides."""

    def metrics(self, verdicts: Sequence[tuple]) -> dict[str, float]:
        """Scores in per cent of the verdicts of a file."""

    def baseline(self, examples: Iterable[Any]) -> dict[str, float]:
        """A score in per cent without a model, such as that of guessing."""

    def row(self, example: Any) -> dict:
        """The example as a row of its file format: `Example.from_row` reads it back."""


class PairTask(Task, Protocol):
    """Of InputForm.PAIR: its examples have `text_a` and `text_b`, and the probabilities belong to LABELS."""

    LABELS: tuple[str, ...]


class WrittenTask(Task, Protocol):
    """A task whose texts are written in a form of several fields."""

    def parts(self, example: Any) -> dict[str, str]:
        """The texts that are written for an example, by name."""

    def from_parts(self, parts: Mapping[str, str]) -> Any:
        """The example of such texts."""

    def title(self, example: Any) -> tuple[str, str]:
        """What is asked, and how long what comes before it is."""


class ChoiceTask(WrittenTask, Protocol):
    """A task that chooses among texts; WORDS: what people read about it."""

    WORDS: Words

    def options(self, example: Any) -> tuple[str, ...]:
        """The texts of which one is the answer."""


class EncodedTask(Task, Protocol):
    """A task whose texts are encoded each on its own; TEXTS: their names, and what a note calls each."""

    TEXTS: Mapping[str, str]
