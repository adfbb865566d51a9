"""Dialogue: which response comes next?  Query and key are the last turn and a candidate, context is the dialogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import rankings
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits, Part, Roles, joint, role_outside_context, tokens_notes
from triattn_core.text.row_fields import field, number, texts_field
from triattn_core.text.rows import read_examples
from triattn_core.text.tokenizer import Tokenizer, Tokens

NAME, LABEL, FORM = "dialogue", "Dialogue", InputForm.CANDIDATES
KINDS = ("tan",)
OUTPUTS = 1  # one score per candidate
LANGUAGES = ("en",)
MOST = 100  # candidates
WORDS = rankings.ChoiceWords(
    noun="dialogue",
    axes=("Last turn", "candidate", "whole dialogue"),
    sides=("turn", "candidate"),
    right="true",
    texts="Dialogue",
    options="Candidate responses, ranked by probability",
    units=("turns", "sentences", "tokens"),
    chat=True,
    parts={"turns": "Turns, one a line, the last one asks", "candidates": "Candidates, one a line"},
    lists=("turns", "candidates"),
)


@dataclass(frozen=True)
class Example:
    """Turns, oldest first, and candidates for the next one.

    label: the index of the true candidate; for a single candidate, 1 if it is true and 0 if not; None if unknown.
    """

    history: tuple[str, ...]
    candidates: tuple[str, ...]
    label: int | None = None
    id: str = ""
    speakers: tuple[int, ...] = ()

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"history", "candidates", "label"?}` or `{"history", "response", "label"?}`; optional are `speakers`
        of the turns and `response_speaker`.  Raises DataError that names the field."""
        history = texts_field(row, "history", where)
        single = "response" in row
        candidates = (field(row, "response", where),) if single else texts_field(row, "candidates", where)
        label = number(row, "label", where, max(2, len(candidates)))
        speakers = row.get("speakers") or ()
        valid = isinstance(speakers, list | tuple) and all(type(speaker) is int for speaker in speakers)
        if not valid or speakers and len(speakers) != len(history):
            raise DataError(f"{where}: field 'speakers' must have a whole number for each turn, got {speakers!r:.40}")
        responder = row.get("response_speaker")
        all_speakers = (*speakers, responder) if speakers and type(responder) is int else tuple(speakers)
        return cls(history, candidates, label, str(row.get("id", "")), all_speakers)

    def check(self) -> None:
        """Raises InputError if the dialogue, its last turn or a candidate is empty."""
        if not any(turn.strip() for turn in self.history):
            raise InputError("The dialogue is empty: type at least one turn.")
        if not self.history[-1].strip():
            raise InputError("The last turn is empty: type at least one word.")
        rankings.check("Candidate", self.candidates, MOST)


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup`.  Raises DataError with the line."""
    return read_examples(path, from_file, training)


from_file = Example.from_row


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Roles, ...]]:
    """For each candidate: last turn as query, candidate as key, `[CLS] turn [SEP] … candidate [SEP]` as context.

    If texts are encoded separately, the context is the dialogue without the candidate.
    The context has at most `limits.tokens` tokens: the oldest turns of a longer dialogue are dropped, the same for all
    candidates.  Raises InputError if the last turn or a candidate has no token.
    """
    third = limits.tokens // 3
    texts_ = [text for example in batch for text in (*example.history, *example.candidates)]
    encoded = iter(tokenizer.encode(texts_, third))
    rows = []
    for example in batch:
        turns = [next(encoded) for _ in example.history]
        candidates = [next(encoded) for _ in example.candidates]
        rows.append(_roles(example, turns, candidates, tokenizer, limits))
    return rows


def _roles(
    example: Example, turns: list[Tokens], candidates: list[Tokens], tokenizer: Tokenizer, limits: Limits
) -> tuple[Roles, ...]:
    if not turns[-1]:
        raise InputError("The last turn has no character that the model can read: type at least one word.")
    rankings.require_tokens("Candidate", candidates)
    first = _oldest_turn(turns, max(map(len, candidates)), limits)
    notes: list[str] = []
    if first:
        dropped = "Turn 1 is" if first == 1 else f"Turns 1 to {first} are"
        notes.append(f"{dropped} left out: the model reads the last {len(turns) - first} of {len(turns)} turns.")
    parts = []
    for i in range(first, len(turns)):
        notes += tokens_notes(f"Turn {i + 1}", example.history[i], turns[i], tokenizer)
        if turns[i]:
            parts.append(Part(f"turn.{i + 1}", example.history[i], turns[i], f"turn {i + 1}"))
    rows = []
    for i, (text, tokens) in enumerate(zip(example.candidates, candidates)):
        response = Part("response", text, tokens, "response", 1)
        context = joint(parts if limits.apart else [*parts, response], tokenizer)
        key = role_outside_context(response, tokenizer) if limits.apart else context.take("response")
        option_notes = tokens_notes(f"Candidate {i + 1}", text, tokens, tokenizer)
        query = context.take(parts[-1].name)
        rows.append(rankings.pool_roles(query, key, context, limits, (*notes, *option_notes), texts(example, i)))
    return tuple(rows)


def _oldest_turn(turns: Sequence[Tokens], longest: int, limits: Limits) -> int:
    """The index of the oldest turn that fits besides the longest candidate and special tokens, and gets a cell."""
    room = limits.tokens - longest - 2
    max_turns = (limits.cells[2] - 3) // 2 if limits.cells else len(turns)
    first = len(turns)
    while first and len(turns) - first < max(1, max_turns) and len(turns[first - 1]) + 1 <= room:
        first -= 1
        room -= len(turns[first]) + 1
    return min(first, len(turns) - 1)


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Dialogues written for this project; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("dialogue.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by name, with one of its candidates."""
    turns = {f"turn.{i + 1}": turn for i, turn in enumerate(example.history)}
    return {**turns, "response": example.candidates[option]}


def parts(example: Example) -> dict[str, str]:
    """The contents of the input fields for an example, by the names of WORDS."""
    return {"turns": "\n".join(example.history), "candidates": "\n".join(example.candidates)}


def from_parts(parts: Mapping[str, str]) -> Example:
    """The example with these contents of the input fields."""
    return Example(rankings.lines(parts["turns"]), rankings.lines(parts["candidates"]))


def options(example: Example) -> tuple[str, ...]:
    """The texts to choose from."""
    return example.candidates


def title(example: Example) -> tuple[str, str]:
    """The last turn, and the length of the dialogue."""
    return example.history[-1], f"({len(example.history)} turns)"


def labels(example: Example) -> tuple[str, ...]:
    """Names of the probabilities: the candidates, or whether a single one is the response."""
    if len(example.candidates) == 1:
        return ("not the response", "the response")
    return tuple(f"candidate {i + 1}" for i in range(len(example.candidates)))


def verdict(example: Example, probabilities: Sequence[float]) -> tuple[bool, int, int]:
    """(right, rank of the true answer, number of candidates)."""
    rank = rankings.rank(probabilities, example.label)
    return rank == 1, rank, len(example.candidates)


def metrics(verdicts: Sequence[tuple[bool, int, int]]) -> dict[str, float]:
    """Recall of the true candidate among the first k of n, `R10@1` …, in per cent; accuracy of single responses."""
    sizes = {size for *_, size in verdicts}
    if sizes == {1}:
        return {"accuracy": rankings.share(rank == 1 for _, rank, _ in verdicts)}
    size = sizes.pop() if len(sizes) == 1 else None
    cutoffs = [k for k in (1, 2, 5) if size is None or k < size]
    return {f"R{size or 'n'}@{k}": rankings.share(rank <= k for _, rank, _ in verdicts) for k in cutoffs}


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """`chance`: the accuracy, in per cent, of random choice."""
    return rankings.chance(len(example.candidates) for example in examples)


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    candidates = list(example.candidates)
    fields = {"response": candidates[0]} if len(candidates) == 1 else {"candidates": candidates}
    return {"history": list(example.history), **fields, "label": example.label}
