"""Question answering: which words of a passage answer a question?  A long passage is read in windows that overlap."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import classes
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits, Role, tokens_notes
from triattn_core.text.rows import field, read_json, read_json_lines, wanted
from triattn_core.text.texts import Texts, text_role
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.text.words import windows, words

NAME, LABEL, FORM = "questions", "Questions", InputForm.PASSAGE
TEXTS = {"passage": "The passage", "question": "The question"}  # see `sentences`
PARTS = {"passage": "Passage", "question": "Question"}  # see `rankings.Words`
OUTPUTS = 2  # scores of a word: that the answer starts, and that it ends there
LANGUAGES = ("en",)
MOST = 200_000  # tokens of a passage
ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = frozenset(string.punctuation)
Span = tuple[int, int]  # of characters


@dataclass(frozen=True)
class Example:
    """A passage, a question, and the answers (text, character offset into the passage); none where nobody knows."""

    passage: str
    question: str
    answers: tuple[tuple[str, int], ...] = ()
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"context", "question", "answers"?, "id"?}`, answers being [{"text", "answer_start"}]; the context may
        be called `passage`, as the other tasks call it.

        Raises DataError naming the field, also where an answer does not stand in the passage as it says.
        """
        passage, question = field(row, _context(row), where), field(row, "question", where)
        answers = row.get("answers", [])
        if not isinstance(answers, list):
            raise DataError(f"{where}: field 'answers' must be a list, got {answers!r:.40}")
        return cls(passage, question, tuple(_answer(one, passage, where) for one in answers), str(row.get("id", "")))

    @property
    def label(self) -> int | None:
        """Whether there is something to measure by: None where no answer is known."""
        return 0 if self.answers else None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where the answers stand in the passage."""
        return tuple((start, start + len(text)) for text, start in self.answers)

    def check(self) -> None:
        """Raises InputError where passage or question has no visible character."""
        classes.check({"The passage": self.passage, "The question": self.question})


def _context(row: Mapping) -> str:
    return "passage" if "passage" in row and "context" not in row else "context"


def _answer(one: object, passage: str, where: str) -> tuple[str, int]:
    text, start = (one.get("text"), one.get("answer_start")) if isinstance(one, Mapping) else (None, None)
    if not isinstance(text, str) or not text.strip() or type(start) is not int:
        raise DataError(f'{where}: an answer must be {{"text": …, "answer_start": …}}, got {one!r:.60}')
    if start < 0 or passage[start : start + len(text)] != text:
        found = passage[max(0, start) : max(0, start) + len(text)]
        raise DataError(f"{where}: answer {text!r:.60} is not at character {start} of the passage, {found!r:.60} is")
    return text, start


from_file = Example.from_row


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file, or of SQuAD's own `.json`, plain or .gz; with `training` without rows marked
    `dup`.

    where: only rows whose fields have these values.  Raises DataError that names the line, or the record.
    """
    for place, row in _rows(path):
        if wanted(row, where or {}) and not (training and row.get("dup")):
            yield Example.from_row(row, place)


def _rows(path: Path) -> Iterator[tuple[str, dict]]:
    return squad_rows(path) if squads(path) else read_json_lines(path)


def squads(path: Path | str) -> bool:
    """Whether a file is SQuAD's own, by its name."""
    return Path(path).name.endswith((".json", ".json.gz"))


def named(path: Path, example: Example, error: InputError) -> DataError:
    """What is wrong with an example, by the line, or the record, of the file that it was read from."""
    place = next(place for place, row in _rows(path) if Example.from_row(row, place) == example)
    return DataError(f"{place}: {error}")


def squad_rows(path: Path | str, content: bytes | None = None) -> Iterator[tuple[str, dict]]:
    """`(place, row)` of each question of an official file: {"data": [{"paragraphs": [{"context", "qas": […]}]}]}.

    content: of the file, where it is not on disk.  Raises DataError that names the record.
    """
    place = str(path)
    for a, article in enumerate(_list(read_json(path, content), "data", place)):
        for p, paragraph in enumerate(_list(article, "paragraphs", f"{place}: data[{a}]")):
            at = f"{place}: data[{a}].paragraphs[{p}]"
            for q, one in enumerate(_list(paragraph, "qas", at)):
                if not isinstance(one, Mapping):
                    raise DataError(f"{at}.qas[{q}]: must be an object, got {one!r:.40}")
                of = f"{at}.qas[{q}]" + (f" (id {one['id']})" if "id" in one else "")
                yield of, {"title": article.get("title", ""), "context": paragraph.get("context"), **one}


