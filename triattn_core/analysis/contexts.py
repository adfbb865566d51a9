"""Does context matter, over a file: the shares of `anova` of each row, layer, direction and head, as a distribution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from triattn_core.analysis import anova
from triattn_core.analysis.asked import ask
from triattn_core.analysis.mining import Part
from triattn_core.attention.similarity.exponential import at_once
from triattn_core.attention.tap import recording
from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle
from triattn_core.errors import ConfigError, DataError, InputError

MEASURES = (*anova.SEEN, "among_keys", "redirected", "information")


def over(bundle: Bundle, rows: Iterable[tuple[int, object]]) -> Iterator[Part]:
    """A part for each row of a file; its table is `anova.table` of the example, of several options the chosen one.

    rows: (line, example, or a DataError that says why there is none), as `sources.examples` gives them.  Who stops
    iterating keeps the parts that came.  Raises ConfigError for a checkpoint without a cube.
    """
    if getattr(bundle.config.model, "mechanism", "") != "tri":
        raise ConfigError(f"{bundle.name}: only Tri-Attention has a cube to take apart")
    for line, example in rows:
        try:
            if isinstance(example, DataError):
                raise example
            yield Part(_table(bundle, example).assign(row=line, id=str(example.id)[:80]), (), line)
        except (DataError, InputError) as error:
            yield Part(pd.DataFrame(), (str(error) if error is example else f"line {line}: {error}",), line)


def _table(bundle: Bundle, example) -> pd.DataFrame:
    roles = ask(bundle, example).roles
    with recording() as record, at_once():
        bundle.logits(collate([roles], bundle.tokenizer))
    sites = {name: tapped.tensor[0].double().cpu().numpy() for name, tapped in record.sites.items()}
    names = [name.removesuffix("/relevance") for name in sites if name.endswith("/relevance")]
    found = [anova.measured(name, sites[f"{name}/relevance"], sites[f"{name}/weight"]) for name in names]
    return pd.concat(found, ignore_index=True)


def distribution(table: pd.DataFrame) -> pd.DataFrame:
    """Of each measure the quartiles over rows, by layer: all heads and both directions of a layer count alike."""
    layer = table["site"].str.split("/").str[0]
    return table.groupby(layer)[list(MEASURES)].quantile([0.25, 0.5, 0.75]).unstack()
