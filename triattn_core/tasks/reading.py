"""Reading comprehension: which option answers the question?  Query and key are question and option; context is all
of the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_uppercase

from triattn_core.errors import InputError
from triattn_core.tasks import rankings
from triattn_core.tasks.task import InputForm
from triattn_core.text.excerpt import best_excerpt
from triattn_core.text.roles import Limits, Part, Roles, joint, role_outside_context, tokens_notes
from triattn_core.text.row_fields import field, number, texts_field
from triattn_core.text.rows import read_examples
from triattn_core.text.segmentation import merge_spans, sentences
from triattn_core.text.tokenizer import Tokenizer, Tokens

NAME, LABEL, FORM = "reading", "Reading comprehension", InputForm.OPTIONS
KINDS = ("tan",)
OUTPUTS = 1  # one score per option
LANGUAGES = ("en",)
MOST = 26  # options: A to Z
WORDS = rankings.ChoiceWords(
    noun="question",
    axes=("Question", "option", "all of the text"),
    sides=("question", "option"),
    right="right",
    texts="Passage and question",
    options="Options",
    units=("sentences", "tokens"),
    chat=False,
    parts={"passage": "Passage", "question": "Question", "options": "Options, one a line"},
    lists=("options",),
)
SPECIAL = 4  # [CLS] passage [SEP] question [SEP] option [SEP]
LONGEST = 50_000  # tokens of a passage that are searched for words of the question


@dataclass(frozen=True)
class Example:
    """A passage, a question about it and its options; `label` is the index of the right one, None if unknown.

    `level` is a group of examples with its own metric, such as RACE's "middle" and "high".
    """

    passage: str
    question: str
    options: tuple[str, ...]
    label: int | None = None
    id: str = ""
    level: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"passage", "question", "options", "answer"?, "level"?}`, or RACE's own: `article`, and a letter for
        the answer.  Raises DataError that names the field."""
        options = texts_field(row, "options", where)
        letter = row.get("answer")
        if isinstance(letter, str) and len(letter) == 1 and letter in ascii_uppercase[: len(options)]:
            row = {**row, "answer": ascii_uppercase.index(letter)}
        label = number(row, "answer", where, len(options))
        passage, question = field(row, "passage", where, "article"), field(row, "question", where)
        return cls(passage, question, options, label, str(row.get("id", "")), str(row.get("level", "")))

    def check(self) -> None:
        """Raises InputError if a text is empty, or there are fewer than two options."""
        for name, text in (("passage", self.passage), ("question", self.question)):
            if not text.strip():
                raise InputError(f"The {name} is empty: type at least one word.")
        rankings.check("Option", self.options, MOST)
        if len(self.options) < 2:
            raise InputError("One option is no choice: type at least two.")


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup`.  Raises DataError with the line."""
    return read_examples(path, from_file, training)


from_file = Example.from_row


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Roles, ...]]:
    """For each option: question as query, option as key, `[CLS] passage [SEP] question [SEP] option [SEP]` as context.

    If texts are encoded separately, the context is the passage without question and option.
    The context has at most `limits.tokens` tokens: of a longer passage, the run of sentences that shares most words
    with question and options, the same for all options (see `excerpt`).
    Raises InputError if a text has no token.
    """
    short = tokenizer.encode(
        [text for example in batch for text in (example.question, *example.options)], limits.tokens // 5
    )
    distinct = list(dict.fromkeys(example.passage for example in batch))
    passages = dict(zip(distinct, tokenizer.encode(distinct, LONGEST)))
    encoded = iter(short)
    rows = []
    for example in batch:
        question, *options = (next(encoded) for _ in range(1 + len(example.options)))
        rows.append(_roles(example, passages[example.passage], question, options, tokenizer, limits))
    return rows


def _roles(
    example: Example, passage: Tokens, question: Tokens, options: list[Tokens], tokenizer: Tokenizer, limits: Limits
) -> tuple[Roles, ...]:
    for name, tokens in (("passage", passage), ("question", question)):
        if not tokens:
            raise InputError(f"The {name} has no character that the model can read: type at least one word.")
    rankings.require_tokens("Option", options)
    room = limits.tokens - SPECIAL - len(question) - max(map(len, options))
    relevant_ids = {id_ for tokens in (question, *options) for id_ in tokens.ids}
    passage = best_excerpt(passage, example.passage, room, relevant_ids)
    passage_and_question = (
        Part("passage", example.passage, passage, _sentences(example.passage, passage, limits)),
        Part("question", example.question, question, "question", 1),
    )
    notes = tokens_notes("The passage", example.passage, passage, tokenizer)
    notes += tokens_notes("The question", example.question, question, tokenizer)
    rows = []
    for i, (text, tokens) in enumerate(zip(example.options, options)):
        option = Part("option", text, tokens, "option", 1)
        context = joint(passage_and_question[:1] if limits.apart else [*passage_and_question, option], tokenizer)
        query, key = (
            role_outside_context(part, tokenizer) if limits.apart else context.take(part.name)
            for part in (passage_and_question[1], option)
        )
        option_notes = tokens_notes(f"Option {chr(65 + i)}", text, tokens, tokenizer)
        rows.append(rankings.pool_roles(query, key, context, limits, (*notes, *option_notes), texts(example, i)))
    return tuple(rows)


def _sentences(text: str, tokens: Tokens, limits: Limits) -> list[str]:
    """The sentence of each token; neighbouring sentences are merged if there are more sentences than cells."""
    starts = [start for start, _ in tokens.spans]
    spans = [(i, span) for i, span in enumerate(sentences(text), 1) if starts[0] < span[1] and span[0] <= starts[-1]]
    spans = [(i, (a, b)) for i, (a, b) in spans if bisect_left(starts, a) < bisect_left(starts, b)]
    groups = merge_spans([span for _, span in spans], limits.cells[2] - SPECIAL - 2 if limits.cells else len(spans))
    numbers = [(spans[first][0], spans[last][0]) for first, last, _ in groups]
    names = [f"sentence {a}" if a == b else f"sentences {a}–{b}" for a, b in numbers]
    group_starts = [span[0] for *_, span in groups]
    return [names[max(0, bisect_right(group_starts, start) - 1)] for start in starts]


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Passages with questions written for this project; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("reading.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name, with one of its options."""
    return {"passage": example.passage, "question": example.question, "option": example.options[option]}


def parts(example: Example) -> dict[str, str]:
    """The contents of the input fields for an example, by the names of WORDS."""
    return {"passage": example.passage, "question": example.question, "options": "\n".join(example.options)}


def from_parts(parts: Mapping[str, str]) -> Example:
    """The example with these contents of the input fields."""
    return Example(parts["passage"].strip(), parts["question"].strip(), rankings.lines(parts["options"]))


def options(example: Example) -> tuple[str, ...]:
    """The texts to choose from."""
    return example.options


def title(example: Example) -> tuple[str, str]:
    """The question, and the length of the passage."""
    return example.question, f"({len(example.passage.split())} words)"


def labels(example: Example) -> tuple[str, ...]:
    """Names of the probabilities: the letters of the options."""
    return tuple(chr(65 + i) for i in range(len(example.options)))


def verdict(example: Example, probabilities: Sequence[float]) -> tuple[bool, str]:
    """(right, level of the example)."""
    return rankings.rank(probabilities, example.label) == 1, example.level


def metrics(verdicts: Sequence[tuple[bool, str]]) -> dict[str, float]:
    """Accuracy in per cent, over all examples and for each level."""
    levels = sorted({level for _, level in verdicts} - {""})
    by_level = {
        f"accuracy_{name}": rankings.share(right for right, level in verdicts if level == name) for name in levels
    }
    return {"accuracy": rankings.share(right for right, _ in verdicts), **by_level}


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """`chance`: the accuracy, in per cent, of random choice."""
    return rankings.chance(len(example.options) for example in examples)


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    fields = {"passage": example.passage, "question": example.question, "options": list(example.options)}
    return {**fields, "answer": example.label}
