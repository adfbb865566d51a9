"""Which tokens drive the answer of a Hugging Face model: the attribution methods of a text or pair read as one.

F is the log-odds of the answer, of labels, of the next word, or of the first masked one.  The vectors are those of the
embedding table, before positions are added; the baseline is that of the padding token in place of each word, of the
unknown word or zero where a tokenizer has no padding, and special tokens stay.  What attention gives is read from where
the answer is read: the positions whose last states its log-odds depend on.  Of these, over keys,

    attention   the weights, mean of layers and heads
    norms       the lengths of what a key adds to a query, a share of its row's sum, mean of layers
                (Kobayashi et al. 2020, Eq. 4, with all heads together)
    rollout     the product over layers of half the weights, mean of heads, and half the residual connection
                (Abnar and Zuidema 2020, section 3)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from triattn_core.analysis.attribution import estimators
from triattn_core.analysis.attribution.methods import Attributions
from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.analysis.intervention.batched_variants import gradients_enabled
from triattn_core.cached import cached_property
from triattn_core.errors import InputError, choices
from triattn_core.importers.token_coords import Tokens
from triattn_core.inference.pause import progress
from triattn_core.recording.added import AddedTape, record_added
from triattn_core.sources.transformer_answers import Answers, read_answers
from triattn_core.sources.transformer_errors import one_line
from triattn_core.sources.transformer_inputs import read_text
from triattn_core.sources.transformer_replace import ROWS, Asked
from triattn_core.sources.written import DECODERS_OWN, with_start

TEXT = "text"
ROLES = {"b": "key"}  # by the text of a token; all else is of the query


@dataclass(frozen=True)
class JointText(Asked):
    """A text, or a pair, with its tokens and the answer that is followed.

    odds: log-odds of the answer as it is.
    """

    tokens: Tokens = field(kw_only=True, repr=False)
    answer: int = field(kw_only=True)
    odds: float = field(kw_only=True)

    @classmethod
    def put(cls, transformer: Any, text: str, pair: str | None = None, written: int = 0) -> JointText:
        """Raises InputError where there are no tokens, or nothing is predicted.  written: see `Asked.put`."""
        inputs, tokens = read_text(transformer, text, pair)
        inputs = with_start(transformer, inputs, written)
        with torch.inference_mode():
            answers = Asked(transformer, inputs).answers()
        answer = int(answers.logits[0].argmax())
        return cls(transformer, inputs, tokens=tokens, answer=answer, odds=float(answers.log_odds[0, answer]))

    @property
    def words(self) -> list[int]:
        """The positions of tokens that are not special."""
        return [i for i, special in enumerate(self.tokens.special) if not special]

    @property
    def rows(self) -> int:
        return ROWS if self.many else 1

    @property
    def text_inputs(self) -> dict[str, Tensor]:
        """The inputs with a place for each token of the text."""
        return {name: value for name, value in self.inputs.items() if name != DECODERS_OWN}

    @cached_property
    def vectors(self) -> Tensor:
        """[n, width]: the vector of each token in the embedding table."""
        with gradients_enabled():
            return self._embedded(self.inputs["input_ids"][0].clone())

    @cached_property
    def baseline(self) -> Tensor:
        """[n, width]: the same with every word blanked."""
        ids, tokenizer = self.inputs["input_ids"][0].clone(), self.transformer.tokenizer
        stays = torch.tensor(self.tokens.special, dtype=torch.bool, device=ids.device)
        rows = getattr(self.embedding, "num_embeddings", None) or len(tokenizer)
        fitting = (i for i in (tokenizer.pad_token_id, tokenizer.unk_token_id) if i is not None and i < rows)
        blank = next(fitting, None)  # a padding token that was added to a tokenizer alone has no row
        with gradients_enabled():
            if blank is None:
                return torch.where(stays[:, None], self.vectors, 0.0)
            return self._embedded(torch.where(stays, ids, blank))

    def _embedded(self, ids: Tensor) -> Tensor:
        return self.embedding(ids).detach()

    @property
    def embedding(self) -> Any:
        """The table that gives each id of the text its vector."""
        return self.transformer.model.get_input_embeddings()

    def score(self, by_role: Mapping[str, Tensor]) -> Tensor:
        """Log-odds [V] of the answer from vectors [V, n, width]."""
        return self._answers(self.outputs(by_role[TEXT])).log_odds[:, self.answer]

    def _answers(self, outputs: Any) -> Answers:
        return read_answers(self.transformer, outputs, self.inputs["input_ids"])

    def outputs(self, vectors: Tensor, **options: Any) -> Any:
        """The outputs of vectors [V, n, width] in place of the ids."""
        rest = {name: value for name, value in self.inputs.items() if name != "input_ids"}
        rest = {name: value.clone().expand(len(vectors), *value.shape[1:]) for name, value in rest.items()}
        cached = {"use_cache": False} if getattr(self.transformer.model.config, "use_cache", False) else {}
        with one_line(self.transformer.name, self.transformer.model):
            try:
                return self.transformer.model(inputs_embeds=vectors, **rest, **cached, **options)
            except (ValueError, NotImplementedError) as error:  # of BART's readers, whose decoder reads the ids again
                line = str(error).splitlines()[0]
                raise InputError(f"{self.transformer.name} takes no vectors in place of its words: {line}") from None

    @cached_property
    def read_from(self) -> np.ndarray:
        """[n], summing to 1: the same for each position whose last state the answer depends on; all where nothing
        says which."""
        with gradients_enabled():
            outputs = self.outputs(self.vectors[None].requires_grad_(), output_hidden_states=True)
            odds = self._answers(outputs).log_odds[0, self.answer]
            last = outputs.hidden_states[-1]
            [slope] = torch.autograd.grad(odds, [last], allow_unused=True)
        count = len(self.tokens)
        reads = np.ones(count, bool)
        if slope is not None and slope.shape[1] == count and bool(slope.any()):
            reads = slope[0].abs().sum(-1).gt(0).cpu().numpy()
        return reads / reads.sum()

    @cached_property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Of each attention of the tokens to each other, in order, its weights [n, n], mean of heads, and the lengths
        of what is added; None where no projection was seen."""
        with torch.inference_mode(), record_added(self.transformer.model) as recorded:
            self.run()
        return self.square_maps(recorded)

    def square_maps(self, recorded: AddedTape) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Of each recorded attention of the tokens to each other what `layers` has."""
        added, layers = recorded.by_site(), []
        for site, attention in recorded.tape.sites().items():
            weights = attention.arranged().float().mean(0).cpu().double().numpy()
            if weights.shape == (len(self.tokens),) * 2:
                norms = added[site].norms().cpu().double().numpy() if site in added else None
                layers.append((weights, norms))
        return layers

    @property
    def rolled(self) -> tuple[list[np.ndarray], np.ndarray]:
        """What rollout goes along, from the first layer: maps [n, n]; and from where: a share [n] of each token."""
        return [weights for weights, _ in self.layers], self.read_from

    def probabilities_without(self, sets: Sequence[frozenset[int]]) -> list[float]:
        """The probability of the answer without the tokens of each set, which are deleted; texts of one length run
        together.  Where nothing is left, a decoder reads its first token alone."""
        tokenizer = self.transformer.tokenizer
        by_length: dict[int, list[int]] = defaultdict(list)
        for place, removed in enumerate(sets):
            by_length[len(self.tokens) - len(removed)].append(place)
        found, done = np.zeros(len(sets)), 0
        for length, places in sorted(by_length.items()):
            for start in range(0, len(places), self.rows):
                batch = places[start : start + self.rows]
                progress(done, len(sets))
                done += len(batch)
                kept = [[i for i in range(len(self.tokens)) if i not in sets[place]] for place in batch]
                parts = {name: torch.cat([value[:, rows] for rows in kept]) for name, value in self.text_inputs.items()}
                if not length:
                    first = next((i for i in (tokenizer.bos_token_id, tokenizer.eos_token_id) if i is not None), 0)
                    ones = torch.ones(len(batch), 1, dtype=torch.long, device=self.transformer.model.device)
                    parts = {"input_ids": first * ones, "attention_mask": ones}
                if DECODERS_OWN in self.inputs:
                    parts[DECODERS_OWN] = self.inputs[DECODERS_OWN].expand(len(batch), -1)
                with torch.inference_mode(), one_line(self.transformer.name, self.transformer.model):
                    outputs = self.transformer.model(**parts)
                found[batch] = self.shares(outputs, parts["input_ids"], kept)
        return found.tolist()

    def shares(self, outputs: Any, ids: Tensor, kept: Sequence[Sequence[int]]) -> np.ndarray:
        """The probability of the answer in each row of the outputs of ids [B, n].  kept: of each row, which positions
        of the text these are."""
        return read_answers(self.transformer, outputs, ids).probabilities[:, self.answer].numpy()

    def cells(self) -> pd.DataFrame:
        """A row for each token: role, position in it, and its coordinates; special tokens are of the text before."""
        tokens, roles = self.tokens, [ROLES.get(text, "query") for text in self.tokens.texts]
        for i, text in enumerate(tokens.texts):
            roles[i] = roles[i] if text or not i else roles[i - 1]
        goes_on = [
            bool(i) and not tokens.special[i] and tokens.words[i] == tokens.words[i - 1] for i in range(len(tokens))
        ]
        table = pd.DataFrame(
            {
                "role": roles,
                "token": ["##" * more + name for more, name in zip(goes_on, tokens.tokens)],
                "text": tokens.texts,
                "start": [start for start, _ in tokens.spans],
                "end": [end for _, end in tokens.spans],
                "special": tokens.special,
                "segment": [f"sentence {text.upper()}" if text in ("a", "b") else text for text in tokens.texts],
                "tokens": 1,
            }
        )
        table.insert(1, "position", table.groupby("role").cumcount())
        return table


def attribute(asked: JointText, methods: Sequence[str], steps: int = 32) -> Attributions:
    """Returns what the methods give each token.  steps: of integrated gradients.  NaN where a method has nothing to
    say: no square map, or no projection of what is added.  Raises InputError for an unknown method."""
    gaps: list[float] = []
    table = asked.cells()
    for name in methods:
        if name not in RUN:
            raise InputError(f"unknown method {name!r}; {choices(name, RUN)}")
        table[name] = RUN[name](asked, steps, gaps)
    return Attributions(table, tuple(methods), gaps[0] if gaps else None)


def curves_of(asked: JointText, attributions: Attributions, draws: int, seed: int) -> pd.DataFrame:
    """Returns the curves of `CanAttribute.deletion_curves` of a text that is asked."""
    from triattn_core.analysis.attribution.faithfulness import ranked_curves

    scores = {name: attributions.table[name].fillna(0.0).to_numpy() for name in attributions.methods}
    return ranked_curves(scores, asked.words, asked.probabilities_without, draws, seed)


def _integrated_gradients(asked: JointText, steps: int, gaps: list[float]) -> np.ndarray:
    vectors, baseline = {TEXT: asked.vectors}, {TEXT: asked.baseline}
    with gradients_enabled():
        found, gap = estimators.integrated_gradients(asked.score, vectors, baseline, steps, asked.rows)
    gaps.append(gap)
    return found[TEXT]


def _gradient(asked: JointText, steps: int, gaps: list[float]) -> np.ndarray:
    with gradients_enabled():
        return estimators.gradient_times_input(asked.score, {TEXT: asked.vectors})[TEXT]


def _occlusion(asked: JointText, steps: int, gaps: list[float]) -> np.ndarray:
    with gradients_enabled(), torch.no_grad():
        return estimators.occlusion(asked.score, {TEXT: asked.vectors}, {TEXT: asked.baseline}, asked.rows)[TEXT]


def _attention(asked: JointText, steps: int, gaps: list[float]) -> np.ndarray | float:
    return _mean([asked.read_from @ weights for weights, _ in asked.layers])


def _norms(asked: JointText, steps: int, gaps: list[float]) -> np.ndarray | float:
    found = [norms for _, norms in asked.layers if norms is not None]
    return _mean([asked.read_from @ (norms / norms.sum(1, keepdims=True)) for norms in found])


def _mean(rows: Sequence[np.ndarray]) -> np.ndarray | float:
    return np.mean(rows, 0) if len(rows) else float("nan")


def _rollout(asked: JointText, steps: int, gaps: list[float]) -> np.ndarray | float:
    return rollout(*asked.rolled) if asked.layers else float("nan")


def rollout(layers: Sequence[np.ndarray], read_from: np.ndarray) -> np.ndarray:
    """Returns attention rollout [n] of weights [n, n] by layer, from where the answer is read: a position's mass stays
    by half and goes along the weights by half, from the last layer down (Abnar and Zuidema 2020, section 3)."""
    mass = np.asarray(read_from, float)
    for weights in reversed(layers):
        sums = weights.sum(1, keepdims=True)
        rows = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
        mass = mass / 2 + mass @ rows / 2 + np.where(sums[:, 0] > 0, 0.0, mass / 2)
    return mass


Run = Callable[[JointText, int, list[float]], Any]
RUN: Mapping[str, Run] = {
    "integrated gradients": _integrated_gradients,
    "gradient × input": _gradient,
    "occlusion": _occlusion,
    "attention": _attention,
    "rollout": _rollout,
    "norms": _norms,
}
assert set(RUN) == set(JOINT_METHODS)
