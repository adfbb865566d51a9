"""The attribution methods by name, applied to one example of a checkpoint, in one table.

F is the log-odds of the answer.  The vectors are word vectors, before BERT adds position and segment: those of query
and key as BERT_t reads them, those of the context as BERT_n does.  The baseline is the word vector of `[PAD]` in place
of each word; `[CLS]` and `[SEP]` stay, and so get 0 from integrated gradients and occlusion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from triattn_core.analysis.attribution import estimators
from triattn_core.analysis.intervention.batched_variants import (
    ROLES,
    Query,
    batch_size,
    gradients_enabled,
    repeat_batch,
    word_positions,
)
from triattn_core.attention.tap import keep_weights, recording
from triattn_core.cached import cached_property
from triattn_core.configs.tan import TanConfig
from triattn_core.errors import InputError, choices
from triattn_core.inference.batch import Batch, collate
from triattn_core.inference.explain import coordinates, sites
from triattn_core.inference.pause import progress
from triattn_core.models.encoder import Encoder, InputOverride
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import RANDOM

CELL_COLUMNS = ("token", "text", "start", "end", "special", "segment", "tokens")  # coordinates of a cell in the table


@dataclass(frozen=True)
class Attributions:
    """Attributions of one example: a row for each cell of query, key and context with `role`, `position`, its
    coordinates (see `axes.COORDINATES`) and a column for each method.  gap: the completeness gap of integrated
    gradients, in log-odds, if they were computed."""

    table: pd.DataFrame
    methods: tuple[str, ...]
    gap: float | None = None

    def words(self) -> Attributions:
        """The same with word pieces joined to words, and cells that part a word joined; attributions are summed."""
        token, position = self.table["token"].astype(str), self.table["position"]
        goes_on = token.str.startswith("##") & (position > 0)
        tokens = self.table.assign(token=token.where(~goes_on, token.str.removeprefix("##")))
        aggregations: dict[Any, Any] = dict.fromkeys(tokens.columns, "first") | {
            "token": "sum",
            "end": "last",
            "tokens": "sum",
        }
        aggregations |= {name: (lambda values: values.sum(skipna=False)) for name in self.methods}
        return replace(self, table=tokens.groupby((~goes_on).cumsum()).agg(aggregations).reset_index(drop=True))

    def shares(self) -> pd.DataFrame:
        """The methods on one scale: each divided by the sum of its absolute values over all roles."""
        values = self.table[list(self.methods)]
        total = values.abs().sum()
        return values / total.where(total > 0, 1.0)

    def correlations(self) -> pd.DataFrame:
        """Spearman's rank correlation of the magnitudes of each pair of methods over all cells that are not special;
        NaN if one of them is constant or there are fewer than three cells."""
        values = self.table.loc[self.table["special"] == 0, list(self.methods)].abs()
        return values.corr("spearman", min_periods=3)

    def compared_cells(self) -> int:
        """The smallest number of cells over which `correlations` compares two methods; 0 if it compares none."""
        present = self.table.loc[self.table["special"] == 0, list(self.methods)].notna().to_numpy(int)
        counts = (present.T @ present)[np.isfinite(self.correlations())]
        return int(counts.min(initial=len(present))) if len(counts) else 0

    def critical_correlation(self, level: float = 0.05) -> float:
        """The largest absolute correlation that random ranks exceed in a share `level` of texts: Student's t over
        `compared_cells` with Bonferroni's correction; 1 with too few cells."""
        from scipy.special import stdtrit

        count, pairs = self.compared_cells(), int(np.triu(np.isfinite(self.correlations()), 1).sum())
        t = stdtrit(count - 2, 1 - level / 2 / pairs) if count > 2 else np.inf
        return float(1 / np.sqrt(1 + (count - 2) / t**2))


def attribute(
    query: Query, methods: Sequence[str] = (), steps: int = 32, trace: AttentionTrace | None = None
) -> Attributions:
    """Computes all METHODS, or some of them, for one example; cells that average several tokens get their sum.

    trace: of this example, where it is known; else the model runs once more for those that read it.  NaN where a method
    says nothing of a role: attention of Bi and C-Bi has no context; 0 for special tokens that are no context.  Raises
    InputError for an unknown method.
    """
    methods = validate_methods(methods)
    method_input = _MethodInput(query, steps, methods, trace)
    columns = {name: METHODS[name](method_input) for name in methods}
    frames = []
    for role in ROLES:
        role_tokens = getattr(query.roles, role)
        coords = coordinates("at", role_tokens, query.bundle.task.texts(query.example, query.option))
        frame = {
            "role": role,
            "position": range(len(role_tokens.runs)),
            **{name: coords[f"at_{name}"][1] for name in CELL_COLUMNS},
        }
        pooled = [count > 1 and inside for count, inside in zip(frame["tokens"], role_tokens.begin_inside_word)]
        frame["token"] = ["##" * piece + token for piece, token in zip(pooled, frame["token"])]
        frames.append(pd.DataFrame(frame | {name: values.get(role, np.nan) for name, values in columns.items()}))
    return Attributions(pd.concat(frames, ignore_index=True), methods, method_input.gap)


def validate_methods(methods: Sequence[str]) -> tuple[str, ...]:
    """The requested methods, by default all.  Raises InputError for an unknown one, and if one of METHODS has the
    control's name."""
    if RANDOM in METHODS:
        raise InputError(f"no method of attribution can be called {RANDOM!r}: that is the control; rename it")
    for name in methods:
        if name not in METHODS:
            raise InputError(f"unknown method {name!r}; {choices(name, METHODS)}")
    return tuple(dict.fromkeys(methods)) or tuple(METHODS)


