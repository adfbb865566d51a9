"""How right decoders, translators and modules of one's own are about rows: against loops and hooks written by hand."""

from __future__ import annotations

import json
from math import comb

import numpy as np
import pytest
import torch
import transformers

from tests.support.small_tokenizers import gpt2
from tests.support.tiny_transformers import make, make_type, word_pieces
from tests.unit.test_own_module_source import DECODER, weights_by_hand
from triattn_core.__main__ import main
from triattn_core.analysis.significance import MCNEMAR, SIGN_FLIP, mcnemar, paired_p, sign_flip
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.row_answers import ask_row, trace_row
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_worth import measure_score, measure_worth, without_heads
from triattn_core.sources.weight_change import WeightChange

TEXTS = ["Which browsers can play movies?", "unhappy cats sat on mats"]


def spread_out(model):
    """Weights with which a head matters."""
    draw = torch.Generator().manual_seed(4)
    for name, weight in model.named_parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.3, generator=draw)
        elif name.endswith("weight"):
            torch.nn.init.ones_(weight)


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    model = load_transformer(str(make("gpt2", tmp_path_factory.mktemp("decoders") / "gpt2")), "cpu")
    spread_out(model.model)
    return model


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    folder = make_type("marian", tmp_path_factory.mktemp("translators") / "marian", "MarianMTModel")
    model = load_transformer(str(folder), "cpu")
    spread_out(model.model)
    return model


def score_by_hand(logits, ids):
    """Of logits [n, words] and the word that each is asked for: the share that is right, and the mean log p."""
    right = [int(row.argmax()) == word for row, word in zip(logits, ids)]
    odds = [float(row.double()[word] - row.double().logsumexp(0)) for row, word in zip(logits, ids)]
    return np.mean(right), np.mean(odds)


def test_a_decoder_is_asked_for_each_next_token(decoder):
    row = TextRow((TEXTS[0],))
    ids = decoder.tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = decoder.model(ids).logits[0]
    asked = ask_row(decoder, row)
    found = asked.score(asked.asked.run())[0]
    np.testing.assert_allclose(found, score_by_hand(logits[:-1], ids[0, 1:].tolist()), atol=1e-5)
    with pytest.raises(DataError, match="no next word"):
        ask_row(decoder, TextRow(("a",)))


def test_even_weights_and_a_head_that_is_off_are_those_of_hooks_by_hand(decoder):
    """GPT-2's attention computed again from what its projection returns, in one layer with other weights."""
    row, model = TextRow((TEXTS[1],)), decoder.model
    ids = decoder.tokenizer(TEXTS[1], return_tensors="pt")["input_ids"]
    n, heads = ids.shape[1], model.config.n_head

    def run(layer, head, becomes):
        block, kept = model.transformer.h[layer].attn, {}
        keep = block.c_attn.register_forward_hook(lambda module, args, output: kept.update(qkv=output))

        def again(module, args):
            parts = kept["qkv"][0].chunk(3, -1)
            query, key, value = (part.unflatten(-1, (heads, -1)).transpose(0, 1) for part in parts)
            mixed = []
            for number in range(heads):
                rows = torch.zeros(n, n)
                for i in range(n):
                    scores = key[number, : i + 1] @ query[number, i] / query.shape[-1] ** 0.5
                    rows[i, : i + 1] = scores.softmax(0)
                    if number == head:
                        rows[i, : i + 1] = 1 / (i + 1) if becomes == "even" else 0
                mixed.append(rows @ value[number])
            return (torch.cat(mixed, -1)[None], *args[1:])

        change = block.c_proj.register_forward_pre_hook(again)
        try:
            with torch.no_grad():
                return model(ids, use_cache=False).logits[0]
        finally:
            keep.remove(), change.remove()

    places = [(f"layer.{layer}/attention/weight", head) for layer in range(3) for head in (0, 3)]
    table = without_heads(decoder, row, places)
    even = ask_row(decoder, row).under([WeightChange("even", (place,)) for place in places])
    for number, (site, head) in enumerate(places):
        right, odds = score_by_hand(run(int(site[6]), head, "off")[:-1], ids[0, 1:].tolist())
        own_right, own_odds = score_by_hand(run(int(site[6]), None, "")[:-1], ids[0, 1:].tolist())
        found = table.iloc[number]
        np.testing.assert_allclose([found["right"], found["own"]], [right, own_right], atol=1e-6)
        np.testing.assert_allclose(found["change"], odds - own_odds, atol=1e-4)
        by_hand = score_by_hand(run(int(site[6]), head, "even")[:-1], ids[0, 1:].tolist())
        np.testing.assert_allclose(even[1 + number], by_hand, atol=1e-4)
        assert abs(found["change"]) > 1e-3


