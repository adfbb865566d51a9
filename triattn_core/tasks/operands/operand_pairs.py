"""Which two numbers make this one?  A number, the numbers of a problem in words, and the pair that it is made of.

Truth comes from the annotated steps of GSM8K; it is a task derived from that set, not its own metric, which asks for
the last answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from triattn_core.errors import DataError
from triattn_core.tasks.operands.example import Example, Pair, pairs, place_of
from triattn_core.tasks.operands.gsm8k import MOST, OPERATIONS, steps
from triattn_core.tasks.operands.typed_problem import show, typed_numbers
from triattn_core.text.roles import Limits, Role, Roles
from triattn_core.text.row_fields import field
from triattn_core.text.rows import read_json_lines
from triattn_core.trace.site import Site

NAME, LABEL = "operands", "Word problems"
LANGUAGES = ("en",)
OUTPUTS = MOST * (MOST - 1) // 2
OPERATION_NAMES = {"+": "sum", "-": "difference", "*": "product", "/": "quotient"}
from_file = Example.from_row


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of GSM8K's own file (`question`, `answer`), or of a JSON Lines file of rows as of `from_row`.

    An id is the line, from 0, and the number of the step.  Raises DataError that names the line, or where no problem
    has an annotated step.
    """
    problems, found = 0, 0
    for line, (where, row) in enumerate(read_json_lines(path)):
        if "question" not in row:
            yield Example.from_row(row, where)
            continue
        problems += 1
        for number, step in steps(field(row, "question", where), field(row, "answer", where), where):
            found += 1
            yield Example(step.text, step.numbers, step.result, step.operation, step.truth, f"{line}.{number}")
    if problems and not found:
        raise DataError(f"{path.name}: no answer has an annotated step of two numbers, such as <<3*24=72>>")


@dataclass(frozen=True)
class OperandRoles(Roles):
    """The number that is made as query, the numbers of the problem as keys and as context; `example` has the rest."""

    example: Example | None = None

    @property
    def length(self) -> int:
        """How many numbers there are: what a row of a batch costs."""
        return len(self.key)

    def axes(self, site: Site) -> dict[str, Role]:
        """Whose numbers stand along the axes of a site."""
        return {"query": self.query, "key": self.key, "context": self.context}


def roles(batch: Sequence[Example], tokenizer: object, limits: Limits) -> list[tuple[OperandRoles]]:
    """Query, key and context of each example.  Raises InputError as `Example.check`."""
    rows = []
    for example in batch:
        example.check()
        text, spans = _text_and_spans(example)
        made = _role("number", [show(example.result)], [(0, len(show(example.result)))], ["number"])
        strings = [text[start:end] for start, end in spans]
        numbers = _role("problem", strings, spans, [number.kind for number in example.numbers])
        rows.append((OperandRoles(made, numbers, numbers, example=example),))
    return rows


def _role(name: str, strings: Sequence[str], spans: Sequence[Pair], segments: Sequence[str]) -> Role:
    size = len(strings)
    columns = (name,) * size, tuple(spans), (False,) * size, tuple(range(size)), (0,) * size, tuple(segments)
    return Role((0,) * size, tuple(strings), *columns)


def _text_and_spans(example: Example) -> tuple[str, list[Pair]]:
    """The problem and the place of each number in it; of a prepared row its numbers in their words, one a line."""
    if example.text:
        return example.text, [number.span for number in example.numbers]
    lines, spans, end = [], [], 0
    for number in example.numbers:
        words = ["\N{HORIZONTAL ELLIPSIS}", *number.words]
        place = words.index("#")
        start = end + sum(len(word) + 1 for word in words[:place])
        words[place] = show(number.value)
        spans.append((start, start + len(words[place])))
        lines.append(" ".join(words))
        end += len(lines[-1]) + 1
    return "\n".join(lines), spans


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by the names that tokens carry."""
    return {"number": show(example.result), "problem": _text_and_spans(example)[0]}


def labels(example: Example) -> tuple[str, ...]:
    """The pairs that the probabilities belong to."""
    values = [show(number.value) for number in example.numbers]
    return tuple(f"{values[i]} and {values[j]}" for i, j in pairs(len(values)))


Verdict = tuple[bool, bool, float, bool, str, bool | None]


def verdict(example: Example, probabilities: Sequence[float]) -> Verdict:
    """(right pair, the pair fits by arithmetic, probability of the true pairs, only true pairs fit, operation, whether
    that was read rightly; None if it was not read).

    probabilities: of the pairs, then of the operations if the model reads them.
    """
    places = pairs(len(example.numbers))
    best = max(range(len(places)), key=probabilities.__getitem__)
    operations = probabilities[len(places) :]
    read = OPERATIONS[max(range(len(operations)), key=operations.__getitem__)] if operations else None
    weight = sum(probabilities[place_of(pair)] for pair in example.truth)
    only = set(example.fitting) <= set(example.truth)
    right, fits = places[best] in example.truth, places[best] in example.fitting
    return right, fits, weight, only, example.operation, None if read is None else read == example.operation


def metrics(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """In per cent: right pairs, pairs that fit, weight on the right pairs; right pairs where one pair fits, where words
    must decide, and by operation; operations that were read rightly, if they were read."""
    right, fits, weight, only, _, read = (list(column) for column in zip(*verdicts))
    parts = {"one_fits": [one for one, *_ in _rows_with(verdicts, 3, True)]}
    parts["words_decide"] = [one for one, *_ in _rows_with(verdicts, 3, False)]
    parts |= {name: [one for one, *_ in _rows_with(verdicts, 4, sign)] for sign, name in OPERATION_NAMES.items()}
    whole = {"right_pair": right, "fits": fits, "weight": weight}
    shares = whole | {f"right_{name}": column for name, column in parts.items() if column}
    if None not in read:
        shares["operation"] = read
    return {name: round(100 * fmean(column), 2) for name, column in shares.items()}


def _rows_with(verdicts: Sequence[Verdict], place: int, value: object) -> list[tuple]:
    return [one for one in verdicts if one[place] == value]


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """In per cent: `chance`, of any pair; `even_fit`, picking evenly among the pairs that fit by arithmetic."""
    rows = [(len(example.truth), len(pairs(len(example.numbers))), len(example.fitting)) for example in examples]
    shares = {"chance": [true / all_ for true, all_, _ in rows], "even_fit": [true / fit for true, _, fit in rows]}
    return {name: round(100 * fmean(column), 2) for name, column in shares.items()}


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Problems written for this project."""
    return tuple(read(Path(__file__).with_name("operands.en.jsonl")))


def row(example: Example) -> dict:
    """The example as a row: a problem with steps is written as its numbers and the words around each."""
    truth = [list(pair) for pair in example.truth]
    if example.numbers == tuple(typed_numbers(example.text)):
        return {"problem": example.text, "makes": example.result, "op": example.operation, "truth": truth}
    numbers = {name: [getattr(number, name) for number in example.numbers] for name in ("value", "kind", "words")}
    return {
        "numbers": numbers["value"],
        "kinds": numbers["kind"],
        "ctx": [list(words) for words in numbers["words"]],
        "result": example.result,
        "op": example.operation,
        "gold": truth,
    }
