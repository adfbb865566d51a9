"""What an intervention changed, in sentences: the answer, the scale for it, the maps, and what a null does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.trace.axis_labels import count
from triattn_core.views.charts.intervention import RESOLUTION, SAME, is_resolved
from triattn_core.views.lib.number_format import minus

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.analysis.intervention.interventions import InterventionResult
    from triattn_core.inference.predictions import Prediction

SAYS = {
    "remove": "Without {}",
    "mask": "With {} masked in attention (the encoder still reads it),",
    "replace": "With {} replaced",
    "reorder": "With the context in another order",
    "swap": "With another example's context",
}
LEVEL = 0.05
UNCHANGED = f"do not change (less than {RESOLUTION:.5f}, the numerical resolution)"
NONE = 1e-9  # bits: what float error may leave
ANSWER, ATTENTION = 0.05, 0.01  # change of a probability, bits: below, an answer or attention has hardly moved


@dataclass(frozen=True)
class InterventionSpec:
    """The intervention: `operation`, one of SAYS, on which units of the context as `unit` cuts it, and its `argument`:
    a text, an order or another example.  words: the units as the user knows them."""

    operation: str
    unit: str
    names: tuple[str, ...] = ()
    words: str = ""
    argument: Any = None


@dataclass(frozen=True)
class Nulls:
    """A null's log-odds of the original answer, and flips, draw by draw; and the original."""

    replacement: str
    axis: str
    log_odds: np.ndarray
    flipped: np.ndarray
    original: float
    answer: Prediction

    @property
    def rows(self) -> pd.DataFrame:
        """A row a draw."""
        draws = range(1, len(self.log_odds) + 1)
        return pd.DataFrame({"draw": draws, "log-odds": self.log_odds, "flips": self.flipped})


def describe_change(
    result: InterventionResult,
    spec: InterventionSpec,
    alone: pd.DataFrame | None,
    random_draws: pd.DataFrame | None = None,
) -> str:
    """What was done, what became of the answer, and the scale for it."""
    best = result.before.prediction
    answer = best.labels[followed_answer(best)]
    did = SAYS[spec.operation].format(spec.words)
    if spec.operation == "replace":
        did += f" by “{spec.argument.strip()}”" if (spec.argument or "").strip() else " by [MASK]"
    change = f"change by {result.change:+.3g}" if abs(result.change) >= RESOLUTION else UNCHANGED
    sentence = f"{did} the log-odds of “{answer}” {change}"
    after = result.after.prediction
    sentence += f": the answer flips to “{after.labels[after.best]}”." if result.flipped else "; the answer stays."
    if alone is not None and len(spec.names) > 1:
        total = alone.set_index("unit").loc[list(spec.names), "change"].sum()
        sentence += f" The {len(spec.names)} separate changes sum to {total:+.3g}."
    if random_draws is not None:
        changes, flips = random_draws["change"], int(random_draws["flips"].sum())
        mean, spread = changes.mean(), changes.std()
        numbers = f"{mean:+.3g} ± {spread:.2g} (standard deviation)" if is_resolved(changes).any() else "no change"
        flips_text = f"{flips} flip{'s' * (flips != 1)}"
        sentence += f" Random baseline, {len(random_draws)} draws of as many units: {numbers}, {flips_text}."
    return minus(sentence)


def describe_finding(result: InterventionResult, bits: float) -> str:
    """What happened to answer and attention, in one sentence, and by how much.  bits: see `maps.attention_shift`."""
    answer_index = followed_answer(result.before.prediction)
    before, after = (run.prediction.probabilities[answer_index] for run in (result.before, result.after))
    answer, attention = result.flipped or abs(after - before) >= ANSWER, bits >= ATTENTION
    verb = "flipped" if result.flipped else "moved"
    if answer and attention:
        lead = f"The answer {verb}, and the attention moved" + " too" * (not result.flipped)
    elif answer:
        lead = f"The answer {verb}, the attention hardly" + " moved" * result.flipped
    else:
        lead = "The attention moved, the answer hardly" if attention else "Answer and attention hardly moved"
    label = result.before.prediction.labels[answer_index][:60]
    return minus(
        f"{lead}: probability of “{label}” {before:.3f} before, {after:.3f} after; attention moved by {bits:.2g} bits."
    )


def describe_each(alone: pd.DataFrame, unit_texts: Mapping[str, str]) -> str:
    """The strongest unit, and how many alone flip the answer.  unit_texts: the units as the user knows them."""
    resolved = is_resolved(alone["change"])
    if not resolved.any():
        return f"No unit alone changes the log-odds by {RESOLUTION:.5f} or more, the numerical resolution: no bars."
    row = alone.loc[alone["change"].abs().idxmax()]
    flips = int(alone["flips"].sum())
    count = f"{flips} of {len(alone)} units alone flip the answer" if flips else "no unit alone flips the answer"
    sentence = f"Most is changed by “{unit_texts[row['unit']]}” ({row['change']:+.3g}); {count}."
    if rest := int((~resolved).sum()):
        sentence += f" {rest} of {len(alone)} units have no bar: below the numerical resolution, {RESOLUTION:.5f}."
    return minus(sentence)


