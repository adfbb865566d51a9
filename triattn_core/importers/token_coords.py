"""Texts as the tokenizer of a model cuts them: its inputs, and for each token its span, text and word."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from triattn_core.errors import InputError


@dataclass(frozen=True)
class Tokens:
    """Of each token: what it is called, its text, its span there, whether it is special; notes for the reader."""

    tokens: list[str]
    texts: list[str]
    spans: list[tuple[int, int]]
    special: list[int]
    notes: tuple[str, ...] = field(default=())


def texts_of(text: str, pair: str | None) -> dict[str, str]:
    """The texts by the names that tokens carry."""
    return {"text": text} if pair is None else {"a": text, "b": pair}


def encode(tokenizer: Any, text: str, pair: str | None, longest: int) -> tuple[Any, Tokens]:
    """The inputs of a model, a batch of one, and their tokens.  Raises InputError where there are none."""
    texts = list(texts_of(text, pair).items())
    if not any(one.strip() for _, one in texts):
        raise InputError("expected a text, got none: write one")
    if not tokenizer.is_fast:
        raise InputError("this model's tokenizer gives no offsets: it needs a tokenizer.json (a fast tokenizer)")
    options = {"truncation": True, "max_length": longest, "return_tensors": "pt"}
    more = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    whole = len(tokenizer(text, pair, verbose=False)["input_ids"])
    inputs = tokenizer(text, pair, **options, **more)
    encoding = inputs.encodings[0]
    if not encoding.ids:
        raise InputError("this tokenizer makes no tokens of the text: write another")
    inputs.pop("offset_mapping")
    inputs.pop("special_tokens_mask")
    cut = (f"Cut to {len(encoding.ids)} of {whole:,} tokens.",) if whole > len(encoding.ids) else ()
    found = Tokens([], [], [], [], cut)
    for i in range(len(encoding.ids)):
        _add(found, encoding, texts, i)
    return inputs, found


def _add(found: Tokens, encoding: Any, texts: list[tuple[str, str]], i: int) -> None:
    """One token: a special one by its name; else its characters, with ## where it goes on a word."""
    of = encoding.sequence_ids[i]
    if of is None or encoding.special_tokens_mask[i]:
        found.tokens.append(encoding.tokens[i])
        found.texts.append("")
        found.spans.append((0, 0))
        found.special.append(1)
        return
    name, text = texts[of]
    start, end = encoding.offsets[i]
    while start < end and text[start].isspace():  # some tokenizers count the space before a word as its own
        start += 1
    word = encoding.word_ids[i]
    tied = bool(i) and word is not None and (of, word) == (encoding.sequence_ids[i - 1], encoding.word_ids[i - 1])
    found.tokens.append("##" * tied + (text[start:end] or encoding.tokens[i]))
    found.texts.append(name)
    found.spans.append((start, end))
    found.special.append(0)


def token_coords(found: Tokens) -> dict:
    """The coordinates of query and key: see `axes.COORDINATES`."""
    segments = [name if name in ("", "text") else f"sentence {name.upper()}" for name in found.texts]
    columns = {
        "token": found.tokens,
        "text": found.texts,
        "start": [start for start, _ in found.spans],
        "end": [end for _, end in found.spans],
        "special": found.special,
        "segment": segments,
        "tokens": [1] * len(found.tokens),
    }
    return {f"{axis}_{name}": (axis, values) for axis in ("query", "key") for name, values in columns.items()}
