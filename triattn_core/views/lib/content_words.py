"""Which tokens carry content: a figure opens on these, for the strongest cell is often one of "the" or "?"."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.views.lib.strongest import words

_ENGLISH = (
    "a an the and or but if of to in on at by for from with as is are was were be been am do does did has have had can "
    "could will would shall should may might it its i you he she we they me my your his her our their this that these "
    "those there here what which who whom whose how why when where s t re ve ll m d"
)
_CHINESE = "的 了 吗 呢 吧 么 是 我 你 他 她 它 们 这 那 在 有 和 也 都 就 不 啊 呀 着 过 把 被 与 或 及 之 其 怎 什"
FUNCTION_WORDS = frozenset(f"{_ENGLISH} {_CHINESE}".split())


def content_words(array: xr.DataArray, texts: dict[str, str], axis: str) -> np.ndarray:
    """For each position of an axis whether it is a content word; all are where there are no tokens, or only others."""
    if f"{axis}_token" not in array.coords:
        return np.ones(array.sizes[axis], bool)
    special = array[f"{axis}_special"].values if f"{axis}_special" in array.coords else np.zeros(array.sizes[axis])
    carries = [any(map(str.isalnum, word)) and word.lower() not in FUNCTION_WORDS for word in words(array, texts, axis)]
    content = np.array(carries, bool) & (special == 0)
    return content if content.any() else np.ones(len(content), bool)