def changes_answer(alone: pd.DataFrame) -> bool:
    """Whether any unit changes the log-odds by more than rounding."""
    return bool(is_resolved(alone["change"]).any())


def moves_attention(alone: pd.DataFrame) -> bool:
    """Whether any unit moves the attention."""
    return bool((alone["moved"] > NONE).any())


def describe_each_shift(alone: pd.DataFrame, unit_texts: Mapping[str, str]) -> str:
    """The unit that moves attention most, and whether it is the one that changes the answer most."""
    bits, change = alone["moved"], alone["change"].abs()
    if not moves_attention(alone):
        return "No unit moves the attention: that of this mechanism does not read the context."
    most = f"Attention is moved most by “{unit_texts[alone.loc[bits.idxmax(), 'unit']]}” ({bits.max():.2g} bits)"
    if len(alone) < 3 or change.nunique() == 1 or not changes_answer(alone):
        return f"{most}."
    alike = bits.rank().corr(change.rank())  # of Series, `corr(method="spearman")` imports all of `scipy.stats`
    also = "also changes" if bits.idxmax() == change.idxmax() else "is not what changes"
    orders = f"Bits and size of the change rank the {len(alone)} units alike by {alike:+.2f} (Spearman)."
    return minus(f"{most}, which {also} the answer most. {orders}")


def followed_answer(prediction: Prediction) -> int:
    """The answer whose log-odds are given: of two labels the best, of several options the one that is looked at."""
    return prediction.best if prediction.labels[0].startswith("not ") else prediction.option


def describe_shift(before: xr.DataArray, after: xr.DataArray, labels: tuple, apart: float) -> str:
    """How far attention moved.  apart: the mean of the queries, in bits."""
    gap = after.values - before.values
    if abs(gap).max(initial=0) < SAME:
        return f"Attention does not move: no weight by {SAME:.6f} or more."
    query, key = divmod(int(abs(gap).argmax()), gap.shape[1])
    word = f"“{labels[0][query]}” to “{labels[1][key]}”"
    numbers = f"{before.values[query, key]:.3g} before, {after.values[query, key]:.3g} after"
    return (
        f"Attention moves by {apart:.3g} bits on average over {count(len(labels[0]), 'query')} (Jensen-Shannon "
        f"divergence, 0 to 1), most from {word}: {numbers}."
    )


def describe_null(nulls: Nulls) -> str:
    """The log-odds with the weights replaced, beside the original's, and the flips."""
    odds, original, answer = nulls.log_odds, nulls.original, nulls.answer.labels[followed_answer(nulls.answer)]
    spread = f" ± {odds.std(ddof=1):.2g} (standard deviation) over {len(odds)} draws" if len(odds) > 1 else ""
    replaced = REPLACEMENTS[nulls.replacement]
    become = (
        f"the {nulls.replacement} for attention"
        if nulls.replacement == "product of marginals"
        else f"{'averaged' if nulls.replacement == 'uniform' else nulls.replacement} attention"
    )
    along = "" if replaced.fixed else f" along {nulls.axis}s"
    if np.abs(odds - original).max() < RESOLUTION:
        return minus(
            f"With {become}{along} ({replaced.how}) nothing changes: the log-odds of “{answer}” stay at {original:+.3g}"
            f"{f' in all {len(odds)} draws' if len(odds) > 1 else ''}."
        )
    sentence = f"With {become}{along} ({replaced.how}) the log-odds of "
    sentence += f"“{answer}” are {odds.mean():+.3g}{spread}, against {original:+.3g}; "
    flips = f"{int(nulls.flipped.sum())} of {len(odds)} flip the answer"
    sentence += f"{flips if len(odds) > 1 else 'the answer flips' if nulls.flipped[0] else 'the answer stays'}. "
    if len(odds) > 1:
        below, p = int((odds < original).sum()), chance(odds, original)
        sentence += f"The original lies above {below} of the {len(odds)} draws, p = {p:.2g} (two-sided): "
        better = "the map is more than chance" if original > odds.mean() else "others serve this answer better"
        sentence += (
            f"{better}, by {abs(original - odds.mean()):.2g} in the mean."
            if p <= LEVEL
            else f"not evidence enough that this map is more than chance; {len(odds)} draws could show p = "
            f"{chance(odds, float('inf')):.2g} at best."
        )
    return minus(sentence.strip())


def chance(odds: np.ndarray, original: float) -> float:
    """How often so extreme a rank among the draws comes about where the original is one of them, on either side."""
    fewest = min(int((odds <= original).sum()), int((odds >= original).sum()))
    return min(1.0, 2 * (1 + fewest) / (1 + len(odds)))
