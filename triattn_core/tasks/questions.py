"""Question answering: which words of a passage answer a question?  Long passages are read in overlapping windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import classes
from triattn_core.tasks.answer_match import exact, f1
from triattn_core.tasks.squad_file import is_squad, squad_rows
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits, Role, tokens_notes
from triattn_core.text.row_fields import field
from triattn_core.text.rows import matches, read_json_lines
from triattn_core.text.texts import Texts, text_role
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.text.windows import windows, with_word_cells

NAME, LABEL, FORM = "questions", "Questions", InputForm.PASSAGE
KINDS = ("reader",)
TEXTS = {"passage": "The passage", "question": "The question"}  # see `sentences`
PARTS = {"passage": "Passage", "question": "Question"}  # see `rankings.ChoiceWords`
OUTPUTS = 2  # scores of a word: as start and as end of the answer
LANGUAGES = ("en",)
MOST = 200_000  # tokens of a passage
Span = tuple[int, int]  # of characters


@dataclass(frozen=True)
class Example:
    """A passage, a question, and its answers (text, character offset into the passage), none if unknown."""

    passage: str
    question: str
    answers: tuple[tuple[str, int], ...] = ()
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"context", "question", "answers"?, "id"?}` with answers [{"text", "answer_start"}]; `passage`, as in
        other tasks, is accepted for `context`, and answers may be {"text": [], "answer_start": []}.

        Raises DataError that names the field, also if an answer is not at its offset in the passage.
        """
        passage, question = field(row, _context(row), where), field(row, "question", where)
        answers = _answer_list(row.get("answers", []))
        if not isinstance(answers, list):
            raise DataError(f"{where}: field 'answers' must be a list, got {answers!r:.40}")
        return cls(
            passage, question, tuple(_answer(answer, passage, where) for answer in answers), str(row.get("id", ""))
        )

    @property
    def label(self) -> int | None:
        """0 if there are answers to score against, otherwise None."""
        return 0 if self.answers else None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Character spans of the answers in the passage."""
        return tuple((start, start + len(text)) for text, start in self.answers)

    def check(self) -> None:
        """Raises InputError if passage or question has no visible character."""
        classes.check({"The passage": self.passage, "The question": self.question})


def _answer_list(answers: object) -> object:
    """The answers one by one, also where texts and places are two lists, as Hugging Face has SQuAD."""
    if not isinstance(answers, Mapping):
        return answers
    texts, starts = answers.get("text"), answers.get("answer_start")
    if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
        return answers
    return [{"text": text, "answer_start": start} for text, start in zip(texts, starts)]


def _context(row: Mapping) -> str:
    return "passage" if "passage" in row and "context" not in row else "context"


def _answer(answer: object, passage: str, where: str) -> tuple[str, int]:
    text, start = (answer.get("text"), answer.get("answer_start")) if isinstance(answer, Mapping) else (None, None)
    if not isinstance(text, str) or not text.strip() or type(start) is not int:
        raise DataError(f'{where}: an answer must be {{"text": …, "answer_start": …}}, got {answer!r:.60}')
    if start < 0 or passage[start : start + len(text)] != text:
        actual = passage[max(0, start) : max(0, start) + len(text)]
        raise DataError(f"{where}: answer {text!r:.60} is not at character {start} of the passage, {actual!r:.60} is")
    return text, start


from_file = Example.from_row


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file, or of an official SQuAD `.json`, plain or .gz; `training` skips rows marked
    `dup`.

    where: keep only rows whose fields have these values.  Raises DataError that names the line, or the record.
    """
    for place, row in _rows(path):
        if matches(row, where or {}) and not (training and row.get("dup")):
            yield Example.from_row(row, place)


def _rows(path: Path) -> Iterator[tuple[str, dict]]:
    return squad_rows(path) if is_squad(path) else read_json_lines(path)


