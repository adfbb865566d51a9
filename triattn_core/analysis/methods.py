"""Methods of attribution for one example of a checkpoint: by name, for query, key and context, in one table.

F is the log-odds of the answer.  The vectors are word vectors, before BERT adds position and segment: those of query
and key as BERT_t reads them, those of the context as BERT_n does.  The baseline is the word vector of `[PAD]` in place
of each word; `[CLS]` and `[SEP]` stay, and so get 0 from integrated gradients and occlusion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from scipy.special import stdtrit
from scipy.stats import spearmanr
from torch import Tensor

from triattn_core.analysis import attribution
from triattn_core.analysis.asked import ROLES, Asked, gradients, repeated, size
from triattn_core.attention.tap import recording
from triattn_core.axes import RANDOM
from triattn_core.batch import collate
from triattn_core.errors import InputError, choices
from triattn_core.explain import coordinates, sites
from triattn_core.models.encoder import Given
from triattn_core.trace import AttentionTrace

SHOWN = ("token", "text", "start", "end", "special", "segment", "tokens")  # coordinates of a cell in the table


@dataclass(frozen=True)
class Attributed:
    """A row for each cell of query, key and context: `role`, `position`, its coordinates (see `axes.COORDINATES`) and
    a column for each method.  gap: the completeness gap of integrated gradients, in log-odds, where they were asked."""

    table: pd.DataFrame
    methods: tuple[str, ...]
    gap: float | None = None

    def words(self) -> Attributed:
        """The same with word pieces joined to words: what the pieces were given is added up."""
        token, position = self.table["token"].astype(str), self.table["position"]
        goes_on = token.str.startswith("##") & (position > 0)
        of = self.table.assign(token=token.where(~goes_on, token.str.removeprefix("##")))
        how = dict.fromkeys(of.columns, "first") | {"token": "sum", "end": "last", "tokens": "sum"}
        how |= {name: (lambda values: values.sum(skipna=False)) for name in self.methods}
        return replace(self, table=of.groupby((~goes_on).cumsum()).agg(how).reset_index(drop=True))

    def shares(self) -> pd.DataFrame:
        """The methods on one scale: each divided by the sum of its absolute values over all roles."""
        values = self.table[list(self.methods)]
        total = values.abs().sum()
        return values / total.where(total > 0, 1.0)

    def correlations(self) -> pd.DataFrame:
        """Spearman's rank correlation of the magnitudes of each two methods over all cells that are not special; NaN
        where one of them is the same everywhere, or there are fewer than three cells."""
        values = self.table.loc[self.table["special"] == 0, list(self.methods)].abs()
        count = len(self.methods)
        found = np.full((count, count), np.nan)
        for a in range(count):
            for b in range(count):
                x, y = values.iloc[:, a].dropna(), values.iloc[:, b].dropna()
                both = x.index.intersection(y.index)
                x, y = x[both], y[both]
                if len(both) > 2 and x.nunique() > 1 and y.nunique() > 1:
                    found[a, b] = spearmanr(x, y).statistic
        return pd.DataFrame(found, list(self.methods), list(self.methods))

    def common(self) -> int:
        """The fewest cells that any two methods are compared over by `correlations`; 0 where none are."""
        there = self.table.loc[self.table["special"] == 0, list(self.methods)].notna().to_numpy(int)
        counts = (there.T @ there)[np.isfinite(self.correlations())]
        return int(counts.min(initial=len(there))) if len(counts) else 0

    def bar(self, level: float = 0.05) -> float:
        """How far from 0 the most extreme of `correlations` is once in 1 / level of texts if ranks are drawn at random:
        Student's t of `common` cells, with Bonferroni's correction; 1 where there are too few cells for any."""
        count, pairs = self.common(), int(np.triu(np.isfinite(self.correlations()), 1).sum())
        t = stdtrit(count - 2, 1 - level / 2 / pairs) if count > 2 else np.inf
        return float(1 / np.sqrt(1 + (count - 2) / t**2))


def attribute(asked: Asked, methods: Sequence[str] = (), steps: int = 32) -> Attributed:
    """All METHODS, or some of them, of an example; of cells that average several tokens the sum of theirs.

    NaN where a method says nothing of a role: attention of Bi and C-Bi has no context.  Raises InputError for an
    unknown method.
    """
    methods = known(methods)
    one = _One(asked, steps)
    columns = {name: METHODS[name](one) for name in methods}
    frames = []
    for role in ROLES:
        of = getattr(asked.roles, role)
        coords = coordinates("at", of, asked.bundle.task.texts(asked.example, asked.option))
        frame = {"role": role, "position": range(len(of.runs)), **{name: coords[f"at_{name}"][1] for name in SHOWN}}
        frames.append(pd.DataFrame(frame | {name: found.get(role, np.nan) for name, found in columns.items()}))
    return Attributed(pd.concat(frames, ignore_index=True), methods, one.gap)


def known(methods: Sequence[str]) -> tuple[str, ...]:
    """The methods that are asked for, all where none is named.  Raises InputError for an unknown one, and
    where one of METHODS has the name of the control."""
    if RANDOM in METHODS:
        raise InputError(f"no method of attribution can be called {RANDOM!r}: that is the control; rename it")
    for name in methods:
        if name not in METHODS:
            raise InputError(f"unknown method {name!r}; {choices(name, METHODS)}")
    return tuple(dict.fromkeys(methods)) or tuple(METHODS)


class _One:
    """What the methods share: the score of word vectors, the vectors, and the trace, made when asked for."""

    def __init__(self, asked: Asked, steps: int):
        self.asked, self.steps, self.gap = asked, steps, None
        bundle = asked.bundle
        self.batch = collate([asked.roles], bundle.tokenizer).to(bundle.device)
        look_up = bundle.encoder.joint.get_input_embeddings()
        pad = bundle.tokenizer.special["pad"]
        with gradients():
            self.vectors, self.baseline = {}, {}
            for role in ROLES:
                of, special = getattr(self.batch, role), getattr(asked.roles, role).special
                ids = of.ids[0] if role == "context" else of.alone[0]
                stays = torch.tensor(special if role == "context" else [True, *special, True], device=ids.device)
                self.vectors[role] = look_up(ids).detach()
                self.baseline[role] = look_up(torch.where(stays, ids, pad)).detach()

    def score(self, given: Mapping[str, Tensor]) -> Tensor:
        """Log-odds [V] of word vectors by role [V, n, h]; a pass through both BERTs and the network."""
        count = len(given["context"])
        asked, batch = self.asked, repeated(self.batch, count)
        if torch.is_grad_enabled():
            inputs = {role: Given(one.new_ones(one.shape[:2], dtype=torch.bool), one) for role, one in given.items()}
        else:
            inputs = {role: _distinct(one, self.vectors[role]) for role, one in given.items()}
        return asked.log_odds(asked.bundle.model(asked.bundle.encoder(batch, inputs)))

    @property
    def rows(self) -> int:
        """In a batch: gradients keep about twice what a pass makes."""
        return size(self.asked.bundle, self.asked.roles, share=2)

    @cached_property
    def trace(self) -> AttentionTrace:
        asked = self.asked
        with recording(lambda site: site.endswith("/weight")) as record:
            asked.bundle.logits(self.batch)
        texts = asked.bundle.task.texts(asked.example, asked.option)
        return AttentionTrace(sites(record, asked.roles, texts), texts, asked.bundle.config.model.about)

    def cells(self, found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Of tokens, summed in their cells; those beside a query or key (`[CLS]`, `[SEP]`) belong to none."""
        made = {}
        for role, values in found.items():
            values = values if role == "context" else values[1:-1]
            made[role] = np.array([values[start:end].sum() for start, end in getattr(self.asked.roles, role).runs])
        return made


