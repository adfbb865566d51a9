"""The links of the guided studies: each opens the page just so."""

from __future__ import annotations

import pytest

from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import laboratory_checkpoints, list_checkpoints
from triattn_core.studies import studies


@pytest.mark.parametrize("name", list(studies()))
def test_nothing_of_the_link_is_in_vain(name):
    study = studies()[name]
    here = {card.name for card in (*list_checkpoints(), *laboratory_checkpoints()) if card.problem is None}
    if not {*study.checkpoints} <= here:
        pytest.skip("not trained")
    said = texts(sound(opened(study.page, **study.opens)))
    assert "The link asks for" not in said and "Shown instead" not in said
