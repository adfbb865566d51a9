"""Two models of other families side by side: the special tokens of each stand between the same texts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tiny_transformers import make
from triattn_core.scenes.trace_pair import GAPS, OTHER_TOKENS, TraceSide, build_pair
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.trace.site import Site

A, B = "Which browsers can play movies?", "Which browser can download  unhappy movies? "
SITE = Site(layer=1, role="attention")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {family: load_transformer(str(make(family, root / family))) for family in ("bert", "roberta", "gpt2")}


def sides(models, *families, pair=B):
    return [TraceSide(family, trace_transformer(models[family], A, pair), SITE, 2) for family in families]


@pytest.mark.parametrize("pair", [None, B], ids=["text", "pair"])
@pytest.mark.parametrize("other", ["roberta", "gpt2"])
def test_families_are_compared_on_a_text_and_on_a_pair(other, pair, models):
    left, right = sides(models, "bert", other, pair=pair)
    compared = build_pair(left, right)
    assert compared.notes == (OTHER_TOKENS, *(() if other == "roberta" else (GAPS,)))
    assert "for each of bert, " + other in compared.screen.alt
    maps = [panel.weights for panel in compared.panels]
    drawn = [str(token) for token in maps[0]["key_token"].values[maps[0]["key_special"].values == 0]]
    assert "".join(drawn) == (A + (pair or "")).replace(" ", "")
    for side, array in zip((left, right), maps):
        site = side.trace.site(f"{SITE}/weight")
        special = site["key_special"].values == 1
        kept = maps[0]["key_special"].values == 0
        whole = site.values[2].astype(np.float64)
        present = ~np.isnan(array.values).all(1)
        np.testing.assert_allclose(np.nansum(array.values, 1)[present], 1, atol=1e-5)
        # of the first word, all mass on words and all on special tokens is the model's own
        row = whole[int(np.flatnonzero(~special)[0])]
        at = int(np.flatnonzero(kept)[0])
        np.testing.assert_allclose(np.nansum(array.values[at][kept]), row[~special].sum(), atol=1e-6)


def test_special_tokens_of_one_place_are_one_part(models):
    compared = build_pair(*sides(models, "bert", "roberta"))
    first, second = (panel.weights for panel in compared.panels)
    specials = np.flatnonzero(first["key_special"].values == 1)
    assert first["key_token"].values[specials].tolist() == ["[CLS] or <s>", "[SEP] or </s></s>", "[SEP] or </s>"]
    assert specials.tolist() == [0, 9, first.sizes["key"] - 1]
    site = trace_transformer(models["roberta"], A, B).site(f"{SITE}/weight").values[2]
    np.testing.assert_allclose(second.values[0, 9], site[0, 9:11].sum(), atol=1e-6)
    np.testing.assert_allclose(second.values[9, 0], site[9:11, 0].mean(), atol=1e-6)


def test_what_a_model_lacks_is_a_gap(models):
    first, second = (panel.weights for panel in build_pair(*sides(models, "bert", "gpt2")).panels)
    special = first["key_special"].values == 1
    assert special.sum() == 3 and np.isnan(second.values[:, special]).all() and np.isnan(second.values[special]).all()
    assert not np.isnan(first.values).any() and not np.isnan(second.values[np.ix_(~special, ~special)]).any()
