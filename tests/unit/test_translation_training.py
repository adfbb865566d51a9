"""A translation model from end to end: trained on a few rows, measured, verified and explained by the command line."""

from __future__ import annotations

import json
import random
import re
import sys
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.oracles import translation as oracle
from triattn_core.__main__ import main
from triattn_core.analysis.maps.alignment_error import measure_alignment_error
from triattn_core.analysis.maps.translation_reliance import measure_translation_reliance
from triattn_core.analysis.maps.word_links import (
    traced_links,
)
from triattn_core.attention.tap import recording
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import SHIPPED
from triattn_core.errors import DataError, InputError
from triattn_core.inference.explain import explain
from triattn_core.inference.predict import predict
from triattn_core.inference.predictions import Candidate, Translation
from triattn_core.models.translation import padded
from triattn_core.tasks import translation
from triattn_core.tasks.training_words import read_sources
from triattn_core.training.model_card import seed_text

WORDS = {"red": "rot", "old": "alt", "big": "gross", "dog": "hund", "cat": "katze", "house": "haus", "tree": "baum"}
MODEL = {
    "mechanism": "mtsa",
    "out": 32,
    "heads": 2,
    "layers": 1,
    "feed_forward": 32,
    "scale_t": "identity",
    "keep": 1.0,
}


def row(draw: random.Random) -> dict:
    """Word for word: the alignment is known."""
    words = draw.choices(list(WORDS), k=draw.randint(2, 5))
    target = " ".join(WORDS[word] for word in words)
    return {"source": " ".join(words), "target": target, "sure": [[i, i] for i in range(len(words))], "possible": []}


def expected_errors(bundle, rows) -> list[float]:
    """Of each head and their mean; a word of these rows may be many pieces."""
    links: dict[int, list] = {}
    for example in rows:
        source, target = bundle.tokenizer.encode([example.source, example.label[0]], 99)
        given = padded([source.ids], 0), padded([(bundle.tokenizer.start, *target.ids)], 0)
        with recording(lambda site: str(site) == "cross/layer.0/weight") as record, torch.inference_mode():
            bundle.model(*given)
        ((heads,),) = (tapped.tensor for tapped in record.sites.values())
        of_source, of_target = (
            [text[:end].count(" ") for _, end in tokens.spans]
            for text, tokens in ((example.source, source), (example.label[0], target))
        )
        for number, weights in enumerate([*heads.numpy(), heads.mean(0).numpy()]):
            found = set()
            for word in range(len(example.sure)):
                row = np.mean([weights[i] for i, owner in enumerate(of_target) if owner == word], 0)
                found.add((int(np.bincount(of_source, weights=row).argmax()), word))
            links.setdefault(number, []).append((found, set(example.sure), set()))
    return [round(100 * oracle.alignment_error(links[number]), 2) for number in range(3)]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    pytest.importorskip("sacrebleu")
    root = tmp_path_factory.mktemp("world")
    for seed, (name, size) in enumerate({"train": 240, "dev": 20, "test": 12}.items()):
        draw = random.Random(seed)
        path = root / "data" / "small" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row(draw)) + "\n" for _ in range(size)), "utf-8")
    config = {"format": 1, "kind": "translation", "task": "translation", "language": "en", "target_language": "de"}
    config |= {"model": MODEL, "training": {"epochs": 20, "rate": 0.01, "batch": 16, "smoothing": 0.0}}
    config["data"] = {"train": ["small/train"], "dev": "small/dev", "test": "small/test", "sub_words": 300}
    folder = root / "checkpoints" / "small-translation"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    patch = pytest.MonkeyPatch()
    patch.setenv("TRIATTN_CHECKPOINTS", str(root / "checkpoints"))
    patch.setenv("TRIATTN_DEVICE", "cpu")
    command = ["train", str(folder / "config.json"), "--data", str(root / "data"), "--runs", str(root / "runs")]
    assert main(command) == 0
    yield root
    patch.undo()


