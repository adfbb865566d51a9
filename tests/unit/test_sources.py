"""Sources: what each can do before it is loaded, and that all of them explain through the same door."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from tests.support.tiny_transformers import make
from triattn_core import draw, explain, sources, trace_of
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import VARIABLE, Entry, list_checkpoints, list_transformers, roots
from triattn_core.errors import CheckpointError, ConfigError, InputError, TraceError
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.checkpoint import CheckpointSource
from triattn_core.sources.file import FileSource, recorded_prediction
from triattn_core.sources.hugging_face import HuggingFaceSource
from triattn_core.sources.models import Models
from triattn_core.sources.source import OF_CLASSIFIERS, Ability, EntrySource, Source, lacks
from triattn_core.tasks.pairs import Example
from triattn_core.trace import AttentionTrace

A, B = "Which browsers can play movies?", "Which browser can download movies?"
PAIR = Example(A, B)
TWO_WAY = trace_of(np.random.default_rng(5).dirichlet(np.ones(5), 3), source="mine.npy")


@pytest.fixture
def small_bert(tmp_path, monkeypatch):
    """A random BERT in a folder among the roots of checkpoints."""
    make("bert", tmp_path / "mine" / "small-bert")
    monkeypatch.setenv(VARIABLE, f"{roots()[0]}:{tmp_path / 'mine'}")
    return tmp_path / "mine" / "small-bert"


def test_what_a_source_can_do_is_known_before_it_is_loaded(small_bert):
    tri, reader = (open_source(name) for name in ("quora-tri-living", "squad-dot"))
    bert, file = open_source(str(small_bert)), open_source(TWO_WAY)
    kinds = [type(source) for source in (tri, reader, bert, file)]
    assert kinds == [CheckpointSource, CheckpointSource, HuggingFaceSource, FileSource]
    assert all(isinstance(source, Source) for source in (tri, reader, bert, file))
    assert [source.title for source in (tri, bert, file)] == ["quora-tri-living", "small-bert", "mine.npy"]
    assert tri.abilities == OF_CLASSIFIERS and bert.abilities == OF_CLASSIFIERS and not file.abilities
    assert reader.abilities == {Ability.RUN, Ability.ROWS, Ability.SCORED}
    assert "context" in tri.axes and "context" not in bert.axes | file.axes and bert.axes == {"head", "query", "key"}
    assert all(len(source.digest) >= 16 for source in (tri, reader, bert, file))


def test_what_a_view_lacks_is_said_in_a_line(small_bert):
    bert = open_source(str(small_bert))
    assert lacks(bert, ("query", "key"), [Ability.RUN]) == ""
    assert lacks(bert, ("query", "context")) == "small-bert has no context axis"
    assert lacks(FileSource(TWO_WAY), (), [Ability.GRADIENTS]) == "mine.npy cannot give gradients"
    assert lacks(FileSource(TWO_WAY), (), [Ability.RUN]) == "mine.npy cannot be run on another example"


def test_a_file_shows_what_it_holds_and_nothing_else(tmp_path):
    TWO_WAY.save(tmp_path / "t.nc")
    prediction, trace = open_source(tmp_path / "t.nc").explain()
    np.testing.assert_array_equal(trace.site("attention/weight").values, TWO_WAY.site("attention/weight").values)
    assert prediction.labels == ("",) and prediction.probabilities == (0.0,)
    with pytest.raises(InputError, match="mine.npy is a file: it cannot be run on another example"):
        open_source(tmp_path / "t.nc").explain(PAIR)


def test_rows_between_two_texts_are_the_model_s_own(small_bert):
    tokenizer = transformers.AutoTokenizer.from_pretrained(small_bert)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(small_bert, attn_implementation="eager")
    inputs = tokenizer(A, B, return_tensors="pt")
    with torch.no_grad():
        outputs = model.eval()(**inputs, output_attentions=True)
    texts = np.array([-1 if text is None else text for text in inputs.sequence_ids(0)])
    prediction, trace = explain(small_bert, PAIR, device="cpu")
    for direction, asks in (("a_over_b", 0), ("b_over_a", 1)):
        for layer, attention in enumerate(outputs.attentions):
            site = trace.site(f"layer.{layer}/{direction}/weight")
            rows = attention[0].numpy()[:, texts == asks]
            keys = site.isel(key=site["key_role"].values == "key").values
            np.testing.assert_allclose(keys, rows[:, :, texts == 1 - asks], atol=1e-6)
            np.testing.assert_allclose(site.sum("key").values, 1, atol=1e-5)  # no weight is lost
    best = int(outputs.logits[0].argmax())
    assert prediction.labels[prediction.best] == model.config.id2label[best] and prediction.gold is None
    assert "layer.0/a_over_b/weight" not in explain(small_bert, A, device="cpu")[1].sites


def test_a_model_of_hugging_face_is_listed_beside_checkpoints_and_not_among_them(small_bert):
    (entry,) = list_transformers()
    assert entry.name == "small-bert" and entry.problem is None and entry.config["model"]["heads"] == 4
    assert "small-bert" not in {checkpoint.name for checkpoint in list_checkpoints()}
    before = entry.digest
    make("roberta", small_bert)
    assert list_transformers()[0].digest != before
    for file in small_bert.glob("*.safetensors"):
        file.unlink()
    with pytest.raises(CheckpointError, match="no weights"):
        find_entries(["small-bert"])


def test_it_stands_beside_a_checkpoint_of_ours(small_bert):
    side = draw("side_by_side", ["quora-tri-living", "small-bert"], PAIR)
    ours, theirs = side.comparison.panels if hasattr(side, "comparison") else side.explanations
    assert [explanation.entry.name for explanation in side.explanations] == ["quora-tri-living", "small-bert"]
    panels = side.figure.payload["panels"]
    assert [panel["title"] for panel in panels[:-1]] == ["Tri", "small-bert"] and panels[1][
        "note"
    ] == "the other text alone"
    assert "small-bert attends to all tokens in one softmax" in side.figure.payload["notes"]
    with pytest.raises(TraceError, match="small-bert records no relevance: choose weight"):
        draw("side_by_side", ["quora-tri-living", "small-bert"], PAIR, site="layer.0/a_over_b/relevance")


def test_a_source_is_a_class_and_a_line(monkeypatch):
    @dataclass(frozen=True)
    class Constant:
        title: str = "constant"
        digest: str = "0"
        axes: frozenset = frozenset({"query", "key"})
        abilities: frozenset = frozenset()
        calls: list = field(default_factory=list)

        @classmethod
        def of(cls, what, device=None):
            return cls() if what == "constant:" else None

        @classmethod
        def entries(cls):
            return (Entry("constant", Path(), {"source": "constant", "task": "pairs", "model": {}}, {}, "0", 0),)

        def explain(self, example=None, option=None):
            return FileSource(TWO_WAY).explain()

    monkeypatch.setitem(sources.SOURCES, "constant", Constant)
    assert "constant" in [entry.name for entry in sources.list_others()]
    assert explain("constant:")[1] is TWO_WAY and lacks(open_source("constant:"), ("context",))
    drawn, opened = draw("map", "constant:"), draw("map", TWO_WAY)
    assert drawn.table.equals(opened.table) and drawn.trace is TWO_WAY
    assert drawn.explanations[0].entry.name == "constant"


@dataclass(frozen=True)
class SharedLetters(EntrySource):
    """A source as somebody adds it: how many letters two words share, as attention between two texts."""

    ENTRY = Entry(
        "letters", Path(), {"source": "letters", "task": "pairs", "model": {"mechanism": "letters"}}, {}, "0", 0
    )
    axes = frozenset({"head", "query", "key"})
    abilities = frozenset({Ability.RUN, Ability.PAIRS})

    @classmethod
    def of(cls, what, device=None):
        named = what == "letters:" or isinstance(what, Entry) and what.config.get("source") == "letters"
        return cls(cls.ENTRY, device) if named else None

    @classmethod
    def entries(cls):
        return (cls.ENTRY,)

    def load(self):
        return len

    def explain(self, example=None, option=None, model=None):
        parts = []
        for a, b in ("ab", "ba"):
            first, second = (example.text_a, example.text_b)[:: 1 if a == "a" else -1]
            counts = np.array(
                [[1.0 + (model or self.load())(set(x) & set(y)) for y in second.split()] for x in first.split()]
            )
            tokens, names = {"query": first, "key": second}, {"query": a, "key": b}
            weights = counts[None, None] / counts.sum(-1, keepdims=True)
            axes = ("layer", "head", "query", "key")
            parts.append(
                trace_of(weights, axes=axes, tokens=tokens, names=names, role=f"{a}_over_{b}", source="letters")
            )
        trace = AttentionTrace(parts[0].sites | parts[1].sites, parts[0].texts, parts[0].meta)
        return recorded_prediction(trace), trace


class StoredLetters(SharedLetters):
    """The same, of one pair alone: it runs nothing."""

    abilities = frozenset()

    def explain(self, example=None, option=None, model=None):
        return super().explain(PAIR)


@pytest.mark.parametrize(("source", "heads"), [(SharedLetters, "mean of heads"), (StoredLetters, "head 1")])
def test_a_source_with_an_entry_is_drawn_by_name_text_and_object(monkeypatch, source, heads):
    monkeypatch.setitem(sources.SOURCES, "letters", source)
    example = (PAIR,) if Ability.RUN in source.abilities else ()
    views = [draw("map", what, *example) for what in ("letters", "letters:", open_source("letters"), source.ENTRY)]
    assert {view.figure.caption for view in views} == {f"letters, a over b, layer 1, {heads}"}
    shown = views[0].trace["layer.0/a_over_b/weight"]
    np.testing.assert_allclose(shown[0, 0], np.array([5, 1, 2, 1, 2]) / 11, rtol=1e-6)  # "Which": 1 + shared letters


@pytest.mark.parametrize("example", [PAIR, {"text_a": PAIR.text_a, "text_b": PAIR.text_b}, (PAIR.text_a, PAIR.text_b)])
def test_a_source_is_given_an_example_whatever_stands_for_it(monkeypatch, example):
    monkeypatch.setitem(sources.SOURCES, "letters", SharedLetters)
    trace = explain("letters", example)[1]
    np.testing.assert_allclose(trace["layer.0/a_over_b/weight"][0, 0], np.array([5, 1, 2, 1, 2]) / 11, rtol=1e-6)


def test_the_command_explains_what_a_source_offers(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sources.SOURCES, "letters", SharedLetters)
    (tmp_path / "row.json").write_text(json.dumps({"text_a": PAIR.text_a, "text_b": PAIR.text_b}))
    command = ["explain", "letters", str(tmp_path / "row.json"), "--cell", "layer.0/a_over_b/weight", "0,0,0"]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith(f"{5 / 11:.6g}  layer.0/a_over_b/weight")
    assert main([*command[:3], "--part", "2"]) == 1
    assert "--part is of checkpoints of ours; letters is" in capsys.readouterr().err


def test_a_source_of_pairs_stands_beside_a_checkpoint_of_ours(monkeypatch):
    monkeypatch.setitem(sources.SOURCES, "letters", SharedLetters)
    side = draw("side_by_side", ["quora-tri-living", "letters"], PAIR)
    assert [panel["title"] for panel in side.figure.payload["panels"][:2]] == ["Tri", "letters"]
    monkeypatch.setitem(sources.SOURCES, "letters", StoredLetters)
    with pytest.raises(ConfigError, match="letters is no model"):
        draw("side_by_side", ["quora-tri-living", "letters"], PAIR)


def test_an_example_is_run_once_and_a_model_loaded_once(monkeypatch):
    loaded = []
    load = CheckpointSource.load
    monkeypatch.setattr(CheckpointSource, "load", lambda self: loaded.append(self.title) or load(self))
    models, (entry,) = Models("cpu"), find_entries(["quora-tri-living"])
    first = models.explain(entry, PAIR)
    assert models.explain(entry, PAIR) is first and models.load(entry) is models.load(entry)
    assert loaded == ["quora-tri-living"] and models.explain(entry, Example(B, A)) is not first