def test_a_translator_is_asked_for_its_target(translator):
    source, target = TEXTS
    row, start = TextRow((source, target)), translator.model.config.decoder_start_token_id
    ids = translator.tokenizer(text_target=target)["input_ids"]
    inputs = translator.tokenizer(source, return_tensors="pt")
    given = torch.tensor([[start, *ids[:-1]]])
    with torch.no_grad():
        logits = translator.model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], decoder_input_ids=given
        ).logits[0]
    asked = ask_row(translator, row)
    np.testing.assert_allclose(asked.score(asked.asked.run())[0], score_by_hand(logits, ids), atol=1e-5)
    cross = trace_row(translator, row).site("layer.0/cross/weight")
    assert cross.sizes["query"] == len(ids) and cross.sizes["key"] == inputs["input_ids"].shape[1]
    with pytest.raises(DataError, match="no target"):
        ask_row(translator, TextRow((source,)))


def test_each_head_of_a_translator_off_is_the_same_by_either_way(translator):
    row = TextRow(tuple(TEXTS))
    sites = ["layer.0/encoder/weight", "layer.1/decoder/weight", "layer.2/cross/weight"]
    places = [(site, head) for site in sites for head in (0, 1)]
    table = without_heads(translator, row, places)
    asked = ask_row(translator, row)
    again = asked.under([WeightChange("off", (place,)) for place in places])
    np.testing.assert_allclose(table["change"], (again[1:, 1] - again[0, 1]).numpy(), atol=1e-4)
    np.testing.assert_allclose(table["right"], again[1:, 0].numpy(), atol=1e-6)
    assert table["change"].abs().min() > 1e-5


