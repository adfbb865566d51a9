"""Tokenization of texts for a Hugging Face model: its inputs, and the span, text and word of each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from triattn_core.errors import InputError
from triattn_core.text.piece_text import piece_spans
from triattn_core.text.rows import HALF, is_text
from triattn_core.text.token_names import NO_WORD, name_tokens, special_flags, visible

UNKNOWN = "unknown to this tokenizer"  # in a note
NO_OFFSETS = "This tokenizer does not say where its tokens stand in the text, so they are shown apart from it."


@dataclass(frozen=True)
class Tokens:
    """The name of each token, its text, its span in it, its word, and whether it is special; notes for the user."""

    tokens: list[str]
    texts: list[str]
    spans: list[tuple[int, int]]
    words: list[int]
    special: list[int]
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.tokens)

    def followed_by(self, others: Tokens) -> Tokens:
        """Returns these tokens and, after them, others."""
        words = [word if word == NO_WORD else word + len(self) for word in others.words]
        return Tokens(
            [*self.tokens, *others.tokens],
            [*self.texts, *others.texts],
            [*self.spans, *others.spans],
            [*self.words, *words],
            [*self.special, *others.special],
        )

    def fitted(self, size: int, extra: str = "", first: bool = False) -> Tokens:
        """Returns the tokens of an axis of that size.

        extra: what the positions are that it has beside the tokens, which come first or follow them.  An axis of
        another size has numbers, from 1.  A generation has one token more than its keys.
        """
        if size == len(self):
            return self
        if size == len(self) - 1:
            return Tokens(self.tokens[:-1], self.texts[:-1], self.spans[:-1], self.words[:-1], self.special[:-1])
        added = size - len(self)
        if extra and added > 0:
            other = _numbered(added, f"{extra} ")
            return other.followed_by(self) if first else self.followed_by(other)
        return _numbered(size)


def _numbered(size: int, name: str = "") -> Tokens:
    names = [f"{name}{i + 1}" for i in range(size)]
    return Tokens(names, [""] * size, [(0, 0)] * size, list(range(size)), [0] * size)


def texts_of(text: str, pair: str | None) -> dict[str, str]:
    """The texts by name, as tokens refer to them."""
    return {"text": text} if pair is None else {"a": text, "b": pair}


def encode(tokenizer: Any, text: str, pair: str | None, longest: int) -> tuple[Any, Tokens]:
    """The inputs of a model, a batch of one, and their tokens.  Raises InputError if there are none."""
    texts = list(texts_of(text, pair).items())
    if not any(content.strip() for _, content in texts):
        raise InputError("no text given; enter one")
    if not all(is_text(content) for _, content in texts):
        raise InputError(HALF)
    fast = {"return_offsets_mapping": True} if tokenizer.is_fast else {}
    options = {"truncation": True, "max_length": longest, "return_tensors": "pt", "return_special_tokens_mask": True}
    num_tokens = len(tokenizer(text, pair, verbose=False)["input_ids"])
    inputs = tokenizer(text, pair, **options, **fast)
    ids = inputs["input_ids"][0].tolist()
    if not ids:
        raise InputError("this tokenizer produces no tokens for this text; enter another")
    if len(ids) > longest:  # the library leaves a text whole that it cannot cut
        raise InputError(
            f"this tokenizer reads at most {longest} tokens, its special ones included: none is left for text"
        )
    offsets, template = inputs.pop("offset_mapping", None), inputs.pop("special_tokens_mask")[0].tolist()
    pieces = tokenizer.convert_ids_to_tokens(ids)
    flags, typed = special_flags(ids, special_ids(tokenizer), template)
    if offsets is None:
        named = _without_offsets(tokenizer, ids, pieces, flags)
    else:
        named = _by_offsets(texts, pieces, offsets[0].tolist(), inputs.encodings[0].sequence_ids, flags)
    notes = [f"Cut to {len(ids)} of {num_tokens:,} tokens{_end(tokenizer)}."] if num_tokens > len(ids) else []
    notes += [] if offsets is not None else [NO_OFFSETS]
    notes += _typed_note(pieces, flags, template, typed)
    notes += _unknown_note(tokenizer.unk_token_id, ids, flags)
    return inputs, Tokens(*named, flags, tuple(notes))


def _end(tokenizer: Any) -> str:
    """Which tokens are kept, where they are not the first ones."""
    return ", the last ones, as its tokenizer says" if getattr(tokenizer, "truncation_side", "") == "left" else ""


def name_ids(tokenizer: Any, ids: list[int]) -> Tokens:
    """The tokens of ids that a model reads or writes itself: they are of no text."""
    flags, _ = special_flags(ids, special_ids(tokenizer), [0] * len(ids))
    pieces = tokenizer.convert_ids_to_tokens(ids)
    known = [piece is not None for piece in pieces]  # models have more rows than their tokenizers tokens
    names = [piece if piece else f"id {id_}" for id_, piece in zip(ids, pieces)]
    return Tokens(*_without_offsets(tokenizer, ids, names, flags, known), flags)


def special_ids(tokenizer: Any) -> set[int]:
    """The ids that a tokenizer declares special, but the one for unknown words, which stands for text."""
    added = {id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special}
    return (added | set(tokenizer.all_special_ids)) - {tokenizer.unk_token_id}


def _typed_note(pieces: list[str], flags: list[int], template: list[int], typed: int) -> list[str]:
    """A note on the special tokens that the text itself holds."""
    if not typed:
        return []
    names = dict.fromkeys(piece for piece, flag, added in zip(pieces, flags, template) if flag and not added)
    named = f"{typed} special tokens are" if typed > 1 else "1 special token is"
    return [f"{named} in the text itself ({', '.join(names)}): {sum(flags)} of {len(flags)} tokens are special."]


def _unknown_note(unknown: int | None, ids: list[int], flags: list[int]) -> list[str]:
    """How many tokens of the text have the id `unknown`, if more than half of them do."""
    words = [id_ for id_, special in zip(ids, flags) if not special]
    count = 0 if unknown is None else words.count(unknown)
    return [f"{count} of {len(words)} tokens are {UNKNOWN}."] if 2 * count > len(words) else []


def _by_offsets(
    texts: list[tuple[str, str]],
    pieces: list[str],
    offsets: list[list[int]],
    sequence_ids: list[int | None],
    flags: list[int],
) -> tuple[list[str], list[str], list[tuple[int, int]], list[int]]:
    """Names, texts, spans and words of tokens that have offsets; a special one by the tokenizer's name."""
    count = len(pieces)
    names, owners, spans, words = list(pieces), [""] * count, [(0, 0)] * count, [NO_WORD] * count
    for number, (owner, text) in enumerate(texts):
        own = [i for i in range(count) if sequence_ids[i] == number and not flags[i]]
        named = name_tokens(text, [pieces[i] for i in own], [(offsets[i][0], offsets[i][1]) for i in own])
        for i, name, span, word in zip(own, named.names, named.spans, named.words):
            names[i], owners[i], spans[i], words[i] = name, owner, span, own[word]
    return names, owners, spans, words


