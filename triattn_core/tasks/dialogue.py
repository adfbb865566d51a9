"""Dialogue: which response goes on with it?  Query and key are the last utterance and a candidate, context is all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import rankings
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits, Part, Roles, joint, outside, tokens_notes
from triattn_core.text.rows import field, number, read_json_lines, texts_field
from triattn_core.text.tokenizer import Tokenizer, Tokens

NAME, LABEL, FORM = "dialogue", "Dialogue", InputForm.CANDIDATES
OUTPUTS = 1  # a score a candidate
LANGUAGES = ("en",)
MOST = 100  # candidates
WORDS = rankings.Words(
    one="dialogue",
    axes=("Last turn", "candidate", "whole dialogue"),
    sides=("turn", "candidate"),
    right="true",
    texts="Dialogue",
    options="Candidate responses, ranked by probability",
    ways=("turns", "sentences", "tokens"),
    chat=True,
    parts={"turns": "Turns, one a line, the last one asks", "candidates": "Candidates, one a line"},
    lists=("turns", "candidates"),
)


@dataclass(frozen=True)
class Example:
    """Turns, oldest first, and candidates for the next one.

    label: the index of the true candidate; of a single candidate 1 where it is true and 0 where not; None where nobody
    has said.
    """

    history: tuple[str, ...]
    candidates: tuple[str, ...]
    label: int | None = None
    id: str = ""
    speakers: tuple[int, ...] = ()

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"history", "candidates", "label"?}` or `{"history", "response", "label"?}`; `speakers` of the turns,
        and of the response as `response_speaker`, may be given.  Raises DataError naming the field."""
        history = texts_field(row, "history", where)
        single = "response" in row
        candidates = (field(row, "response", where),) if single else texts_field(row, "candidates", where)
        label = number(row, "label", where, max(2, len(candidates)))
        speakers = row.get("speakers") or ()
        listed = isinstance(speakers, list | tuple) and all(type(one) is int for one in speakers)
        if not listed or speakers and len(speakers) != len(history):
            raise DataError(f"{where}: field 'speakers' must have a whole number for each turn, got {speakers!r:.40}")
        after = row.get("response_speaker")
        known = (*speakers, after) if speakers and type(after) is int else tuple(speakers)
        return cls(history, candidates, label, str(row.get("id", "")), known)

    def check(self) -> None:
        """Raises InputError where there is nothing to answer, or nothing to answer with."""
        if not any(turn.strip() for turn in self.history):
            raise InputError("The dialogue is empty: type at least one turn.")
        if not self.history[-1].strip():
            raise InputError("The last turn is empty: type at least one word.")
        rankings.check("Candidate", self.candidates, MOST)


def read(path: Path, training: bool = False) -> Iterator[Example]:
    """The examples of a JSON Lines file; with `training` without rows marked `dup`.  Raises DataError with the line."""
    for where, row in read_json_lines(path):
        if not (training and row.get("dup")):
            yield from_file(row, where)


from_file = Example.from_row


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Roles, ...]]:
    """For each candidate: last turn as query, candidate as key, `[CLS] turn [SEP] … candidate [SEP]` as context.

    Encoded apart, the context is the dialogue alone, and the candidate stands outside of it.
    The context has at most `limits.tokens` tokens: of a longer dialogue the oldest turns are left out, the same for all
    candidates.  Raises InputError where the last turn or a candidate has no token that can be read.
    """
    third = limits.tokens // 3
    encoded = iter(tokenizer.encode([text for one in batch for text in (*one.history, *one.candidates)], third))
    found = []
    for example in batch:
        turns = [next(encoded) for _ in example.history]
        candidates = [next(encoded) for _ in example.candidates]
        found.append(_roles(example, turns, candidates, tokenizer, limits))
    return found


