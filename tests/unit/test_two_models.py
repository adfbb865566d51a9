"""Two models of others over the same rows: against the models called by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.tiny_transformers import make
from tests.unit.test_own_module_source import DECODER
from triattn_core.analysis.significance import MCNEMAR, SIGN_FLIP
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.row_answers import ask_row
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.two_models import compare_rows, judge_row, measure_both

TEXTS = ["the old cat sat on a mat", "a mat sat today"]
MORE = DECODER.replace("WORDS = ", "RARE = [str(i) for i in range(20)]\nWORDS = ", 1)
WORDS = MORE.replace("encode, WORDS", "encode, WORDS + RARE").replace("len(WORDS), 8", "len(WORDS) + 20, 8")


def module(folder, name: str, code: str) -> OwnModule:
    file = folder / f"{name}.py"
    file.write_text(code, "utf-8")
    return OwnModule.of(f"{file}:build")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoders")
    return [module(folder, f"d{seed}", WORDS.replace("manual_seed(5)", f"manual_seed({seed})")) for seed in (5, 7)]


def test_each_next_word_is_judged_as_by_hand(pair):
    own, text = pair[0], TEXTS[0]
    with torch.no_grad():
        shares = own.module(own.inputs(text)[0])[0].softmax(-1)
    words = text.split()
    judged = judge_row(own, TextRow((text,)))
    assert [one.right for one in judged] == words[1:]
    for place, (word, one) in enumerate(zip(words[1:], judged)):
        assert one.said == own.names[int(shares[place].argmax())]
        np.testing.assert_allclose(one.said_probability, float(shares[place].max()), rtol=1e-5)
        np.testing.assert_allclose(one.probability, float(shares[place, own.names.index(word)]), rtol=1e-5)
    table = measure_both(pair, [(3, TextRow((text,)))])
    assert table["row"].tolist() == [3]
    assert table["asked a"].tolist() == table["asked b"].tolist() == [len(judged)]
    assert table["a"][0] == pytest.approx(np.mean([one.is_right for one in judged]))


def test_a_label_is_judged_once(tmp_path):
    model = load_transformer(str(make("bert", tmp_path / "labels")), "cpu")
    row = TextRow(("Which browsers can play movies?", "unhappy cats sat on mats"), "same")
    with torch.no_grad():
        shares = model.model(**model.tokenizer(*row.texts, return_tensors="pt")).logits[0].softmax(-1)
    (one,) = judge_row(model, row)
    assert one.right == "same" and one.said == model.model.config.id2label[int(shares.argmax())]
    assert one.probability == pytest.approx(float(shares[1]), rel=1e-5)


def test_a_module_without_an_axis_of_rows_is_asked_alike(pair, tmp_path):
    """Its scores are [words, answers]: the first axis is no axis of rows."""
    code = WORDS.replace("return x @ self.embed", "return x[0] @ self.embed")
    flat = module(tmp_path, "flat", code)
    for code, own in ((WORDS, pair[0]), (DECODER, module(tmp_path, "label", DECODER))):
        other = (
            flat if code == WORDS else module(tmp_path, "flat_label", DECODER.replace("return x @", "return x[0] @"))
        )
        row = TextRow((TEXTS[0],), "sat")
        expected, found = (asked.score(asked.asked.run()) for asked in (ask_row(own, row), ask_row(other, row)))
        assert found.shape == (1, 2)
        torch.testing.assert_close(found, expected)


def test_the_difference_is_of_the_rows_of_both():
    found = compare_rows({1: 0.5, 2: 1.0, 4: 0.25}, {1: 0.75, 2: 0.5, 3: 1.0, 4: 0.25})
    assert (found.rows, found.points, found.test) == (3, round(100 * (0.25 - 0.5) / 3, 2), SIGN_FLIP)
    assert found.more == ((2,), (1,))
    assert compare_rows({1: 1.0, 2: 0.0}, {1: 1.0, 2: 1.0}).test == MCNEMAR
    with pytest.raises(DataError, match="no row was asked of both"):
        compare_rows({1: 0.5}, {2: 0.5})