def _list(found: object, name: str, where: str) -> list:
    inner = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(inner, list):
        raise DataError(f"{where}: must be an object with the list {name!r}, got {found!r:.40}")
    return inner


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts, ...]]:
    """The windows of each passage, each with the question; every word of either is a cell.

    A window has at most `limits.tokens` tokens, and so has a question.  Raises InputError where a text has no token.
    """
    distinct = list(dict.fromkeys(one.passage for one in batch))
    passages = dict(zip(distinct, tokenizer.encode(distinct, MOST)))
    parts = {text: _windows(text, tokens, tokenizer, limits) for text, tokens in passages.items()}
    questions = tokenizer.encode([one.question for one in batch], limits.tokens)
    found = []
    for example, tokens in zip(batch, questions):
        question = words(text_role("question", TEXTS["question"], example.question, tokens, tokenizer), limits.tokens)
        said = tokens_notes(TEXTS["question"], example.question, tokens, tokenizer)
        seen, notes = parts[example.passage]
        found.append(tuple(Texts({"passage": one, "question": question}, (*notes, *said)) for one in seen))
    return found


def _windows(text: str, tokens, tokenizer: Tokenizer, limits: Limits) -> tuple[list[Role], list[str]]:
    """The windows of a passage, and what to say of them."""
    whole = words(text_role("passage", TEXTS["passage"], text, tokens, tokenizer), limits.tokens)
    found, notes = windows(whole, limits.tokens), tokens_notes(TEXTS["passage"], text, tokens, tokenizer)
    if len(found) > 1:
        notes.append(
            f"The passage has {len(whole.runs):,} words: it was read in {len(found)} windows of at most "
            f"{limits.tokens} tokens, which overlap by a quarter, and the best answers of all are taken."
        )
    return found, notes


def cells(passage: Role, span: Span) -> tuple[int, int] | None:
    """The first and the last word of a window that an answer stands on; None where the window has not all of it."""
    runs = [(passage.spans[first][0], passage.spans[last - 1][1]) for first, last in passage.runs]
    on = [i for i, (start, end) in enumerate(runs) if start < span[1] and end > span[0]]
    if not on or (runs[on[0]][0] > span[0] and on[0] == 0) or (runs[on[-1]][1] < span[1] and on[-1] == len(runs) - 1):
        return None
    return on[0], on[-1]


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Passages with questions written for this project, the paper's sentence first; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("questions.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by the names that tokens carry."""
    return {"passage": example.passage, "question": example.question}


def parts(example: Example) -> dict[str, str]:
    """The texts that are written for an example, by the names of PARTS."""
    return {name: getattr(example, name) for name in PARTS}


def from_parts(parts: Mapping[str, str]) -> Example:
    """The example of such texts: answers are offsets, so nothing is cut off."""
    return Example(**parts)


def title(example: Example) -> tuple[str, str]:
    """What is asked, and how long what comes before it is."""
    return example.question, f"({len(example.passage.split())} words)"


def labels(example: Example) -> tuple[str, ...]:
    """None: the answers are spans, which each prediction has of its own."""
    return ()


def normal(text: str) -> str:
    """As SQuAD compares answers: lower case, without ASCII punctuation, without articles, single spaces."""
    bare = "".join(char for char in text.lower() if char not in PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", bare).split())


def exact(said: str, known: str) -> bool:
    """Whether two answers are equal as SQuAD compares them."""
    return normal(said) == normal(known)


def f1(said: str, known: str) -> float:
    """The harmonic mean of precision and recall of the words of an answer, as SQuAD's version 1.1 takes it."""
    left, right = normal(said).split(), normal(known).split()
    same = sum((Counter(left) & Counter(right)).values())
    return 2 * same / (len(left) + len(right)) if same else 0.0


def verdict(example: Example, answer: Sequence) -> tuple[bool, float]:
    """Exact match and F1 of the first span of an answer, against the known answer that it fits best."""
    said = example.passage[answer[0].start : answer[0].end]
    return any(exact(said, text) for text, _ in example.answers), max(f1(said, text) for text, _ in example.answers)


def metrics(verdicts: Sequence[tuple[bool, float]]) -> dict[str, float]:
    """Exact match and F1 in per cent."""
    return {name: round(100 * fmean(column), 2) for name, column in zip(("em", "f1"), zip(*verdicts))}


def baseline(examples: Iterable[Example], longest: int = 20) -> dict[str, float]:
    """`chance`: the exact match in per cent of choosing blindly among all runs of at most `longest` words."""
    shares = []
    for one in examples:
        n = len(one.passage.split())
        most = min(n, longest)
        shares.append(min(1.0, len(set(one.spans)) / max(1, most * n - most * (most - 1) // 2)))
    return {"chance": round(100 * fmean(shares), 2)}


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    answers = [{"text": text, "answer_start": start} for text, start in example.answers]
    return {"context": example.passage, "question": example.question, "answers": answers}
