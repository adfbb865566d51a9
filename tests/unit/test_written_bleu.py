"""BLEU of what translation models of others write, against a loop of passes by hand and sacrebleu itself."""

from __future__ import annotations

import json

import pytest
import torch

from tests.support.tiny_transformers import make_type
from triattn_core.__main__ import main
from triattn_core.sources.transformer import load_transformer

SOURCES = ("unhappy cats sat on mats", "which browser can play movies?", "cats on mats")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two translators of other weights, and rows of a file: the first and third as the first translator writes them,
    the second as the other does."""
    root = tmp_path_factory.mktemp("translators")
    for name, seed in (("one", 7), ("two", 5)):
        make_type("marian", root / name, "MarianMTModel")
        model = load_transformer(str(root / name)).model
        draw = torch.Generator().manual_seed(seed)
        for weight in model.parameters():
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.5, generator=draw)
        for norm in filter(lambda module: isinstance(module, torch.nn.LayerNorm), model.modules()):
            torch.nn.init.ones_(norm.weight)
        model.save_pretrained(root / name)
    names = [str(root / "one"), str(root / "two")]
    texts = [written_by_hand(names[i], source) for i, source in zip((0, 1, 0), SOURCES)]
    rows = [
        {"source": SOURCES[0], "target": f"{texts[0]} cats"},
        {"source": SOURCES[1], "target": "a movie", "references": ["a movie", f"{texts[1]} mats"]},
        {"source": SOURCES[2], "target": texts[2]},
    ]
    file = root / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return names, rows, file


def written_by_hand(folder: str, source: str) -> str:
    """The likeliest token, one after another, at most twice those of the source and ten."""
    loaded = load_transformer(folder)
    inputs = loaded.tokenizer(source, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    ids, end = [loaded.model.config.decoder_start_token_id], loaded.model.config.eos_token_id
    for _ in range(min(2 * inputs["input_ids"].shape[1] + 10, loaded.longest)):
        with torch.no_grad():
            scores = loaded.model(**inputs, decoder_input_ids=torch.tensor([ids])).logits[0, -1]
        ids.append(int(scores.argmax()))
        if ids[-1] == end:
            break
    return loaded.tokenizer.decode(ids[1:], skip_special_tokens=True).strip()


def test_two_translators_have_their_bleu_and_its_test(folders, capsys):
    sacrebleu = pytest.importorskip("sacrebleu")
    names, rows, file = folders
    assert main(["evaluate", *names, str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    by_hand = []
    for model, name in zip(printed["models"], names):
        texts = [written_by_hand(name, source) for source in SOURCES]
        columns = [[row["target"] for row in rows], [None, rows[1]["references"][1], None]]
        by_hand.append(sacrebleu.corpus_bleu(texts, columns).score)
        assert model["bleu"] == pytest.approx(by_hand[-1], abs=0.01)
    (difference,) = printed["differences"]
    found = difference["bleu"]
    assert found["points"] == pytest.approx(by_hand[1] - by_hand[0], abs=0.011) and by_hand[0] != by_hand[1]
    assert found["low"] <= found["points"] <= found["high"] and 1 / 8 <= found["p"] <= 1  # of 8 swaps of three rows
    assert main(["evaluate", *names, str(file)]) == 0
    lines = capsys.readouterr().out
    assert f"BLEU {printed['models'][0]['bleu']}" in lines
    assert f"{found['points']:+.2f} BLEU (95 % " in lines and "(approximate randomisation)" in lines


def test_one_translator_has_its_bleu_beside_its_next_words(folders, capsys):
    pytest.importorskip("sacrebleu")
    names, _, file = folders
    assert main(["evaluate", names[0], str(file)]) == 0
    assert "next words" in (line := capsys.readouterr().out) and "  BLEU " in line