def test_a_module_of_ones_own_is_asked_for_words_or_a_label(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(DECODER.replace("return Decoder(), encode, WORDS", "return Decoder(), encode, WORDS + RARE")
                    .replace('WORDS = "', 'RARE = [str(i) for i in range(20)]\nWORDS = "')
                    .replace("len(WORDS), 8", "len(WORDS) + 20, 8"))  # fmt: skip
    own = OwnModule.of(f"{file}:build")
    text = "the old cat sat on a"
    asked = ask_row(own, TextRow((text,)))
    ids = own.inputs(text)[0]
    rows = [weights_by_hand(own.module, ids[:, :end])[0] for end in range(1, ids.shape[1])]
    found = asked.score(asked.asked.run())[0]
    np.testing.assert_allclose(found, score_by_hand(torch.stack(rows), ids[0, 1:].tolist()), atol=1e-5)
    off = without_heads(own, TextRow((text,)), [("layer.0/attention/weight", 0), ("layer.1/attention/weight", 1)])
    assert off["change"].abs().min() > 1e-4
    label = OwnModule.of(f"{_labelled(file)}:build")
    best = int(weights_by_hand(label.module, label.inputs(text)[0])[0].argmax())
    report = measure_score(label, [(1, TextRow((text,), label.names[best])), (2, TextRow((text,), (best + 1) % 8))])
    assert report["metric"] == "accuracy" and report["rows"] == {1: 1.0, 2: 0.0}
    with pytest.raises(DataError, match="label 'no such': expected one of the, old"):
        ask_row(label, TextRow((text,), "no such"))


def _labelled(file):
    path = file.with_name("labelled.py")
    path.write_text(DECODER)
    return path


def test_the_report_of_a_decoder(decoder, tmp_path, capsys):
    rows = [(i, TextRow((text,))) for i, text in enumerate(TEXTS)]
    report = measure_worth(decoder, [*rows, (5, TextRow(("a",)))])
    assert (report["metric"], report["n"], len(report["heads"])) == ("next words right", 2, 12)
    assert "no next word" in report["aside"][0]
    shares = [ask_row(decoder, row).under([WeightChange("even")])[:, 0].numpy() for _, row in rows]
    assert report["score"] == round(100 * np.mean([own for own, _ in shares]), 2)
    assert report["reliance"]["even"]["score"] == round(100 * np.mean([even for _, even in shares]), 2)


def test_the_command_takes_files_and_two_models(tmp_path, capsys):
    for name, seed in (("one", 5), ("two", 7)):
        (tmp_path / f"{name}.py").write_text(DECODER.replace("manual_seed(5)", f"manual_seed({seed})"))
    rows = tmp_path / "rows.jsonl"
    labelled = [("the old cat", "sat"), ("the cat sat", "on"), ("a mat", "today"), ("the old mat", 3)]
    rows.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in labelled))
    one, two = (f"{tmp_path / name}.py:build" for name in ("one", "two"))
    assert main(["evaluate", one, str(rows), "--attention", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["metric"] == "accuracy" and len(report["heads"]) == 4 and set(report["reliance"]) > {"even"}
    assert main(["evaluate", one, two, str(rows), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    right = [model["rows"] for model in found["models"]]
    (difference,) = found["differences"]
    expected = 100 * np.mean([right[1][line] - right[0][line] for line in right[0]])
    assert difference["points"] == round(expected, 2) and difference["test"] == MCNEMAR
    assert main(["evaluate", one, two, str(rows)]) == 0
    assert "more right in" in capsys.readouterr().out
    assert main(["evaluate", one, "quora-tri-living", str(rows)]) == 1
    assert "triattn cases" in capsys.readouterr().err


def test_flipped_signs_are_mcnemar_where_a_row_is_right_or_wrong():
    a, b = np.array([1, 1, 1, 1, 1, 0, 1, 0]), np.array([0, 0, 0, 0, 0, 1, 1, 0])
    (test,) = mcnemar(["a", "b"], [a.astype(bool), b.astype(bool)])
    assert sign_flip(b - a) == pytest.approx(test.p) == pytest.approx(2 * (1 + comb(6, 1)) / 2**6)
    assert paired_p(a, b) == (test.p, MCNEMAR) and paired_p(a / 2, b)[1] == SIGN_FLIP
    draws = np.random.default_rng(1).normal(0.5, 1, 40)
    exact = [abs((draws[:10] * np.array([1 - 2 * (n >> i & 1) for i in range(10)])).sum()) for n in range(1024)]
    assert sign_flip(draws[:10]) == pytest.approx(np.mean(np.array(exact) >= abs(draws[:10].sum()) - 1e-12))
    assert sign_flip(draws) < 0.05 < sign_flip(draws - draws.mean()) and sign_flip([0, 0]) == 1.0


def test_a_module_of_ones_own_stands_in_a_table_of_cases(tmp_path):
    from triattn_core.analysis.mining.other_answers import OtherModel, answer_columns
    from triattn_core.errors import ConfigError
    from triattn_core.tasks import TASKS
    from triattn_core.tasks.pairs import Example

    file = tmp_path / "mine.py"
    built = DECODER.replace("return Decoder(), encode, WORDS", "return TwoLabels(), encode, ['no', 'yes']")
    file.write_text(built + TWO)
    own = OwnModule.of(f"{file}:build")
    model = OtherModel(own, "mine", "", TASKS["pairs"], "en")
    model.check()
    examples = [Example("the old cat", "a mat", label=label) for label in (0, 1)]
    with torch.no_grad():
        shares = own.module(own.inputs("the old cat")[0])[0].double().softmax(-1)
    found, best = answer_columns(model, examples), int(shares.argmax())
    assert found["mine right"] == [best == 0, best == 1] and model.tokens(examples[0]) == 3
    np.testing.assert_allclose(model.probabilities(examples)[0], shares, atol=1e-6)
    with pytest.raises(ConfigError, match="mine predicts 8 labels"):
        OtherModel(OwnModule.of(f"{_labelled(file)}:build"), "mine", "", TASKS["pairs"], "en").check()


TWO = '''

class TwoLabels(Decoder):
    """Two scores of a text."""

    def forward(self, ids):
        return super().forward(ids).mean(1)[:, :2]
'''


def test_a_masked_word_is_asked_for(tmp_path):
    model = load_transformer(str(make("bert", tmp_path / "masked", masked=True)), "cpu")
    text = "Which [MASK] can play movies?"
    inputs = model.tokenizer(text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(model.tokenizer.mask_token_id)
    with torch.no_grad():
        logits = model.model(**inputs).logits[0, place]
    best = model.tokenizer.convert_ids_to_tokens(int(logits.argmax()))
    word = next(word for word in ("on", "sat", "cats", "a", "can") if len(model.tokenizer.tokenize(word)) == 1)
    asked = ask_row(model, TextRow((text,), word))
    number = model.tokenizer.convert_tokens_to_ids(word)
    np.testing.assert_allclose(asked.score(asked.asked.run())[0], score_by_hand(logits[None], [number]), atol=1e-5)
    report = measure_worth(
        model, [(1, TextRow((text,), best)), (2, TextRow((text,), word)), (3, TextRow(("a cat",), word))]
    )
    assert (report["metric"], report["n"]) == ("masked words right", 2)
    assert report["score"] == 50 * (1 + (best == word)) and "write [MASK] in its place" in report["aside"][0]
    with pytest.raises(DataError, match="no one token"):
        ask_row(model, TextRow((text,), "browsers movies"))


@pytest.mark.parametrize(
    ("text", "word", "token"),
    [
        ("in <mask> x", "cat", "Ġcat"),
        ("in <mask> x", " cat", "Ġcat"),
        ("in (<mask>) x", "at", "at"),
        ("<mask> x", "at", "at"),
        ("<mask> x", "cat", None),  # two pieces where no space stands before it
        ("in <mask> x", "at", None),
    ],
)
def test_a_masked_word_is_the_token_that_it_is_in_its_place(tmp_path, text, word, token):
    tokenizer = gpt2(("<s>", "<unk>"))
    tokenizer.add_special_tokens({"mask_token": transformers.AddedToken("<mask>", lstrip=True), "unk_token": "<unk>"})
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": 70, "num_hidden_layers": 1, "hidden_size": 8}
    config = transformers.RobertaConfig(**sizes, num_attention_heads=2, intermediate_size=8)
    transformers.RobertaForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model, row = load_transformer(str(tmp_path), "cpu"), TextRow((text,), word)
    if token is None:
        with pytest.raises(DataError, match="no one token of .* there"):
            ask_row(model, row)
    else:
        assert ask_row(model, row).right.tolist() == [tokenizer.convert_tokens_to_ids(token)]


def test_a_classifier_of_several_labels_at_once_is_refused(tmp_path, capsys):
    sizes = {"vocab_size": 300, "hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 8}
    several = {"num_attention_heads": 2, "num_labels": 3, "problem_type": "multi_label_classification"}
    model = transformers.BertForSequenceClassification(transformers.BertConfig(**sizes, **several))
    model.save_pretrained(tmp_path)
    word_pieces().save_pretrained(tmp_path)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "the cat sat", "label": 0}')
    for options in ([], ["--attention"]):
        assert main(["evaluate", str(tmp_path), str(rows), *options]) == 1
        assert "answers yes or no to each label" in capsys.readouterr().err