def test_it_learns_and_is_recorded(world):
    metrics = json.loads((world / "checkpoints" / "small-translation" / "metrics.json").read_text("utf-8"))
    assert metrics["test"]["exact"] > 50 and metrics["dev"]["bleu"] > 60 > 10 > metrics["test"]["chance"]
    assert main(["verify", "small-translation"]) == 0
    sources = read_sources(world / "checkpoints" / "small-translation")
    assert sources is not None and sources.words == set(WORDS) and sources.longest == 5


def test_its_trace_has_the_tokens_of_source_and_target(world):
    bundle = load("small-translation")
    prediction, trace = explain(bundle, translation.Example("old big dog"))
    assert prediction.labels[0] == trace.texts["target"] and len(prediction.labels) == 4
    assert prediction.candidates[0].score >= prediction.candidates[-1].score
    cross, target = trace.sites["cross/layer.0/weight"], trace.sites["target/layer.0/weight"]
    assert cross.dims == target.dims == ("head", "query", "key")
    text = "".join(str(token).removeprefix("##") for token in cross["query_token"].values[:-1])
    assert text == prediction.labels[0].replace(" ", "") and cross["query_special"].values[-1] == 1
    assert "".join(str(token).removeprefix("##") for token in cross["key_token"].values) == "oldbigdog"
    assert list(target["key_token"].values[1:]) == list(target["query_token"].values[:-1])
    source = bundle.tokenizer.encode(["old big dog"], 99)[0]
    given = [padded([ids], 0) for ids in (source.ids, (bundle.tokenizer.start, *prediction.candidates[0].sub_words))]
    with recording(lambda site: str(site) == "cross/layer.0/weight") as record, torch.inference_mode():
        bundle.model(*given)
    (passed,) = record.sites.values()
    np.testing.assert_allclose(cross, passed.tensor[0], atol=1e-6)
    np.testing.assert_allclose(cross.sum("key"), 1.0, atol=1e-5)
    assert any(site.is_under("source/layer.0/token2token") for site in trace.sites)


def test_each_word_of_a_trace_has_its_link(world):
    bundle = load("small-translation")
    _, trace = explain(bundle, translation.Example("old big dog"))
    source, target = trace.texts["source"].split(), trace.texts["target"].split()
    for head in (0, 1, None):
        links, unread = traced_links(trace, 0, head)
        assert [link.target for link in links] == target
        assert set(unread) == set(source) - {link.sources[0][0] for link in links}
        weights = trace.sites["cross/layer.0/weight"].values[:, :-1]  # without the end mark
        map_ = weights.mean(0) if head is None else weights[head]
        of_source, of_target = (
            [trace.texts[text][: start + 1].count(" ") for start in starts.tolist()]
            for text, starts in (
                ("source", trace.sites["cross/layer.0/weight"]["key_start"].values),
                ("target", trace.sites["cross/layer.0/weight"]["query_start"].values[:-1]),
            )
        )
        for number, link in enumerate(links):
            row = np.mean([map_[i] for i, owner in enumerate(of_target) if owner == number], 0)
            by_word = np.bincount(of_source, weights=row)
            first, second = np.argsort(-by_word)[:2]
            named = [first, second] if by_word[second] >= 0.5 * by_word[first] else [first]
            assert [word for word, _ in link.sources] == [source[i] for i in named]
            assert [weight for _, weight in link.sources] == pytest.approx(by_word[named], rel=1e-5)


def test_sentences_searched_together_are_translated_as_alone(world):
    bundle = load("small-translation")
    rows = list(translation.read(world / "data" / "small" / "test.jsonl"))
    (together,) = predict([bundle], rows)
    with replacing(lambda site, weights, keeps: weights):  # the decoder then reads each prefix whole
        (whole,) = predict([bundle], rows)
    assert [[one.text for one in found] for found in whole] == [[one.text for one in found] for found in together]
    scores = [[one.score for found in answers for one in found] for answers in (together, whole)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4) and len(scores[0]) > 40
    for example, found in zip(rows, together, strict=True):
        ((alone,),) = predict([bundle], [example])
        assert [one.text for one in found] == [one.text for one in alone]
        assert [one.score for one in found] == pytest.approx([one.score for one in alone], abs=1e-4)