def _roles(
    example: Example, turns: list[Tokens], candidates: list[Tokens], tokenizer: Tokenizer, limits: Limits
) -> tuple[Roles, ...]:
    if not turns[-1]:
        raise InputError("The last turn has no character that the model can read: type at least one word.")
    rankings.readable("Candidate", candidates)
    first = _first(turns, max(map(len, candidates)), limits)
    notes: list[str] = []
    if first:
        left_out = "Turn 1 is" if first == 1 else f"Turns 1 to {first} are"
        notes.append(f"{left_out} left out: the model reads the last {len(turns) - first} of {len(turns)} turns.")
    parts = []
    for i in range(first, len(turns)):
        notes += tokens_notes(f"Turn {i + 1}", example.history[i], turns[i], tokenizer)
        if turns[i]:
            parts.append(Part(f"turn.{i + 1}", example.history[i], turns[i], f"turn {i + 1}"))
    found = []
    for i, (text, tokens) in enumerate(zip(example.candidates, candidates)):
        response = Part("response", text, tokens, "response", 1)
        context = joint(parts if limits.apart else [*parts, response], tokenizer)
        key = outside(response, tokenizer) if limits.apart else context.take("response")
        told = tokens_notes(f"Candidate {i + 1}", text, tokens, tokenizer)
        query = context.take(parts[-1].name)
        found.append(rankings.filtered(query, key, context, limits, (*notes, *told), texts(example, i)))
    return tuple(found)


def _first(turns: Sequence[Tokens], longest: int, limits: Limits) -> int:
    """The oldest turn that still fits, beside the longest candidate and the special tokens, and has a cell."""
    room = limits.tokens - longest - 2
    most = (limits.cells[2] - 3) // 2 if limits.cells else len(turns)
    first = len(turns)
    while first and len(turns) - first < max(1, most) and len(turns[first - 1]) + 1 <= room:
        first -= 1
        room -= len(turns[first]) + 1
    return min(first, len(turns) - 1)


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Dialogues written for this project; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("dialogue.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's texts by the names that tokens carry, with one of its candidates."""
    turns = {f"turn.{i + 1}": turn for i, turn in enumerate(example.history)}
    return {**turns, "response": example.candidates[option]}


def parts(example: Example) -> dict[str, str]:
    """The texts that are written for an example, by the names of WORDS."""
    return {"turns": "\n".join(example.history), "candidates": "\n".join(example.candidates)}


def from_parts(parts: Mapping[str, str]) -> Example:
    """The example of such texts."""
    return Example(rankings.lines(parts["turns"]), rankings.lines(parts["candidates"]))


def options(example: Example) -> tuple[str, ...]:
    """The texts of which one is the answer."""
    return example.candidates


def title(example: Example) -> tuple[str, str]:
    """What is asked, and how long what comes before it is."""
    return example.history[-1], f"({len(example.history)} turns)"


def labels(example: Example) -> tuple[str, ...]:
    """What the probabilities belong to: the candidates; of a single one whether it goes on with the dialogue."""
    if len(example.candidates) == 1:
        return ("not the response", "the response")
    return tuple(f"candidate {i + 1}" for i in range(len(example.candidates)))


def verdict(example: Example, probabilities: Sequence[float]) -> tuple[bool, int, int]:
    """Whether the example is answered rightly, the rank of the true answer, and among how many."""
    rank = rankings.rank(probabilities, example.label)
    return rank == 1, rank, len(example.candidates)


def metrics(verdicts: Sequence[tuple[bool, int, int]]) -> dict[str, float]:
    """Recall of the true candidate among the first k of n, `R10@1` …, in per cent; accuracy of single responses."""
    sizes = {size for *_, size in verdicts}
    if sizes == {1}:
        return {"accuracy": rankings.share(rank == 1 for _, rank, _ in verdicts)}
    of = sizes.pop() if len(sizes) == 1 else "n"
    some = [k for k in (1, 2, 5) if of == "n" or k < of]
    return {f"R{of}@{k}": rankings.share(rank <= k for _, rank, _ in verdicts) for k in some}


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """How often a blind choice is right."""
    return rankings.chance(len(example.candidates) for example in examples)


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    found = list(example.candidates)
    of = {"response": found[0]} if len(found) == 1 else {"candidates": found}
    return {"history": list(example.history), **of, "label": example.label}
