"""Texts that are given as words, and read by an encoder in pieces: each word is one cell of a role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from triattn_core.text.roles import Part, Role, joint
from triattn_core.text.tokenizer import Tokenizer, Tokens

# The Penn Treebank's words: contractions and punctuation are separate (Marcus et al. 1993).
_CLITIC = re.compile(r"(?i)(?<=\w)(?=n['’]t\b)|(?<=\w)(?=['’](?:s|m|d|re|ve|ll)\b)")
_WORD = re.compile(r"""\w+(?:[.,:/@&'’_-]+\w+)*|['’]\w+|(?:[A-Z]\.)+|([^\w\s])\1*""")


def split_words(text: str) -> tuple[tuple[int, int], ...]:
    """The spans of the words of a typed sentence, as the Penn Treebank splits them: "don't" is "do" and "n't"."""
    spans = []
    for match in _WORD.finditer(text):
        start = match.start()
        cuts = [start + cut.start() for cut in _CLITIC.finditer(match.group())]
        edges = [start, *(cut for cut in cuts if cut > start), match.end()]
        spans += list(zip(edges, edges[1:]))
    return tuple(spans)


def word_role(
    name: str, text: str, spans: Sequence[tuple[int, int]], tokenizer: Tokenizer, marked: int | None = None
) -> Role:
    """The words of a text as cells over their pieces.

    spans: of the words, in order.  marked: the index of a word whose pieces have segment id 1, all others 0.  A word
    without a piece, such as a control character, is an unknown token.
    """
    pieces = tokenizer.encode([text[start:end] for start, end in spans], max(end - start for start, end in spans) + 1)
    ids: list[int] = []
    strings: list[str] = []
    places: list[tuple[int, int]] = []
    types: list[int] = []
    cells: list[tuple[int, int]] = []
    for i, ((start, end), word) in enumerate(zip(spans, pieces)):
        if not word:
            word = Tokens((tokenizer.special["unk"],), (text[start:end],), ((0, end - start),))
        cells.append((len(ids), len(ids) + len(word)))
        ids += word.ids
        strings += word.strings
        places += [(start + first, start + last) for first, last in word.spans]
        types += [int(i == marked)] * len(word)
    part = Part(name, text, Tokens(tuple(ids), tuple(strings), tuple(places)), "Sentence", types=tuple(types))
    return replace(joint([part], tokenizer).take(name), cells=tuple(cells))
