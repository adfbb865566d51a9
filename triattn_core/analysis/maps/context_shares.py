"""ANOVA shares over a file: one row per example, layer, direction and head, and their quartiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.maps import anova
from triattn_core.attention.tap import recording
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import ConfigError
from triattn_core.inference.batch import collate
from triattn_core.trace.site import Site

MEASURES = (*anova.VISIBLE_TERMS, "among_keys", "redirected", "information")


def measure_rows(bundle: Bundle, rows: Sequence[tuple[int, Any]]) -> pd.DataFrame:
    """`example_shares` of rows (line, example), with columns `row` and `id`.

    Raises ConfigError for a checkpoint without a cube.
    """
    if getattr(bundle.config.model, "mechanism", "") != "tri":
        raise ConfigError(f"{bundle.name}: only Tri-Attention has a cube to take apart")
    tables = [example_shares(bundle, example).assign(row=line, id=str(example.id)[:80]) for line, example in rows]
    return pd.concat(tables, ignore_index=True)


def example_shares(bundle: Bundle, example: Any) -> pd.DataFrame:
    """The shares of `anova.site_shares` of each layer, direction and head: of an example, or its predicted option."""
    roles = run_query(bundle, example).roles
    with recording() as record, without_compilation():
        bundle.logits(collate([roles], bundle.tokenizer))
    sites = {site: tapped.tensor[0].double().cpu().numpy() for site, tapped in record.sites.items()}
    tables = [
        anova.site_shares(site, scores, sites[site.with_quantity("weight")])
        for site, scores in sites.items()
        if site.quantity == "relevance"
    ]
    return pd.concat(tables, ignore_index=True)


def quartiles(table: pd.DataFrame) -> pd.DataFrame:
    """The quartiles of each measure by layer, over rows, heads and both directions."""
    layer = pd.Series([str(Site(layer=Site.parse(site).layer)) for site in table["site"]], table.index, name="site")
    return table.groupby(layer)[list(MEASURES)].quantile([0.25, 0.5, 0.75]).unstack()