def locate_error(path: Path, example: Example, error: InputError) -> DataError:
    """The error with an example, prefixed with the line or record of the file that it was read from."""
    place = next(place for place, row in _rows(path) if Example.from_row(row, place) == example)
    return DataError(f"{place}: {error}")


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts, ...]]:
    """The windows of each passage, each with the question; every word is a cell.

    Windows and questions have at most `limits.tokens` tokens.  Raises InputError if a text has no token.
    """
    distinct = list(dict.fromkeys(example.passage for example in batch))
    passages = dict(zip(distinct, tokenizer.encode(distinct, MOST)))
    parts = {text: _windows(text, tokens, tokenizer, limits) for text, tokens in passages.items()}
    questions = tokenizer.encode([example.question for example in batch], limits.tokens)
    rows = []
    for example, tokens in zip(batch, questions):
        question = with_word_cells(
            text_role("question", TEXTS["question"], example.question, tokens, tokenizer), limits.tokens
        )
        question_notes = tokens_notes(TEXTS["question"], example.question, tokens, tokenizer)
        passage_windows, notes = parts[example.passage]
        rows.append(
            tuple(
                Texts({"passage": window, "question": question}, (*notes, *question_notes))
                for window in passage_windows
            )
        )
    return rows


def _windows(text: str, tokens, tokenizer: Tokenizer, limits: Limits) -> tuple[list[Role], list[str]]:
    """The windows of a passage, and notes on them."""
    passage = with_word_cells(text_role("passage", TEXTS["passage"], text, tokens, tokenizer), limits.tokens)
    passage_windows, notes = windows(passage, limits.tokens), tokens_notes(TEXTS["passage"], text, tokens, tokenizer)
    if len(passage_windows) > 1:
        notes.append(
            f"The passage has {len(passage.runs):,} words: it was read in {len(passage_windows)} windows of at most "
            f"{limits.tokens} tokens, which overlap by a quarter, and the best answers of all are taken."
        )
    return passage_windows, notes


def cells(passage: Role, span: Span) -> tuple[int, int] | None:
    """(first word, last word) of an answer in a window; None if the window does not contain all of it."""
    word_spans = [(passage.spans[first][0], passage.spans[last - 1][1]) for first, last in passage.runs]
    covered = [i for i, (start, end) in enumerate(word_spans) if start < span[1] and end > span[0]]
    if (
        not covered
        or (word_spans[covered[0]][0] > span[0] and covered[0] == 0)
        or (word_spans[covered[-1]][1] < span[1] and covered[-1] == len(word_spans) - 1)
    ):
        return None
    return covered[0], covered[-1]


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Passages with questions written for this project, the paper's sentence first; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("questions.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name."""
    return {"passage": example.passage, "question": example.question}


def parts(example: Example) -> dict[str, str]:
    """The contents of the input fields for an example, by the names of PARTS."""
    return {name: getattr(example, name) for name in PARTS}


def from_parts(parts: Mapping[str, str]) -> Example:
    """The example with these contents of the input fields; not stripped, because answers are offsets."""
    return Example(parts["passage"], parts["question"])


def title(example: Example) -> tuple[str, str]:
    """The question, and the length of the passage."""
    return example.question, f"({len(example.passage.split())} words)"


def labels(example: Example) -> tuple[str, ...]:
    """Empty: the answers are spans, and differ for each prediction."""
    return ()


def verdict(example: Example, answer: Sequence) -> tuple[bool, float]:
    """(exact match, F1) of the first span of an answer, against the best-matching gold answer."""
    span_text = example.passage[answer[0].start : answer[0].end]
    return any(exact(span_text, text) for text, _ in example.answers), max(
        f1(span_text, text) for text, _ in example.answers
    )


def metrics(verdicts: Sequence[tuple[bool, float]]) -> dict[str, float]:
    """Exact match and F1 in per cent."""
    return {name: round(100 * fmean(column), 2) for name, column in zip(("em", "f1"), zip(*verdicts))}


def baseline(examples: Iterable[Example], longest: int = 20) -> dict[str, float]:
    """`chance`: the exact match, in per cent, of choosing at random among all spans of at most `longest` words."""
    shares = []
    for example in examples:
        n = len(example.passage.split())
        longest_span = min(n, longest)
        shares.append(
            min(1.0, len(set(example.spans)) / max(1, longest_span * n - longest_span * (longest_span - 1) // 2))
        )
    return {"chance": round(100 * fmean(shares), 2)}


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    answers = [{"text": text, "answer_start": start} for text, start in example.answers]
    return {"context": example.passage, "question": example.question, "answers": answers}
