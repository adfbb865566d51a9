"""Tokenization of texts for a Hugging Face model: its inputs, and the span, text and word of each token."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from triattn_core.errors import InputError

UNKNOWN = "unknown to this tokenizer"  # in a note


@dataclass(frozen=True)
class Tokens:
    """The string of each token, its text, its span in it, and whether it is special; notes for the user."""

    tokens: list[str]
    texts: list[str]
    spans: list[tuple[int, int]]
    special: list[int]
    notes: tuple[str, ...] = field(default=())


def texts_of(text: str, pair: str | None) -> dict[str, str]:
    """The texts by name, as tokens refer to them."""
    return {"text": text} if pair is None else {"a": text, "b": pair}


def encode(tokenizer: Any, text: str, pair: str | None, longest: int) -> tuple[Any, Tokens]:
    """The inputs of a model, a batch of one, and their tokens.  Raises InputError if there are none."""
    texts = list(texts_of(text, pair).items())
    if not any(content.strip() for _, content in texts):
        raise InputError("no text given; enter one")
    if not tokenizer.is_fast:
        raise InputError("this model's tokenizer gives no offsets: it needs a tokenizer.json (a fast tokenizer)")
    options = {"truncation": True, "max_length": longest, "return_tensors": "pt"}
    extra_outputs = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    num_tokens = len(tokenizer(text, pair, verbose=False)["input_ids"])
    inputs = tokenizer(text, pair, **options, **extra_outputs)
    encoding = inputs.encodings[0]
    if not encoding.ids:
        raise InputError("this tokenizer produces no tokens for this text; enter another")
    inputs.pop("offset_mapping")
    inputs.pop("special_tokens_mask")
    notes: tuple[str, ...] = (
        (f"Cut to {len(encoding.ids)} of {num_tokens:,} tokens.",) if num_tokens > len(encoding.ids) else ()
    )
    notes += _unknown_note(tokenizer.unk_token_id, encoding)
    tokens = Tokens([], [], [], [], notes)
    for i in range(len(encoding.ids)):
        _add(tokens, encoding, texts, i)
    return inputs, tokens


def _unknown_note(unknown: int | None, encoding: Any) -> tuple[str, ...]:
    """How many tokens of the text have the id `unknown`, if more than half of them do."""
    words = [token for token, special in zip(encoding.ids, encoding.special_tokens_mask) if not special]
    count = words.count(unknown)
    return (f"{count} of {len(words)} tokens are {UNKNOWN}.",) if 2 * count > len(words) else ()


def _add(tokens: Tokens, encoding: Any, texts: list[tuple[str, str]], i: int) -> None:
    """Append token i: a special one by its name; otherwise its characters, with ## if it continues a word."""
    text_index = encoding.sequence_ids[i]
    if text_index is None or encoding.special_tokens_mask[i]:
        tokens.tokens.append(encoding.tokens[i])
        tokens.texts.append("")
        tokens.spans.append((0, 0))
        tokens.special.append(1)
        return
    name, text = texts[text_index]
    start, end = encoding.offsets[i]
    while start < end and text[start].isspace():  # some tokenizers include the space before a word
        start += 1
    word = encoding.word_ids[i]
    continues = (
        bool(i) and word is not None and (text_index, word) == (encoding.sequence_ids[i - 1], encoding.word_ids[i - 1])
    )
    tokens.tokens.append("##" * continues + (text[start:end] or encoding.tokens[i]))
    tokens.texts.append(name)
    tokens.spans.append((start, end))
    tokens.special.append(0)


def token_coords(tokens: Tokens) -> dict:
    """The coordinates of query and key: see `axes.COORDINATES`."""
    segments = [name if name in ("", "text") else f"sentence {name.upper()}" for name in tokens.texts]
    columns = {
        "token": tokens.tokens,
        "text": tokens.texts,
        "start": [start for start, _ in tokens.spans],
        "end": [end for _, end in tokens.spans],
        "special": tokens.special,
        "segment": segments,
        "tokens": [1] * len(tokens.tokens),
    }
    return {f"{axis}_{name}": (axis, values) for axis in ("query", "key") for name, values in columns.items()}
