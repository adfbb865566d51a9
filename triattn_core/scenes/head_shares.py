"""How much of each head's relevance depends on context: one head beside all others, of a checkpoint or of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from triattn_core.errors import ConfigError
from triattn_core.views.charts import anova as view
from triattn_core.views.charts import anova_text

PARTS = "Parts of the relevance"  # the title of the figure


@dataclass(frozen=True)
class HeadShares:
    """shares: a row for each head, see `anova.share_table`.  layer, head: of the chosen one, from 0.  by: heads by
    number, or by what context redirects."""

    shares: pd.DataFrame
    layer: int
    head: int
    by: str = "number"

    @property
    def row(self) -> pd.Series:
        """The shares of the chosen head."""
        return head_row(self.shares, self.layer, self.head)

    @property
    def sentence(self) -> str:
        """The chosen head against all."""
        return anova_text.parts(self.shares, self.row, self.layer, self.head)

    def draw_bars(
        self, theme: str = "light", only: Sequence[str] = (), axes: Mapping[str, str] | None = None
    ) -> partial:
        """What draws the shares of every head: see `views.charts.anova.parts`."""
        return partial(view.parts, self.shares, self.layer, self.head, theme, self.by, only, axes)


def head_row(table: pd.DataFrame, layer: int, head: int) -> pd.Series:
    """The row of a layer and head, from 0.  Raises ConfigError: there is none."""
    rows = table[(anova_text.layers_of(table) == layer) & (table["head"] == head)]
    if rows.empty:
        existing = f"there are {table['site'].nunique()} layers of {table['head'].max() + 1} heads"
        raise ConfigError(f"context: no layer {layer + 1}, head {head + 1}: {existing}")
    return rows.iloc[0]
