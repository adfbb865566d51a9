"""Which tokens drive the answer of a module of one's own: the attribution methods of a text that it reads.

The vectors are what the first embedding table (`nn.Embedding`) gives that is asked for as many ids as the text has
tokens; the baseline is zero in place of each word.  Tokens in brackets, as <start> or [CLS], are special and stay.
What attention gives is read from the last token where the output has a row of scores a token, else from all alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from triattn_core.analysis.intervention.batched_variants import gradients_enabled
from triattn_core.cached import cached_property
from triattn_core.errors import InputError
from triattn_core.importers.token_coords import Tokens
from triattn_core.inference.pause import progress
from triattn_core.recording.added import record_added
from triattn_core.recording.own_module import OwnModule, to_device
from triattn_core.sources.hugging_face import texts_of_example
from triattn_core.sources.own_text import OwnText, answers_of, looked_up, scores_of
from triattn_core.sources.transformer_answers import Answers
from triattn_core.sources.transformer_attribution import JointText
from triattn_core.sources.translated_text import in_place_of


@dataclass(frozen=True)
class OwnJointText(JointText):
    """A text as a module of one's own reads it (`transformer`), with its tokens and the answer that is followed."""

    @classmethod
    def ask(cls, own: OwnModule, example: Any) -> OwnJointText:
        """Raises InputError where it names no answers or no tokens, or its tokens are looked up in no table."""
        asked = OwnText.of(own, example)
        answers = asked.answers()
        tokens = name_tokens(asked.tokens, texts_of_example(example)[0])
        answer = int(answers.logits[0].argmax())
        inputs = to_device(asked.inputs, own.device)
        found = cls(own, inputs, tokens=tokens, answer=answer, odds=float(answers.log_odds[0, answer]))
        if found.lookup is None:
            raise InputError(f"{own.name} cannot give gradients: no nn.Embedding is asked for its {len(tokens)} tokens")
        return found

    @property
    def many(self) -> bool:
        return False  # nothing says which axis holds rows

    @cached_property
    def lookup(self) -> tuple[nn.Module, Tensor, Tensor] | None:
        """The table that is asked for the tokens, the ids that it is asked for, and the vectors that it gives."""
        return looked_up(self.transformer, self.inputs, len(self.tokens))

    @cached_property
    def vectors(self) -> Tensor:
        assert self.lookup is not None
        with gradients_enabled():
            return self.lookup[2].reshape(len(self.tokens), -1).clone()

    @cached_property
    def baseline(self) -> Tensor:
        stays = torch.tensor(self.tokens.special, dtype=torch.bool, device=self.vectors.device)
        return torch.where(stays[:, None], self.vectors, 0.0)

    def score(self, by_role: Any) -> Tensor:
        """Log-odds [V] of the answer from vectors [V, n, width], one run each."""
        assert self.lookup is not None
        table, ids, own = self.lookup
        odds = []
        for vectors in by_role["text"]:
            with in_place_of(table, ids, vectors.reshape(own.shape)):
                outputs = self.transformer.call(self.inputs)
            odds.append(self._answers(outputs).log_odds[0, self.answer])
        return torch.stack(odds)

    def _answers(self, outputs: Any) -> Answers:
        return answers_of(self.transformer, outputs)

    def run(self, rows: int = 1) -> Any:
        return self.transformer.run(self.inputs)

    @cached_property
    def read_from(self) -> np.ndarray:
        """[n], summing to 1: the last token where there is a row of scores a token, else all alike."""
        scores, count = scores_of(self.run()), len(self.tokens)
        if scores.numel() // scores.shape[-1] == count:
            return np.eye(count)[-1]
        return np.full(count, 1 / count)

    @cached_property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray | None]]:
        with torch.no_grad(), record_added(self.transformer.module) as recorded:
            self.run()
        return self.square_maps(recorded)

    def probabilities_without(self, sets: Sequence[frozenset[int]]) -> list[float]:
        """The probability of the answer without the tokens of each set: they are cut out of every axis of an input that
        is as long as the text.  Where nothing is left, the first stays."""
        count, found = len(self.tokens), []
        for place, removed in enumerate(sets):
            progress(place, len(sets))
            kept = [i for i in range(count) if i not in removed] or [0]
            outputs = self.transformer.run(cut(self.inputs, count, kept))
            found.append(float(self._answers(outputs).probabilities[0, self.answer]))
        return found


def cut(inputs: Any, count: int, kept: Sequence[int]) -> Any:
    """The inputs with these places alone, of every axis of a tensor that is as long as `count`."""
    if isinstance(inputs, dict):
        return {name: cut(value, count, kept) for name, value in inputs.items()}
    if isinstance(inputs, list | tuple):
        return [cut(value, count, kept) for value in inputs]
    if isinstance(inputs, Tensor) and count > 1:
        places = torch.tensor(kept, device=inputs.device)
        for axis in [axis for axis in range(inputs.ndim) if inputs.shape[axis] == count]:
            inputs = inputs.index_select(axis, places)
    return inputs


def name_tokens(tokens: Sequence[str] | None, text: str) -> Tokens:
    """The tokens of a text, each with its span where it is found there after the one before it.  Raises InputError
    where there are none."""
    if not tokens:
        raise InputError("the function of a text returns no tokens: attributions have nothing to stand on")
    spans, special, start, lower = [], [], 0, text.lower()
    for token in tokens:
        special.append(int(token[:1] + token[-1:] in ("<>", "[]")))
        place = -1 if special[-1] else lower.find(token.lower(), start)
        spans.append((place, place + len(token)) if place >= 0 else (0, 0))
        start = max(start, spans[-1][1])
    count = len(tokens)
    owners = ["" if flag else "text" for flag in special]
    return Tokens(list(tokens), owners, spans, list(range(count)), special)
