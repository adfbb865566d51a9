"""A model of Hugging Face as a source: of a pair of texts it also shows how one attends to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import InputError
from triattn_core.sources.file import recorded_prediction
from triattn_core.sources.source import Ability
from triattn_core.sources.weight_change import Replaced, WeightChange
from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import notes_of
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    from triattn_core.inference.predictions import Prediction
    from triattn_core.sources.transformer import Transformer

DIRECTIONS = {"a_over_b": ("a", "b"), "b_over_a": ("b", "a")}  # of a pair: the text that asks, the text that is asked


@dataclass(frozen=True)
class HuggingFaceSource:
    """A folder that `save_pretrained` wrote, as the registry lists it; its weights are read when it first runs."""

    entry: Entry
    device: str | None = None

    @classmethod
    def of(cls, what: Any, device: str | None = None) -> HuggingFaceSource | None:
        """Returns the source of an entry of the registry that is such a folder."""
        return cls(what, device) if isinstance(what, Entry) and what.config.get("source") == "hugging_face" else None

    @property
    def title(self) -> str:
        return self.entry.name

    @property
    def digest(self) -> str:
        return self.entry.digest

    @property
    def axes(self) -> frozenset[str]:
        return frozenset({"head", "query", "key"})

    @property
    def abilities(self) -> frozenset[Ability]:
        predicts = self.entry.config["model"].get("predicts")
        return frozenset({Ability.RUN, *[Ability.LABELS] * (predicts == "labels"), *[Ability.REPLACE] * bool(predicts)})

    def load(self) -> Transformer:
        """Returns the model.  Raises CheckpointError in one line."""
        from triattn_core.sources.transformer import load_transformer

        return load_transformer(str(self.entry.path), self.device)

    def explain(
        self,
        example: Any = None,
        option: int | None = None,
        known_scores: Sequence | None = None,
        model: Transformer | None = None,
    ) -> tuple[Prediction, AttentionTrace]:
        """See `Source.explain` and `explain_transformer`.  model: from `load`, where it is loaded."""
        prediction, trace = explain_transformer(model or self.load(), example)
        meta = {**trace.meta, "checkpoint": self.title, "digest": self.digest}
        return prediction, replace(trace, meta=meta)

    def replace(
        self,
        example: Any,
        changes: Sequence[WeightChange],
        option: int | None = None,
        model: Transformer | None = None,
    ) -> Replaced:
        """See `CanReplace.replace`."""
        from triattn_core.sources.transformer_replace import Asked, replaced, trace_after

        model = model or self.load()
        asked, (_, before) = Asked.put(model, *texts_of_example(example)), self.explain(example, model=model)
        given = [None if change.other is None else self.explain(change.other, model=model)[1] for change in changes]
        answers, tape = replaced(asked, changes, [None if trace is None else trace.sites for trace in given])
        after = trace_after(before, tape)
        after = replace(after, sites={**after.sites, **dict(between_texts(after))})
        predictions = answers.predictions(notes_of(before))
        odds = answers.log_odds[:, int(answers.logits[0].argmax())]
        return Replaced(tuple(predictions), tuple(odds.tolist()), after)


def explain_transformer(transformer: Transformer, example: Any) -> tuple[Prediction, AttentionTrace]:
    """Returns what a loaded model predicts for a text, two texts, or an example of sentence pairs, whose label is not
    compared: the model's labels are its own.  Of a pair the trace has also the sites of `between_texts`."""
    from triattn_core.recording.arrays import REBUILT
    from triattn_core.sources.transformer_trace import trace_transformer

    trace = trace_transformer(transformer, *texts_of_example(example))
    trace = replace(trace, sites={**trace.sites, **dict(between_texts(trace))})
    notes = tuple(note for note in notes_of(trace) if not note.startswith(REBUILT))
    return recorded_prediction(trace, notes), trace


def texts_of_example(example: Any) -> tuple[str, str | None]:
    """Returns the one or two texts of an example.  Raises InputError where it has others."""
    if isinstance(example, str):
        return example, None
    if isinstance(example, Mapping):
        return texts_of_example(tuple(example.values()))
    if isinstance(example, tuple | list) and len(example) in (1, 2) and all(isinstance(part, str) for part in example):
        return example[0], example[1] if len(example) > 1 else None
    if hasattr(example, "text_a") and hasattr(example, "text_b"):
        return example.text_a, example.text_b
    if isinstance(text := getattr(example, "text", None), str):
        return text, None
    raise InputError("a Hugging Face model reads a text or a pair of texts here")


def between_texts(trace: AttentionTrace) -> Iterator[tuple[Site, xr.DataArray]]:
    """Yields, of a pair, the sites `layer.0/a_over_b/weight`: the rows of one text, its own tokens left out as queries.

    The keys of the other text come first, of the role `key`; those of the role `own`, over which the same softmax runs,
    are the tokens of the text itself and the special ones.  No weight is changed.
    """
    if set(trace.texts) != {"a", "b"}:
        return
    for site, array in trace.sites.items():
        if any(set(array[f"{axis}_text"].values) != {"", "a", "b"} for axis in ("query", "key")):
            continue  # of a decoder, whose tokens are of neither text
        for direction, (asks, asked) in DIRECTIONS.items():
            keys = array["key_text"].values == asked
            order = [*np.flatnonzero(keys), *np.flatnonzero(~keys)]
            rows = array.isel(query=np.flatnonzero(array["query_text"].values == asks), key=order)
            roles = ["key"] * int(keys.sum()) + ["own"] * int((~keys).sum())
            yield replace(site, role=direction), rows.assign_coords(key_role=("key", roles))
