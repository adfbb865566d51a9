"""The names that a config is checked by, without torch, are those of the tables."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from triattn_core.attention import MECHANISMS
from triattn_core.attention.coin import FUSIONS as COIN_FUSIONS
from triattn_core.attention.contextual_value import VALUES
from triattn_core.attention.fixed_weights import FIXED
from triattn_core.attention.masks import MASKS
from triattn_core.attention.qa import OUTPUTS
from triattn_core.attention.qa_similarity import QA_SIMILARITIES
from triattn_core.attention.tensorized import SCALES
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.configs import laboratory, names, reader
from triattn_core.models.coin_layers import POOLINGS
from triattn_core.models.comparison import POOLING
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.fusion.activations import ACTIVATIONS
from triattn_core.models.laboratory import BLOCKS
from triattn_core.models.systems import SYSTEMS
from triattn_core.trace.axes import TAN_MECHANISMS

TABLES: dict[str, Collection[str]] = {
    "SIMILARITIES": SIMILARITIES,
    "VALUES": VALUES,
    "FIXED": FIXED,
    "POOLING": POOLING,
    "COIN_FUSIONS": COIN_FUSIONS,
    "COIN_POOLINGS": POOLINGS,
    "QA_SIMILARITIES": QA_SIMILARITIES,
    "OUTPUTS": OUTPUTS,
    "FUSIONS": FUSIONS,
    "ACTIVATIONS": ACTIVATIONS,
    "SCALES": SCALES,
    "MASKS": MASKS,
}


@pytest.mark.parametrize("name", TABLES)
def test_names_are_those_of_the_table(name: str) -> None:
    assert getattr(names, name) == tuple(TABLES[name])


def test_every_list_of_names_has_its_table() -> None:
    assert {name for name in vars(names) if name.isupper()} == set(TABLES)


def test_mechanisms_are_those_of_the_tables() -> None:
    assert tuple(MECHANISMS) == TAN_MECHANISMS
    assert tuple(BLOCKS) == laboratory.BLOCKS
    assert set(SYSTEMS) < set(reader.ReaderConfig.model_fields["mechanism"].annotation.__args__)