class _MethodInput:
    """What the methods share: the word vectors and baseline, the score of them, and the trace, made on first use."""

    def __init__(self, query: Query, steps: int, methods: Sequence[str], trace: AttentionTrace | None):
        self.query, self.steps, self._trace = query, steps, trace
        self.gap: float | None = None
        self.done, self.total = 0, max(1, sum(ROWS[name](query, steps) for name in methods if name in ROWS))
        bundle = query.bundle
        self.batch = cast(Batch, collate([query.roles], bundle.tokenizer)).to(bundle.device)
        self.encoder = cast(Encoder, bundle.encoder)
        look_up = self.encoder.joint.get_input_embeddings()
        pad = bundle.tokenizer.special["pad"]
        with gradients_enabled():
            self.vectors, self.baseline = {}, {}
            for role in ROLES:
                role_batch, special = getattr(self.batch, role), getattr(query.roles, role).special
                ids = role_batch.ids[0] if role == "context" else role_batch.alone[0]
                stays = torch.tensor(special if role == "context" else [True, *special, True], device=ids.device)
                self.vectors[role] = look_up(ids).detach()
                self.baseline[role] = look_up(torch.where(stays, ids, pad)).detach()

    def score(self, vectors_by_role: Mapping[str, Tensor]) -> Tensor:
        """Log-odds [V] of word vectors by role [V, n, h]; a pass through both BERTs and the network."""
        count = len(vectors_by_role["context"])
        query, batch = self.query, repeat_batch(self.batch, count)
        progress(min(self.done, self.total - 1), self.total)
        self.done += count
        if torch.is_grad_enabled():
            inputs = {
                role: InputOverride(vectors.new_ones(vectors.shape[:2], dtype=torch.bool), vectors)
                for role, vectors in vectors_by_role.items()
            }
        else:
            inputs = {role: _distinct(vectors, self.vectors[role]) for role, vectors in vectors_by_role.items()}
        return query.log_odds(query.bundle.model(self.encoder(batch, inputs)))

    @property
    def rows(self) -> int:
        """The batch size: gradients keep about twice what a forward pass makes."""
        return batch_size(self.query.bundle, self.query.roles, share=2)

    @cached_property
    def trace(self) -> AttentionTrace:
        if self._trace is not None:
            return self._trace
        query = self.query
        with recording(keep_weights) as record:
            query.bundle.logits(self.batch)
        texts = query.bundle.task.texts(query.example, query.option)
        arrays = sites(record, query.roles, texts, query.bundle.attends_special)
        return AttentionTrace(arrays, texts, query.bundle.config.model.about)

    def cells(self, by_role: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Token attributions summed by cell; `[CLS]` and `[SEP]` beside a query or key belong to none."""
        summed = {}
        for role, values in by_role.items():
            values = values if role == "context" else values[1:-1]
            summed[role] = np.array([values[start:end].sum() for start, end in getattr(self.query.roles, role).runs])
        return summed

    def with_special(self, by_role: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Values of the trace's cells over all cells: 0 for the special tokens that are no context."""
        context = by_role.get("context")
        if context is None or self.query.bundle.attends_special:
            return dict(by_role)
        tokens = self.query.roles.context
        values = np.zeros(len(tokens.runs))
        values[[not tokens.special[start] for start, _ in tokens.runs]] = context
        return {**by_role, "context": values}


def _distinct(words: Tensor, usual: Tensor) -> InputOverride:
    """Word vectors [V, n, h] with rows equal to `usual` [n, h] kept once: occlusion changes one role at a time."""
    unchanged = (words == usual).flatten(1).all(1)
    first = unchanged & (unchanged.cumsum(0) == 1)
    rows = (~unchanged | first).cumsum(0) - 1
    kept_words = words[~unchanged | first]
    return InputOverride(
        kept_words.new_ones(kept_words.shape[:2], dtype=torch.bool),
        kept_words,
        torch.where(unchanged, (rows * first).sum(), rows),
    )


def _rollout(method_input: _MethodInput) -> dict[str, np.ndarray]:
    residual = cast(TanConfig, method_input.query.bundle.config.model).residual
    return method_input.with_special(estimators.rollout(method_input.trace, residual))


def _integrated_gradients(method_input: _MethodInput) -> dict[str, np.ndarray]:
    with gradients_enabled():
        attributions, method_input.gap = estimators.integrated_gradients(
            method_input.score, method_input.vectors, method_input.baseline, method_input.steps, method_input.rows
        )
    return method_input.cells(attributions)


def _gradient(method_input: _MethodInput) -> dict[str, np.ndarray]:
    with gradients_enabled():
        return method_input.cells(estimators.gradient_times_input(method_input.score, method_input.vectors))


def _occlusion(method_input: _MethodInput) -> dict[str, np.ndarray]:
    with gradients_enabled():
        return method_input.cells(
            estimators.occlusion(method_input.score, method_input.vectors, method_input.baseline, method_input.rows)
        )


ROWS: Mapping[str, Callable[[Query, int], int]] = {  # passes that a method makes, those of the whole and of nothing too
    "integrated gradients": lambda query, steps: steps + 2,
    "gradient × input": lambda query, steps: 1,
    "occlusion": lambda query, steps: 1 + sum(len(word_positions(getattr(query.roles, role))) for role in ROLES),
}
METHODS: Mapping[str, Callable[[_MethodInput], dict[str, np.ndarray]]] = {
    "integrated gradients": _integrated_gradients,
    "gradient × input": _gradient,
    "occlusion": _occlusion,
    "attention": lambda run: run.with_special(estimators.attention_mass(run.trace)),
    "rollout": _rollout,
}
