"""The text that a decoder of one's own writes, and what it looked at as it wrote each token.

Such a module gives scores of the next word, and its file a function that makes ids and tokens of a text.  Where the ids
are the numbers of its words, the likeliest one is put after them; else the text is read again with the word after it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from triattn_core.errors import InputError
from triattn_core.recording.own_module import OwnModule, one_line
from triattn_core.recording.selection import Select
from triattn_core.recording.tape import record
from triattn_core.sources.own_text import answers_of, kind_of, looked_up
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import GENERATED

ENDS = "Writing ends at “{}”: read after the text, it is not one token more."
FAILS = "Writing ends after {} tokens: {}"
END = re.compile(r"[<\[|(]*/?(end|eos|eot|s|sep|end_?of_?(text|sentence))[>\]|)]*", re.IGNORECASE)


def trace_written(
    own: OwnModule, text: str, count: int, select: Select = None, device: str | None = None
) -> AttentionTrace:
    """Returns the trace of at most so many tokens that a decoder writes after a text, each the likeliest: its queries
    are these tokens, its keys all before them; see `Tape.generation`.  It ends at a word such as `<end>` or `</s>`.

    Raises InputError where the module gives no scores of next words.
    """
    if own.encode is None or own.names is None or kind_of(own.names) == "labels":
        raise InputError(f"{own.name} writes no text: its function must name the words whose scores it returns")
    module = own.module.to(device) if device else own.module
    inputs, read = own.inputs(text)
    if read is None:
        raise InputError(f"{own.name} writes no text: its function of a text returns no tokens")
    numbered, tokens, words, notes = _are_numbers(own, inputs, read), read, list[str](), list[str]()
    with one_line(own.path, module), torch.no_grad(), record(module, select) as tape:
        for _ in range(count):
            try:
                number = int(answers_of(own, own.call(inputs)).logits[0].argmax())
            except InputError as error:
                if not words:
                    raise
                notes.append(FAILS.format(len(words), error))
                break
            words.append(own.names[number])
            if END.fullmatch(words[-1]):
                break
            if numbered:
                inputs = torch.cat([inputs, inputs.new_full((1, 1), number)], 1)
                continue
            text = f"{text} {words[-1]}"
            inputs, longer = own.inputs(text)
            if longer is None or longer[:-1] != tokens:
                notes.append(ENDS.format(words[-1]))
                break
            tokens = longer
    trace = tape.generation(read, words, source=own.name)
    notes.insert(0, str(trace.meta["notes"]))
    return replace(trace, meta={**trace.meta, GENERATED: len(words), "notes": "\n".join(filter(None, notes))})


def _are_numbers(own: OwnModule, inputs: Any, tokens: list[str]) -> bool:
    """Whether inputs are ids [1, n] of the tokens in the order of the words whose scores it returns."""
    if not isinstance(inputs, Tensor) or inputs.shape != (1, len(tokens)) or inputs.is_floating_point():
        return False
    found, names = looked_up(own, inputs, len(tokens)), own.names or ()
    if found is None or getattr(found[0], "num_embeddings", 0) != len(names):
        return False
    known = [(number, token) for number, token in zip(inputs[0].tolist(), tokens) if token in names]
    return bool(known) and all(names[number] == token for number, token in known)