def test_reliance_is_what_even_weights_cost_in_each_place(world):
    """Queries and scores of zero are as relevant to all keys: set in the weights, not by replacing anything."""
    rows = list(translation.read(world / "data" / "small" / "test.jsonl"))
    report = measure_translation_reliance(load("small-translation"), rows)
    own = bleu(load("small-translation"), rows)
    assert report["metric"] == "bleu" and report["score"] == own > 50 and report["n"] == 12
    places = {
        "even": lambda model: (model.encoder[0].attention.query, model.encoder[0].attention.source2token.second),
        "even_cross-attention": lambda model: (model.decoder[0].cross.query,),
        "even_decoder": lambda model: (model.decoder[0].attention.query,),
    }
    assert set(report["reliance"]) == set(places)
    for name, layers in places.items():
        bundle = load("small-translation")
        bundle = replace(bundle, model=deepcopy(bundle.model))
        with torch.no_grad():
            for parameter in (one for layer in layers(bundle.model) for one in layer.parameters()):
                parameter.zero_()
        lost = report["reliance"][name]
        assert lost["points"] == pytest.approx(own - bleu(bundle, rows), abs=0.011)
        assert lost["low"] <= lost["points"] <= lost["high"]
    assert report["reliance"]["even_cross-attention"]["points"] > 20 > report["reliance"]["even_decoder"]["p"]


def bleu(bundle, rows) -> float:
    """Of the best candidates, each sentence alone."""
    found = [predict([bundle], [example])[0][0][0].text for example in rows]
    return round(translation.corpus_bleu(found, [example.label for example in rows]), 2)


def test_each_measure_is_recorded_with_its_rows(world, capsys):
    """Rows with alignments say how heads align, those without how much BLEU relies on weights; neither replaces the
    other in metrics.json."""
    folder = world / "data" / "small"
    rows = [json.loads(line) for line in (folder / "test.jsonl").read_text("utf-8").splitlines()]
    plain = ({name: one[name] for name in ("source", "target")} for one in rows)
    (folder / "plain.jsonl").write_text("".join(json.dumps(one) + "\n" for one in plain), "utf-8")
    for name in ("test", "plain"):
        assert main(["evaluate", "small-translation", str(folder / f"{name}.jsonl"), "--attention", "--record"]) == 0
    assert "reliance, even cross-attention: +" in capsys.readouterr().out
    metrics = json.loads((world / "checkpoints" / "small-translation" / "metrics.json").read_text("utf-8"))
    attention, aligned = metrics["attention"], metrics["word_alignment"]
    assert attention["set"] == "small/plain" and aligned["set"] == "small/test" and aligned["n"] == 12
    assert set(attention) == {"n", "metric", "score", "reliance", "worth", "set"} and attention["worth"] == {}


def test_heads_are_measured_against_alignments(world, capsys):
    bundle = load("small-translation")
    rows = list(translation.read(world / "data" / "small" / "test.jsonl"))
    report = measure_alignment_error(bundle, rows)
    assert {one["head"] for one in report["heads"]} == {0, 1, None} and report["n"] == 12
    assert report["words"] == pytest.approx(np.mean([len(one.source.split()) for one in rows]), abs=0.05)
    assert report["lower_case"] is True
    assert report["baselines"]["diagonal"] == 0.0 < report["baselines"]["even"]  # word for word
    assert min(row["aer"] for row in report["heads"]) < report["baselines"]["even"]
    assert [row["aer"] for row in report["heads"]] == expected_errors(bundle, rows)
    for one in report["heads"]:
        gain, low, high = one["less_diagonal"]
        assert gain == pytest.approx(one["aer"], abs=0.01) and low <= gain <= high  # the diagonal has 0
    capsys.readouterr()
    assert main(["evaluate", "small-translation", str(world / "data" / "small" / "test.jsonl"), "--attention"]) == 0
    printed = capsys.readouterr().out
    assert "alignment error rate, layer 1 mean of heads: " in printed and "less the diagonal +" in printed
    with pytest.raises(InputError, match="no row has alignments"):
        measure_alignment_error(bundle, [translation.Example("a dog", ("ein hund",))])


