"""How the scores of a function spread on one input, in numbers (the T-trilinear paper, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from triattn_core.views.similarity.panels import FunctionPanel

SOME = 5e-4  # of the weights: less is rounding


def scores(panel: FunctionPanel, quantity: str = "relevance") -> np.ndarray:
    """All scores before the softmax, [cells]; `centred`: each minus the mean of its row, which the softmax sees."""
    return panel.values_of(quantity).values.ravel().astype(np.float64)


def numbers(panels: Sequence[FunctionPanel], quantity: str = "relevance") -> pd.DataFrame:
    """A row a function: how its scores spread, and how even its weights are.

    `even`: the mean over passage words of the perplexity of their weights, `of` question words: 1 is one word alone.
    `beyond`: the share of the weights that no word has, a sentinel's, as DCN has one; `even` is among the words.
    """
    parts = []
    for panel in panels:
        values, weights = scores(panel, quantity), panel.weights.values.astype(np.float64)
        mass = weights.sum(1, keepdims=True)
        weights = weights / np.maximum(mass, np.finfo(np.float64).tiny)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.where(weights > 0, weights * np.log(weights), 0.0).sum(1)
        low, five, middle, ninety, high = np.quantile(values, (0, 0.05, 0.5, 0.95, 1))
        row = {"function": panel.title, "least": low, "5 %": five, "median": middle, "95 %": ninety, "greatest": high}
        row |= {"mean": values.mean(), "deviation": values.std(), "even": np.exp(entropy).mean()}
        parts.append(row | {"of": weights.shape[1], "cells": values.size, "beyond": 1 - mass.mean()})
    return pd.DataFrame(parts)
