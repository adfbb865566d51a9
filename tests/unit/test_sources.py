"""Sources: what each can do before it is loaded, and that all of them explain through the same door."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from tests.support.tiny_transformers import make
from triattn_core import draw, explain, sources, trace_of
from triattn_core.checkpoint.registry import VARIABLE, Entry, list_checkpoints, list_transformers, roots
from triattn_core.errors import CheckpointError, InputError, TraceError
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.checkpoint import CheckpointSource
from triattn_core.sources.file import FileSource
from triattn_core.sources.hugging_face import HuggingFaceSource
from triattn_core.sources.models import Models
from triattn_core.sources.source import EVERYTHING, Ability, Source, lacks
from triattn_core.tasks.pairs import Example

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
    assert tri.abilities == EVERYTHING and bert.abilities == EVERYTHING and not file.abilities
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


def test_an_example_is_run_once_and_a_model_loaded_once(monkeypatch):
    loaded = []
    load = CheckpointSource.load
    monkeypatch.setattr(CheckpointSource, "load", lambda self: loaded.append(self.title) or load(self))
    models, (entry,) = Models("cpu"), find_entries(["quora-tri-living"])
    first = models.explain(entry, PAIR)
    assert models.explain(entry, PAIR) is first and models.load(entry) is models.load(entry)
    assert loaded == ["quora-tri-living"] and models.explain(entry, Example(B, A)) is not first
