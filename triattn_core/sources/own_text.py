"""A text as a module of one's own reads it: its attention, its answers, and what a first run shows of the module."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from torch import Tensor, nn

from triattn_core.errors import InputError, TriattnError
from triattn_core.importers.pictures import grey_picture
from triattn_core.inference.predictions import Prediction
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.file import recorded_prediction
from triattn_core.sources.hugging_face import texts_of_example
from triattn_core.sources.source import PICTURE
from triattn_core.sources.transformer import Transformer
from triattn_core.sources.transformer_answers import Answers
from triattn_core.sources.transformer_replace import Asked
from triattn_core.trace import AttentionTrace

MOST_LABELS = 20  # of more answers the first few are listed


@dataclass(frozen=True)
class OwnText(Asked):
    """A text as a module of one's own reads it: `transformer`, what its function built; the inputs, and the tokens."""

    tokens: list[str] | None = field(kw_only=True)

    @property
    def many(self) -> bool:
        return False  # nothing says which axis holds rows

    @classmethod
    def of(cls, own: OwnModule, example: Any) -> OwnText:
        """Raises InputError: no text, or whatever the function of a text raises."""
        text, pair = texts_of_example(example)
        if own.encode is None:
            raise InputError(f"{own.name}: its function must also return one that makes inputs and tokens of a text")
        reads_two = pair is not None and len(signature(own.encode).parameters) > 1
        inputs, tokens = own.inputs(text, pair if reads_two else None)
        return cls(own, inputs, tokens=tokens)

    def run(self, rows: int = 1) -> Any:
        """The outputs of the module."""
        return self.transformer.run(self.inputs)

    def answers(self, rows: int = 1) -> Answers:
        """Its answers.  Raises InputError where its function names none, or gives other numbers than names."""
        return answers_of(self.transformer, self.run())

    def prediction(self, trace: AttentionTrace) -> Prediction:
        """What it predicts; an empty label where its function names no answers.  trace: of the text."""
        if self.transformer.names is None:
            return recorded_prediction(trace)
        return self.answers().predictions()[0]

    def trace(self) -> AttentionTrace:
        """The attention of one run."""
        return self.transformer.record(self.inputs).trace(tokens=self.tokens, source=self.transformer.name)


def scores_of(outputs: Any) -> Tensor:
    """The scores in what a model returns: of its `logits`, of the first of several, or all."""
    scores = outputs["logits"] if isinstance(outputs, dict) else getattr(outputs, "logits", outputs)
    return scores[0] if isinstance(scores, tuple | list) else scores


def answers_of(own: OwnModule, outputs: Any) -> Answers:
    """The answers in what a module returned.  Raises InputError where its function names none, or gives other numbers
    than names."""
    scores = scores_of(outputs)
    logits = scores.reshape(-1, scores.shape[-1])[-1:].float().cpu()
    if own.names is None or logits.shape[1] != len(own.names):
        have = 0 if own.names is None else len(own.names)
        raise InputError(f"{own.name}: its output has {logits.shape[1]} scores, and {have} names of answers")
    names = own.names
    return Answers(kind_of(names), logits, lambda ids: [names[i] for i in ids])


def looked_up(own: OwnModule, inputs: Any, count: int) -> tuple[nn.Module, Tensor, Tensor] | None:
    """The first embedding table that is asked for so many ids, the ids, and the vectors that it gives; None without
    any."""
    found: list[tuple[nn.Module, Tensor, Tensor]] = []

    def keep(module: nn.Module, args: tuple, output: Tensor) -> None:
        if args and args[0].ndim and args[0].shape[-1] == args[0].numel() == count:
            found.append((module, args[0].detach(), output.detach()))

    with ExitStack() as stack:
        for module in own.module.modules():
            if isinstance(module, nn.Embedding):
                stack.callback(module.register_forward_hook(keep).remove)
        own.run(inputs)
    return found[0] if found else None


PROBE = "Which browsers can play movies?"


def probe(own: OwnModule, text: str = PROBE) -> dict[str, Any]:
    """Returns what a run on a text shows of a module: its `digest`, `layers`, `heads`, `axes`, what it `predicts`,
    whether it `embeds` its tokens, and whether it `reads` a `text`, a `pair`, or a `picture` and no text.  One that
    reads neither this text nor a picture is taken for two-way attention until it runs."""
    arrays: Sequence[Any] = ()
    embeds, reads = False, "pair" if own.encode is not None and len(signature(own.encode).parameters) > 1 else "text"
    try:
        asked = OwnText.of(own, text)
        embeds = looked_up(own, asked.inputs, len(asked.tokens or ())) is not None
        arrays = list(asked.trace().sites.values())
    except TriattnError:
        with suppress(TriattnError):
            arrays = list(own.record(own.inputs(grey_picture())[0]).trace().sites.values())
            reads = PICTURE
    found = {str(axis) for array in arrays for axis in array.dims} or {"head", "query", "key"}
    return {
        "digest": own.digest,
        "layers": len(arrays) or 1,
        "heads": max((array.sizes.get("head", 1) for array in arrays), default=1),
        "axes": sorted(found),
        "predicts": "" if own.names is None else kind_of(own.names),
        "embeds": embeds,
        "reads": reads,
    }


def kind_of(names: Sequence[str]) -> str:
    """Returns what answers of these names are: `labels`, or of a vocabulary the `next word`."""
    return "labels" if len(names) <= MOST_LABELS else "next word"


def names_of_labels(model: OwnModule | Transformer) -> dict[int, str]:
    """The labels that a classifier of others predicts, by number; none of another model."""
    if isinstance(model, OwnModule):
        return dict(enumerate(model.names)) if model.names and kind_of(model.names) == "labels" else {}
    return dict(model.model.config.id2label) if model.head == "labels" else {}
