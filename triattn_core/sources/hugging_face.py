"""A model of Hugging Face as a source: of a pair of texts it also shows how one attends to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.checkpoint.registry import Entry, list_transformers
from triattn_core.checkpoint.transformer_folder import WRITERS
from triattn_core.errors import InputError
from triattn_core.importers.text_rows import row_texts
from triattn_core.sources.file import recorded_prediction
from triattn_core.sources.source import PICTURE, Ability, EntrySource
from triattn_core.sources.weight_change import Replaced, WeightChange
from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import notes_of
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.attribution.methods import Attributions
    from triattn_core.inference.predictions import Prediction
    from triattn_core.sources.transformer import Transformer
    from triattn_core.sources.transformer_attribution import JointText

DIRECTIONS = {"a_over_b": ("a", "b"), "b_over_a": ("b", "a")}  # of a pair: the text that asks, the text that is asked


@dataclass(frozen=True)
class HuggingFaceSource(EntrySource):
    """A folder that `save_pretrained` wrote, as the registry lists it; its weights are read when it first runs."""

    reads_rows = True

    @classmethod
    def of(cls, what: Any, device: str | None = None) -> HuggingFaceSource | None:
        """Returns the source of an entry of the registry that is such a folder."""
        return cls(what, device) if isinstance(what, Entry) and what.config.get("source") == "hugging_face" else None

    @classmethod
    def entries(cls) -> tuple[Entry, ...]:
        """Returns those in the folders of checkpoints."""
        return list_transformers()

    @property
    def axes(self) -> frozenset[str]:
        return frozenset({"head", "query", "key"})

    @property
    def abilities(self) -> frozenset[Ability]:
        predicts = self.entry.config["model"].get("predicts")
        if self.entry.config["model"].get("reads") == PICTURE:
            return frozenset()
        able = [Ability.REPLACE, Ability.GRADIENTS, Ability.SCORED] * bool(predicts)
        able += [Ability.LABELS] * (predicts == "labels") + [Ability.WRITES] * (predicts in WRITERS)
        return frozenset({Ability.RUN, Ability.ROWS, Ability.PAIRS, *able})

    @property
    def methods(self) -> Sequence[str]:
        return tuple(JOINT_METHODS)

    def load(self) -> Transformer:
        """Returns the model.  Raises CheckpointError in one line."""
        from triattn_core.sources.transformer import load_transformer

        return load_transformer(str(self.entry.path), self.device)

    def explain(
        self,
        example: Any = None,
        option: int | None = None,
        model: Transformer | None = None,
    ) -> tuple[Prediction, AttentionTrace]:
        """See `Source.explain` and `explain_transformer`.  option: of a model that writes a text of another, which of
        its tokens is the answer.  model: from `load`, where it is loaded."""
        model = model or self.load()
        prediction, trace = explain_transformer(model, example, option or 0)
        meta = {**trace.meta, "checkpoint": self.title, "digest": self.digest}
        if model.writes:
            meta["option"], prediction = option or 0, replace(prediction, option=option or 0)
        return prediction, replace(trace, meta=meta)

    def replace(
        self,
        example: Any,
        changes: Sequence[WeightChange],
        option: int | None = None,
        model: Transformer | None = None,
    ) -> Replaced:
        """See `CanReplace.replace`."""
        from triattn_core.sources.transformer_replace import Asked, replaced, rewritten, trace_after

        model = model or self.load()
        text, pair = texts_of_example(example)
        asked, (_, before) = Asked.put(model, text, pair, option or 0), self.explain(example, option, model=model)
        others = [
            None if change.other is None else self.explain(change.other, option, model=model)[1] for change in changes
        ]
        given = [None if trace is None else trace.sites for trace in others]
        answers, tape = replaced(asked, changes, given)
        after = trace_after(before, tape)
        after = replace(after, sites={**after.sites, **dict(between_texts(after))})
        predictions = answers.predictions(notes_of(before))
        odds = answers.log_odds[:, int(answers.logits[0].argmax())]
        return Replaced(tuple(predictions), tuple(odds.tolist()), after, rewritten(asked, changes[0], given[0]))

    def attribute(
        self,
        example: Any,
        methods: Sequence[str] = (),
        steps: int = 32,
        option: int | None = None,
        trace: AttentionTrace | None = None,
        model: Transformer | None = None,
    ) -> tuple[Attributions, float]:
        """See `CanAttribute.attribute`; what attention gives is recorded anew, with the values that it weighs."""
        return attribute_transformer(model or self.load(), example, methods, steps, option or 0)

    def deletion_curves(
        self,
        example: Any,
        attributions: Attributions,
        draws: int,
        seed: int,
        option: int | None = None,
        model: Transformer | None = None,
    ) -> pd.DataFrame:
        """See `CanAttribute.deletion_curves`."""
        from triattn_core.sources.transformer_attribution import curves_of

        return curves_of(ask(model or self.load(), example, option or 0), attributions, draws, seed)


def explain_transformer(transformer: Transformer, example: Any, written: int = 0) -> tuple[Prediction, AttentionTrace]:
    """Returns what a loaded model predicts for a text, two texts, or an example of sentence pairs, whose label is not
    compared: the model's labels are its own.  Of a pair the trace has also the sites of `between_texts`.

    written: tokens that a decoder wrote before the one that it is asked for.
    """
    from triattn_core.recording.arrays import REBUILT
    from triattn_core.sources.transformer_trace import trace_transformer

    text, pair = texts_of_example(example)
    if is_translation(transformer, example):
        trace = trace_transformer(transformer, text, target=pair)
    else:
        trace = trace_transformer(transformer, text, pair, written=written if transformer.writes else None)
    trace = replace(trace, sites={**trace.sites, **dict(between_texts(trace))})
    notes = tuple(note for note in notes_of(trace) if not note.startswith(REBUILT))
    return recorded_prediction(trace, notes), trace


def is_translation(transformer: Transformer, example: Any) -> bool:
    """Returns whether an example has a source and a target, and the decoder of a model reads the target."""
    return transformer.writes and isinstance(example, Mapping) and {"source", "target"} <= example.keys()


def attribute_transformer(
    transformer: Transformer, example: Any, methods: Sequence[str] = (), steps: int = 32, written: int = 0
) -> tuple[Attributions, float]:
    """Returns what attribution methods, by default all of JOINT_METHODS, give each token of an example, and the
    log-odds of the answer; see `sources.transformer_attribution`.  written: see `explain_transformer`."""
    from triattn_core.sources.transformer_attribution import attribute

    asked = ask(transformer, example, written)
    return attribute(asked, tuple(methods) or tuple(JOINT_METHODS), steps), asked.odds


def ask(transformer: Transformer, example: Any, written: int = 0) -> JointText:
    """Returns the one or two texts of an example as a loaded model reads them, with its answer."""
    from triattn_core.sources.answered_text import AnsweredText
    from triattn_core.sources.transformer import SPAN
    from triattn_core.sources.transformer_attribution import JointText
    from triattn_core.sources.translated_text import TranslatedText

    reads = TranslatedText if transformer.writes else AnsweredText if transformer.head == SPAN else JointText
    return reads.put(transformer, *texts_of_example(example), written)


def texts_of_example(example: Any) -> tuple[str, str | None]:
    """Returns the one or two texts of an example, or of the fields of a row.  Raises InputError where it has others,
    DataError that names the fields."""
    if isinstance(example, str):
        return example, None
    if isinstance(example, Mapping):
        return texts_of_example(row_texts(example, "the example"))
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
