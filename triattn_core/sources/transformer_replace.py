"""A Hugging Face model run with other attention weights: its answers, and the attention that it then has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import xarray as xr
from torch import Tensor

from triattn_core.errors import InputError
from triattn_core.inference.pause import progress
from triattn_core.recording.replace import SiteChange, replace_sites
from triattn_core.recording.tape import Tape, record
from triattn_core.sources.transformer import NEXT_TOKEN
from triattn_core.sources.transformer_answers import Answers, read_answers
from triattn_core.sources.transformer_errors import one_line
from triattn_core.sources.transformer_inputs import read_text
from triattn_core.sources.weight_change import WeightChange
from triattn_core.sources.written import with_start, written_text
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

ROWS = 16  # changes of one text in one pass


@dataclass(frozen=True)
class Asked:
    """A text, or a pair, as a loaded model reads it: `inputs` of the tokenizer, one row."""

    transformer: Any
    inputs: Any = field(repr=False)

    @classmethod
    def put(cls, transformer: Any, text: str, pair: str | None = None, written: int = 0) -> Asked:
        """Raises InputError where there are no tokens.  A decoder that reads an encoder reads its start token, and
        so many tokens that it wrote: the answer is the next one."""
        inputs, _ = read_text(transformer, text, pair)
        return cls(transformer, with_start(transformer, inputs, written))

    @property
    def many(self) -> bool:
        """Whether several rows may run at once: decoders without a padding token refuse them."""
        return self.transformer.model.config.pad_token_id is not None

    def run(self, rows: int = 1) -> Any:
        """The outputs of so many rows of this text."""
        inputs = {name: value.expand(rows, *value.shape[1:]) for name, value in self.inputs.items()}
        cached = {"use_cache": False} if getattr(self.transformer.model.config, "use_cache", False) else {}
        with one_line(self.transformer.name, self.transformer.model):
            return self.transformer.model(**inputs, **cached)

    def answers(self, rows: int = 1) -> Answers:
        return read_answers(self.transformer, self.run(rows), self.inputs["input_ids"])


def replaced(
    asked: Asked, changes: Sequence[WeightChange], given: Sequence[Mapping[Site, Any] | None]
) -> tuple[Answers, Tape]:
    """The answers without a change, then under each; and what was recorded under the first.

    given: for each change the weights of another text by site, where it asks for them.  Raises InputError for a head
    that is not there, or whose weights cannot be replaced.
    """
    kept: list[Answers] = []

    def read(rows: int) -> Tensor:
        kept.append(asked.answers(rows))
        return kept[-1].logits

    logits, tape = replaced_outputs(asked, changes, given, read)
    return replace(kept[0], logits=logits), tape


@torch.inference_mode()
def replaced_outputs(
    asked: Asked,
    changes: Sequence[WeightChange],
    given: Sequence[Mapping[Site, Any] | None],
    read: Callable[[int], Tensor],
) -> tuple[Tensor, Tape]:
    """The same of what `read` makes of a run over so many rows of the text: [1 + changes, …]."""
    model, met = asked.transformer.model, set[Site]()
    found = [read(1)]
    with record(model) as tape, replace_sites(model, _by_row([(changes[0], given[0])], met)):
        found.append(read(1))
    size = ROWS if asked.many else 1
    for start in range(1, len(changes), size):
        progress(start, len(changes))
        rows = list(zip(changes, given))[start : start + size]
        with replace_sites(model, _by_row(rows, met)):
            found.append(read(len(rows)))
    if missing := [site for change in changes for site, _ in change.heads if site not in met]:
        raise InputError(f"{asked.transformer.name}: there are no weights at {missing[0]} that could be replaced")
    return torch.cat(found), tape


def rewritten(asked: Asked, change: WeightChange, given: Mapping[Site, Any] | None) -> tuple[str, ...]:
    """The text that a model writes as it is, and under a change; nothing of a model that writes none, or where the
    change is of maps of one size, which grow with the text."""
    if asked.transformer.head != NEXT_TOKEN:
        return ()
    try:
        changed = written_text(asked.transformer, asked.inputs, _by_row([(change, given)], set()))
    except InputError:
        return ()
    return written_text(asked.transformer, asked.inputs), changed


def _by_row(changes: Sequence[tuple[WeightChange, Mapping[Site, Any] | None]], met: set[Site]) -> SiteChange:
    def change(own: Tensor, seen: Tensor, site: Site) -> Tensor:
        met.add(site)
        if len(changes) == 1:
            return changes[0][0].weights(own, site, changes[0][1], seen)
        if own.ndim != 4 or own.shape[0] != len(changes):
            raise InputError(f"{site}: its weights have no axis of rows, so that changes run one at a time only")
        return torch.stack(
            [way.weights(row, site, given, cells) for row, cells, (way, given) in zip(own, seen, changes)]
        )

    return change


def trace_after(before: AttentionTrace, tape: Tape) -> AttentionTrace:
    """The trace of a run under other weights, with the tokens of the one before it."""
    recorded = tape.trace().sites
    sites = dict(_changed_sites(before, recorded))
    return AttentionTrace(sites, before.texts, before.meta)


def _changed_sites(
    before: AttentionTrace, recorded: Mapping[Site, xr.DataArray]
) -> Iterator[tuple[Site, xr.DataArray]]:
    for site, array in before.sites.items():
        after = recorded.get(site)
        if after is not None and after.shape == array.shape:
            yield site, array.copy(data=after.values)
