"""The text that a decoder of one's own writes, and what it looked at as it wrote each token.

Such a module gives scores of the next word, and its file a function that reads a text.  So a text is written by reading
it again with the likeliest word after it; where that function makes other tokens of it than one more, writing ends.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from triattn_core.errors import InputError
from triattn_core.recording.own_module import OwnModule, one_line
from triattn_core.recording.selection import Select
from triattn_core.recording.tape import record
from triattn_core.sources.own_text import answers_of, kind_of
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import GENERATED

ENDS = "Writing ends at “{}”: read after the text, it is not one token more."


def trace_written(
    own: OwnModule, text: str, count: int, select: Select = None, device: str | None = None
) -> AttentionTrace:
    """Returns the trace of at most so many tokens that a decoder writes after a text, each the likeliest: its queries
    are these tokens, its keys all before them; see `Tape.generation`.

    Raises InputError where the module gives no scores of next words, or writes nothing that its file can read.
    """
    if own.encode is None or own.names is None or kind_of(own.names) == "labels":
        raise InputError(f"{own.name} writes no text: its function must name the words whose scores it returns")
    module = own.module.to(device) if device else own.module
    inputs, read = own.inputs(text)
    if read is None:
        raise InputError(f"{own.name} writes no text: its function of a text returns no tokens")
    tokens, words, notes = read, list[str](), list[str]()
    with one_line(own.path, module), torch.no_grad(), record(module, select) as tape:
        for _ in range(count):
            answers = answers_of(own, own.call(inputs))
            words.append(answers.names([int(answers.logits[0].argmax())])[0])
            text = f"{text} {words[-1]}"
            inputs, longer = own.inputs(text)
            if longer is None or longer[:-1] != tokens:
                notes.append(ENDS.format(words[-1]))
                break
            tokens = longer
    trace = tape.generation(read, words, source=own.name)
    notes.insert(0, str(trace.meta["notes"]))
    return replace(trace, meta={**trace.meta, GENERATED: len(words), "notes": "\n".join(filter(None, notes))})