def test_links_of_words_that_are_not_there_are_counted_and_said(world, tmp_path, capsys):
    rows = list(translation.read(world / "data" / "small" / "test.jsonl"))
    beyond = replace(rows[0], sure=(*rows[0].sure, (0, 99)), possible=((99, 0), (0, 99)))
    report, changed = (measure_alignment_error(load("small-translation"), some) for some in (rows, [beyond, *rows[1:]]))
    assert changed == report | {"unread": 2}
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(translation.row(one)) + "\n" for one in [beyond]))
    assert main(["evaluate", "small-translation", str(tmp_path / "rows.jsonl"), "--attention"]) == 0
    assert "word alignments of 1 rows; left out: 2 links of words that are not there" in capsys.readouterr().out


def test_explain_prints_log_p(world, tmp_path, capsys):
    (tmp_path / "row.json").write_text('{"source": "old big dog"}')
    assert main(["explain", "small-translation", str(tmp_path / "row.json")]) == 0
    prediction, _ = explain(load("small-translation"), translation.Example("old big dog"))
    printed = capsys.readouterr().out.splitlines()
    for one, line in zip(prediction.candidates, printed):
        assert line == f"log p {one.log_probability:.2f}  score {one.score:.2f}  {one.text}"


def test_a_translation_that_stopped_at_its_limit_is_said(world, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("triattn_core.inference.translate.RATIO", 0)
    monkeypatch.setattr("triattn_core.inference.translate.LONGER", 2)
    (tmp_path / "row.json").write_text('{"source": "old big dog red cat"}')
    assert main(["explain", "small-translation", str(tmp_path / "row.json")]) == 0
    printed = capsys.readouterr().out
    assert "stopped at 2 tokens, the most that the model writes for this source: the end is missing." in printed
    assert re.search(r"^log p .+ …$", printed, re.MULTILINE)


def test_the_candidates_that_stopped_are_named() -> None:
    one, cut = Candidate("a", -1.0, -1.0, (5,) * 3), Candidate("b", -2.0, -2.0, (5,) * 9, ended=False)
    assert Translation.of([one, one]).notes == ()
    assert Translation.of([one, cut], notes=("x",)).notes[1].startswith("Candidate 2 stopped at 9 tokens")
    assert Translation.of([one, cut, cut]).notes[0].startswith("Candidates 2 and 3 stopped")
    assert Translation.of([cut, one]).notes[0].startswith("The translation stopped at 9 tokens")


def test_rows_that_cannot_be_read_are_named():
    with pytest.raises(DataError, match="'sure' must be a list of pairs"):
        translation.Example.from_row({"source": "a", "sure": [[1]]})
    with pytest.raises(InputError, match="empty"):
        translation.Example(" ").check()
    with pytest.raises(InputError, match="no word: there is nothing to translate"):
        translation.Example(" … ?!").check()


def test_bleu_is_asked_for_before_anything_is_trained(tmp_path, monkeypatch):
    from triattn_core.training.translation.trainer import train_translation

    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(InputError, match="pip install 'sacrebleu"):
        next(train_translation(None, tmp_path, tmp_path, tmp_path, False, None))
    assert not list(tmp_path.iterdir())


def test_bleu_is_asked_for_before_rows_are_translated(tmp_path, monkeypatch, capsys):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"source": "A dog.", "target": "Ein Hund."}\n')
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    monkeypatch.setattr("triattn_core.inference.evaluate.predictions", lambda *_: pytest.fail("rows are translated"))
    assert main(["evaluate", str(SHIPPED / "tatoeba/tatoeba-mtsa"), str(rows), "--attention"]) != 0
    assert "pip install 'sacrebleu" in capsys.readouterr().err


def test_a_standard_error_is_said_of_shares_of_rows_alone() -> None:
    """That of BLEU does not follow from the number of rows."""
    of_shares, of_bleu = (
        seed_text({"seed": 1, "test": {"set": "a", name: 50.0, "n": 100}}) for name in ("accuracy", "bleu")
    )
    assert "standard error of test accuracy is 5.00 points" in of_shares
    assert of_bleu.startswith("One seed (1)") and "error" not in of_bleu