def _without_offsets(
    tokenizer: Any, ids: list[int], pieces: list[str], flags: list[int], known: Sequence[bool] = ()
) -> tuple[list[str], list[str], list[tuple[int, int]], list[int]]:
    """Names of tokens that have no offsets, and which make up a word, from the text that their pieces stand for: a
    special token, and one that is not `known`, is a word of its own.  They are of no text that is shown."""
    names, words = [_special_name(tokenizer, piece) for piece in pieces], [NO_WORD] * len(ids)
    apart = [bool(flag) or not (known[i] if known else True) for i, flag in enumerate(flags)]
    for stops, run in groupby(range(len(ids)), key=lambda i: apart[i]):
        own = list(run)
        if not stops:
            run_pieces = [pieces[i] for i in own]
            text, spans = piece_spans(tokenizer, run_pieces)
            named = name_tokens(text, run_pieces, spans)
            for i, name, word in zip(own, named.names, named.words):
                names[i], words[i] = name, own[word]
        for i in own if stops else ():
            words[i] = NO_WORD if flags[i] else i
    return names, [""] * len(ids), [(0, 0)] * len(ids), words


def _special_name(tokenizer: Any, piece: str) -> str:
    """The name of a special token: its own, or its part where it is a character without a shape, as in CANINE."""
    parts = [part for part, token in tokenizer.special_tokens_map.items() if token == piece]
    if piece.isprintable() or not parts:
        return visible(piece)
    own = ("cls_token", "sep_token")  # those of the template: CANINE has the same for the start and the end of a text
    return f"[{next((part for part in own if part in parts), parts[0]).removesuffix('_token').upper()}]"


def token_coords(tokens: Tokens) -> dict:
    """The coordinates of query and key: see `axes.COORDINATES`."""
    return token_columns(tokens, "query") | token_columns(tokens, "key")


def token_columns(tokens: Tokens, axis: str) -> dict:
    """The coordinates of an axis: see `axes.COORDINATES`."""
    columns = {
        "token": tokens.tokens,
        "text": tokens.texts,
        "start": [start for start, _ in tokens.spans],
        "end": [end for _, end in tokens.spans],
        "word": tokens.words,
        "special": tokens.special,
        "segment": [name if name in ("", "text") else f"sentence {name.upper()}" for name in tokens.texts],
        "tokens": [1] * len(tokens),
    }
    return {f"{axis}_{name}": (axis, values) for name, values in columns.items()}
