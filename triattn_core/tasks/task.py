"""The protocol of a task (a module with these names), and the forms of its input.

Pages, training, mining and case cards depend on a task's FORM, never on its name: to add a task with a form defined
here, write a file and a line in the table of `triattn_core.tasks`.  `tests/contracts/test_tasks.py` checks every task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from triattn_core.tasks.rankings import ChoiceWords
    from triattn_core.text.roles import Limits
    from triattn_core.text.tokenizer import Tokenizer


class InputForm(Enum):
    """The texts that you enter for an example; decides which form a page shows."""

    PAIR = "two sentences, judged together"
    SENTENCES = "one or two sentences, each encoded on its own"
    CANDIDATES = "turns of a dialogue and candidates for the next one"
    OPTIONS = "a passage, a question and options"
    WORDS = "a sentence and one of its words, whose words are each tagged"
    TRANSLATION = "a sentence to translate"
    PASSAGE = "a passage and a question, whose answer is a span"

    @property
    def chooses(self) -> bool:
        """Whether the answer is one of several texts; the task is then a `ChoiceTask`."""
        return self in (InputForm.CANDIDATES, InputForm.OPTIONS)

    @property
    def joint(self) -> bool:
        """Whether query, key and context are parts of one joint sequence; otherwise the task is an `EncodedTask`."""
        return self.chooses or self is InputForm.PAIR


class Example(Protocol):
    """One example: a frozen dataclass of texts.  label: the right answer, None if unknown.  id: kind and number."""

    label: Any
    id: str

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """The example of a row of the task's file format.  Raises DataError that names the field."""

    def check(self) -> None:
        """Raises InputError, in one line, if a text is not valid."""


@runtime_checkable
class Task(Protocol):
    """The names that every task module has; `TASKS[name]` is one.

    NAME: in configs, files and on the command line.  LABEL: on pages and in their URLs.  KINDS: names of the kinds of
    checkpoint (`triattn_core.kinds`) that are trained on it.  OUTPUTS: number of model
    outputs for an example, or for each of its options; None if a checkpoint's labels decide it.  LANGUAGES: languages
    with examples of the project.
    """

    NAME: str
    LABEL: str
    FORM: InputForm
    KINDS: tuple[str, ...]
    OUTPUTS: int | None
    LANGUAGES: tuple[str, ...]
    Example: type[Example]

    def read(self, path: Path, training: bool = False) -> Iterator[Any]:
        """The examples of a file; `training` skips rows that must not be trained on.  Raises DataError with file and
        line."""

    def from_file(self, row: dict, where: str) -> Any:
        """The example of a data set row, with Treebank spacing removed.  Raises DataError that names the field."""

    def roles(self, batch: Sequence[Any], tokenizer: Tokenizer, limits: Limits) -> list[tuple]:
        """For each example, one `Roles` per option, or one `Texts` per window.  Raises InputError if a text has no
        token."""

    def examples(self, language: str = "en") -> tuple:
        """Examples written for this project; English ones for languages without their own."""

    def texts(self, example: Any, option: int = 0) -> dict[str, str]:
        """The example's texts by name; tokens refer to these names."""

    def labels(self, example: Any) -> tuple[str, ...]:
        """Names of the probabilities; empty if they depend on the checkpoint or the text."""

    def verdict(self, example: Any, answer: Sequence) -> tuple:
        """A tuple that begins with whether the answer (probabilities, or spans) is right, for `metrics`."""

    def metrics(self, verdicts: Sequence[tuple]) -> dict[str, float]:
        """Scores, in per cent, from the verdicts of a file."""

    def baseline(self, examples: Iterable[Any]) -> dict[str, float]:
        """A score, in per cent, without a model, such as chance."""

    def row(self, example: Any) -> dict:
        """The example as a row of its file format: `Example.from_row` reads it back."""


@runtime_checkable
class FileScoreTask(Task, Protocol):
    """A task whose SCORE, one of its `metrics`, is no mean over rows: it follows from `counts` summed over a file."""

    SCORE: str

    def counts(self, verdict: tuple) -> tuple[int, ...]:
        """What the score is made of, of one row."""

    def score(self, sums: Sequence[float]) -> float:
        """The score, in per cent, from sums of `counts`."""


class PairTask(Task, Protocol):
    """A task of InputForm.PAIR: its examples have `text_a` and `text_b`, its probabilities are those of LABELS."""

    LABELS: tuple[str, ...]


class WrittenTask(Task, Protocol):
    """A task whose examples are entered in several input fields."""

    def parts(self, example: Any) -> dict[str, str]:
        """The contents of the input fields for an example, by name."""

    def from_parts(self, parts: Mapping[str, str]) -> Any:
        """The example with these contents of the input fields."""

    def title(self, example: Any) -> tuple[str, str]:
        """The question or last turn, and the length of the text before it."""


@runtime_checkable
class ChoiceTask(WrittenTask, Protocol):
    """A task that chooses among texts; WORDS: its words on pages and in messages."""

    WORDS: ChoiceWords

    def options(self, example: Any) -> tuple[str, ...]:
        """The texts to choose from."""


class EncodedTask(Task, Protocol):
    """A task whose texts are encoded separately; TEXTS: their names, with their names in notes."""

    TEXTS: Mapping[str, str]
