"""Sub-words learnt from texts by byte-pair encoding (Sennrich et al. 2016), which give back the text as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from triattn_core.text.tokenizer import SPECIAL, Tokenizer, Tokens

BEGIN = "\u2581"  # in a sub-word's name, a space before it


def learn_sub_words(texts: Iterable[str], size: int) -> tokenizers.Tokenizer:
    """A tokenizer of `size` sub-words, special ones included; characters that it has not seen are unknown."""
    tokenizer = tokenizers.Tokenizer(models.BPE(unk_token=SPECIAL["unk"]))
    tokenizer.normalizer = normalizers.NFC()
    marks = pre_tokenizers.Punctuation("isolated")  # so that "." is one sub-word after every word
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(BEGIN), marks])
    tokenizer.decoder = decoders.Metaspace(BEGIN)
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL.values()), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


class SubWords(Tokenizer):
    """A tokenizer of `learn_sub_words`; a sub-word that continues a word is named with "##" before it, as elsewhere.

    Source and target share it.  A target begins after `start` and ends with `end`.
    """

    def __init__(self, path: Path):
        super().__init__(path)
        self.start, self.end = self.special["pad"], self.special["sep"]

    def encode(self, texts: Sequence[str], limit: int) -> list[Tokens]:
        """Sub-words of each text, at most `limit` each, with spans that hold no space."""
        return [_named(tokens, text) for tokens, text in zip(super().encode(texts, limit), texts)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of sub-words."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)


def _named(tokens: Tokens, text: str) -> Tokens:
    """Spans without white space; a sub-word that continues the word of the one before it begins with "##"."""
    spans: list[tuple[int, int]] = []
    strings: list[str] = []
    for (start, end), string in zip(tokens.spans, tokens.strings):
        part = text[start:end]
        start += len(part) - len(part.lstrip())
        if string == BEGIN:  # no character of its own: the next sub-word has the word's first one
            end = start
        continues = bool(spans) and spans[-1][1] == start and start < end and text[start].isalnum()
        strings.append(("##" if continues else "") + string.replace(BEGIN, ""))
        spans.append((start, max(start, end)))
    return replace(tokens, strings=tuple(strings), spans=tuple(spans))