def _distinct(words: Tensor, usual: Tensor) -> Given:
    """Word vectors [V, n, h] with rows that are as `usual` [n, h] once: occlusion changes one role at a time."""
    same = (words == usual).flatten(1).all(1)
    first = same & (same.cumsum(0) == 1)
    rows = (~same | first).cumsum(0) - 1
    some = words[~same | first]
    return Given(some.new_ones(some.shape[:2], dtype=torch.bool), some, torch.where(same, (rows * first).sum(), rows))


def _integrated(one: _One) -> dict[str, np.ndarray]:
    with gradients():
        found, one.gap = attribution.integrated_gradients(one.score, one.vectors, one.baseline, one.steps, one.rows)
    return one.cells(found)


def _gradient(one: _One) -> dict[str, np.ndarray]:
    with gradients():
        return one.cells(attribution.gradient_times_input(one.score, one.vectors))


def _occlusion(one: _One) -> dict[str, np.ndarray]:
    with gradients():
        return one.cells(attribution.occlusion(one.score, one.vectors, one.baseline, one.rows))


METHODS: Mapping[str, Callable[[_One], dict[str, np.ndarray]]] = {
    "integrated gradients": _integrated,
    "gradient × input": _gradient,
    "occlusion": _occlusion,
    "attention": lambda one: attribution.attended(one.trace),
    "rollout": lambda one: attribution.rollout(one.trace, one.asked.bundle.config.model.residual),
}
