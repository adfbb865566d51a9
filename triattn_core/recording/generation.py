"""The steps of a generation, each of which wrote a token, as one map: from where each token was written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.recording.arrays import largest_error, site_array
from triattn_core.recording.attention import Attention
from triattn_core.recording.row_sums import describe_rows

INSTEAD = "run the model once over the whole text, whose rows are the same, or take `tape.trace(step=…)`"
ALIKE = 1e-3  # values of a token that was read before, as a share of the largest


def join_steps(steps: Sequence[Attention], grows: bool) -> xr.DataArray:
    """Returns the weights [head, step, key] of one attention over the steps of a generation: of each its last query.

    grows: whether each step adds a key, as in self-attention.  A cache of fixed length has keys for tokens that are not
    written yet, which are hidden; the keys of a step that has fewer, as those of a sliding window, are the last ones.

    Raises TraceError where a step has more keys than tokens were read.
    """
    arrays = [site_array(attention) for attention in steps]
    first, written = arrays[0], _visible(steps[0]) if grows else arrays[0].sizes["key"]
    ends = [written + (step if grows else 0) for step in range(len(arrays))]
    values = np.zeros((first.sizes["head"], len(arrays), ends[-1]), np.float32)
    for step, (array, end) in enumerate(zip(arrays, ends)):
        row = array.values[:, -1, : _visible(steps[step]) if grows else end]
        if row.shape[-1] > end:
            raise TraceError(f"step {step} has {row.shape[-1]} keys for {end} tokens: {INSTEAD}")
        values[:, step, end - row.shape[-1] : end] = row
    columns, precision = max(attention.columns for attention in steps), str(first.attrs["precision"])
    rows = describe_rows(values, ("key",), ("head", "query", "key"), columns, precision)
    kept = {name: first.attrs[name] for name in ("module", "kind", "heads_to_a_key", "reaches", "precision")}
    dropped = max(0, int(first.attrs["columns"]) - first.sizes["key"])
    attrs = {"quantity": rows.quantity, **rows.sums, **kept, "mask": "causal" if grows else "none"}
    attrs |= {"columns": ends[-1] + dropped, "rebuilt": largest_error(arrays)}
    return xr.DataArray(values, dims=first.dims, attrs=attrs)


def require_one_text(steps: Sequence[Attention]) -> None:
    """Raises TraceError where a step read several new tokens, as one that tries a draft or reads a part of the text
    does; and where rows of the batch were exchanged for others between steps, as a beam search does: the
    values of a token that was read before are then those of another one.

    steps: of one self-attention, the first of the model, whose values do not change with what is written later.
    """
    before, start = torch.empty(1, 0), 0
    for step, attention in enumerate(steps):
        queries, size = attention.arranged().shape[1], _visible(attention)
        if step and queries not in (1, _visible(steps[0]) + step):
            raise TraceError(f"step {step} read {queries} tokens, not one: {INSTEAD}")
        marks = attention.marks
        if marks is None:
            return
        marks, own = marks[:, :size], _visible(steps[0]) + step - size  # the number of its first token
        shared = slice(max(start, own) - start, None)
        earlier, now = before[:, shared], marks[:, max(start, own) - own :]
        now = now[:, : earlier.shape[1]]
        alike = earlier.shape[0] in (1, now.shape[0])  # a beam search begins with one row
        if not alike or (earlier.numel() and float((now - earlier).abs().max()) > ALIKE * float(earlier.abs().max())):
            raise TraceError(f"before step {step} the rows of the batch changed places, as in a beam search: {INSTEAD}")
        before, start = marks, own


def explain_rows_of_one_text(first: Sequence[Attention]) -> list[str]:
    """A note on a batch whose rows all read the same text, of which a search may choose another at its last step."""
    marks = next((attention.marks for attention in first if attention.marks is not None), torch.empty(0))
    if len(marks) < 2 or not torch.allclose(marks, marks[:1], rtol=ALIKE):
        return []
    return [
        f"The {len(marks)} rows of the batch read one text, and one row is shown: in a beam search, the tokens"
        " that were chosen at the end may be those of another row."
    ]


def _visible(attention: Attention) -> int:
    """How many keys there are up to the last that the last query sees, which is itself."""
    keys, hidden = attention.arranged().shape[-1], attention.hidden
    if hidden is None or hidden.shape[-1] != keys:
        return keys
    seen = (~hidden[-1]).nonzero()
    return int(seen[-1]) + 1 if len(seen) else keys
