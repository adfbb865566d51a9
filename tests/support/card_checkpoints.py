"""A small drawn checkpoint of each kind, and of each view of case cards something to draw."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support import analysis_checkpoints, coin_checkpoints, reader_checkpoints, sentence_checkpoints
from triattn_core.case_card import draw
from triattn_core.case_card.manifest import manifest
from triattn_core.case_card.rendered import RenderedView
from triattn_core.tasks import pairs, questions, sentences

COIN = pairs.Example("Can cats eat raw fish?", "Can a dog eat?")
PASSAGE = "The old mill burnt down in March. A baker bought the land. He built two ovens there."
READ = questions.Example(PASSAGE, "Who bought the land?", (("A baker", 34),))
ASKED = sentences.Example("Which town lies at the river?")


def cases() -> dict[str, tuple[str, list[str], Any, dict[str, Any]]]:
    """(view, checkpoints, example, settings) by what is particular about them."""
    pair, dialogue, reading = (analysis_checkpoints.examples(task)[0] for task in analysis_checkpoints.TASK_NAMES)
    triple = ["pairs-bi", "pairs-cbi", "pairs-tri"]
    edited = pairs.row(pairs.Example(pair.text_a, "what red movie is big"))
    readers = ["squad-dot", "squad-general3"]
    inputs, read = {"compare": "inputs", "edited": edited}, {"query": "words", "key": "phrases"}
    sites = {"cube": "layer.1/a_over_b/weight", "scores": "layer.0/b_over_a/relevance"}
    return {
        "cube": ("cube", ["pairs-tri"], pair, {"site": sites["cube"], "head": 2, "cell": [1, 2, 3]}),
        "cube of scores": ("cube", ["pairs-tri"], pair, {"site": sites["scores"], "hide": True}),
        "cube, folded": ("cube", ["pairs-tri"], pair, {"query": "words", "hide": True, "sinks": 1}),
        "dialogue": ("cube", ["dialogue-tri"], dialogue, {"context": "turns", "option": 1}),
        "context": ("context", ["pairs-tri"], pair, {"layer": 2, "head": 1, "by": "context", "cell": [4]}),
        "context of a reading": ("context", ["reading-tri"], reading, {"direction": "b_over_a", "option": 2}),
        "intervene": ("intervene", ["pairs-tri"], pair, {"units": ["token 2", "token 3"], "head": 1, "layer": 2}),
        "a null": ("intervene", ["pairs-tri"], pair, {"null": "untrained", "along": "context", "draws": 3, "seed": 5}),
        "another order": ("intervene", ["pairs-cbi"], pair, {"how": "reorder", "order": "shuffled", "shuffle": 3}),
        "a turn replaced": ("intervene", ["dialogue-bi"], dialogue, {"how": "replace", "text": "a red car"}),
        "another context": ("intervene", ["reading-tri"], reading, {"how": "swap"}),
        "attribute": ("attribute", ["pairs-tri"], pair, {"steps": 4, "draws": 3, "method": "occlusion"}),
        "attribute, Bi": ("attribute", ["dialogue-bi"], dialogue, {"steps": 4, "draws": 0, "fold": "word pieces"}),
        "mechanisms": ("side_by_side", triple, pair, {"site": sites["scores"], "difference": [1, 3]}),
        "mechanisms, folded": ("side_by_side", triple, pair, read | {"hide": True, "sinks": 1}),
        "passages": ("side_by_side", ["reading-bi", "reading-tri"], reading, {"option": 2}),
        "options": ("side_by_side", ["reading-tri"], reading, {"compare": "options", "head": 1}),
        "inputs": ("side_by_side", ["pairs-tri"], pair, inputs),
        "inputs in words": ("side_by_side", ["pairs-tri"], pair, inputs | {"key": "words"}),
        "mtsa in phrases": ("mtsa", ["trec-mtsa"], ASKED, {"tokens": "phrases", "phrases": ["town lies"]}),
        "mtsa": ("mtsa", ["trec-mtsa"], ASKED, {"heads": [1, 3], "quantity": "relevance"}),
        "mtsa, means": ("mtsa", ["trec-mtsa"], ASKED, {"heads": [1, 2, 3, 4], "features": False}),
        "tensor": ("tensor", ["trec-mtsa"], ASKED, {"head": 2, "clusters": 3}),
        "coin": ("coin", ["quora-coin"], COIN, {"features": True}),
        "coin without a block": ("coin", ["quora-coin"], COIN, {"off": "layer.1", "direction": "b_over_a"}),
        "coin in phrases": ("coin", ["quora-coin"], COIN, {"tokens": "phrases", "phrases": ["raw fish", "a dog"]}),
        "similarity in phrases": ("similarity", readers, READ, {"quantity": "centred", "passage": "sentences"}),
        "similarity": ("similarity", readers, READ, {"quantity": "weight", "shared": True}),
    }


@contextmanager
def use_checkpoints(root: Path) -> Iterator[Path]:
    """Makes one checkpoint of each kind in `root/checkpoints`, to which TRIATTN_CHECKPOINTS points."""
    folder = root / "checkpoints"
    sentence_checkpoints.make_checkpoints(folder, ("trec-mtsa",))
    shutil.rmtree(folder / "encoders" / "minilm-en")  # the next makes one of its own
    reader_checkpoints.make_checkpoints(folder, ("dot", "general3"))
    coin_checkpoints.make_checkpoints(folder, ("quora-coin",))
    with analysis_checkpoints.use_checkpoints(root):
        yield folder


def rendered_card(name: str) -> RenderedView:
    """One of `cases`."""
    view, checkpoints, example, settings = cases()[name]
    return draw(view, checkpoints, example, **settings)


def dump_manifest(view: RenderedView) -> dict:
    """Its manifest."""
    return json.loads(manifest(view).model_dump_json())


def write_card(rendering: RenderedView, folder: Path, **changed) -> Path:
    """Manifest and table of a card in a folder; `changed`: fields of the manifest."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(dump_manifest(rendering) | changed), "utf-8")
    rendering.table.to_parquet(folder / "data.parquet", index=False)
    return path
