"""Which page takes which model: the table in docs/guide.md is what the sources and pages say."""

from __future__ import annotations

from pathlib import Path

from triattn_core.checkpoint.registry import Entry
from triattn_core.checkpoint.transformer_folder import checkpoint_config
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.source import Ability, lacks

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
FORMS = {
    "Tri checkpoint": lambda: find_entries(["quora-tri-living"])[0],
    "two-way checkpoint": lambda: find_entries(["quora-bi-living"])[0],
    "HF classifier": lambda: hugging_face("BertForSequenceClassification"),
    "HF decoder": lambda: hugging_face("GPT2LMHeadModel"),
    "HF masked words": lambda: hugging_face("BertForMaskedLM"),
    "HF encoder-decoder": lambda: hugging_face("BartForConditionalGeneration", is_encoder_decoder=True),
    "HF spans": lambda: hugging_face("BertForQuestionAnswering"),
    "HF encoder": lambda: hugging_face("BertModel"),
    "HF image": lambda: hugging_face("ViTForImageClassification", num_channels=3, image_size=224),
    "own classifier": lambda: module("labels"),
    "own decoder": lambda: module("next word"),
    "own image": lambda: module("labels", reads="picture"),
}
NEEDS = {  # what each page asks of a source: axes, abilities
    "Tri-Attention cube": (("context",), (Ability.RUN,)),
    "Side by side": ((), (Ability.PAIRS,)),
    "Context": (("context",), (Ability.RUN,)),
    "Intervene, attention": ((), (Ability.REPLACE,)),
    "Attribute": ((), (Ability.GRADIENTS,)),
    "Your model, film of the tokens that it writes": ((), (Ability.WRITES,)),
    "Head atlas": (("head",), (Ability.ROWS,)),
    "What attention is worth": ((), (Ability.ROWS, Ability.SCORED)),
    "Compare": ((), (Ability.ROWS, Ability.SCORED)),
    "Compare and Cases, beside ours": ((), (Ability.ROWS, Ability.LABELS)),
}


def hugging_face(architecture: str, **config: int) -> Entry:
    config = checkpoint_config({"model_type": "bert", "architectures": [architecture], **config})
    return Entry("the model", Path(), config, {}, "", 1)


def module(predicts: str, reads: str = "text") -> Entry:
    model = {"layers": 2, "heads": 2, "predicts": predicts, "embeds": reads == "text", "reads": reads}
    config = {"source": "module", "build": "mine.py:build", "axes": ["head", "query", "key"]}
    return Entry("the module", Path("mine.py"), config | {"model": {"mechanism": "multi_head", **model}}, {}, "", 1)


def table() -> str:
    """A row a page, a column a form: `yes`, or what the source lacks."""
    sources = {form: open_source(make()) for form, make in FORMS.items()}
    lines = [f"| Page | {' | '.join(FORMS)} |", f"|---|{'---|' * len(FORMS)}"]
    for page, (axes, abilities) in NEEDS.items():
        cells = [
            lacks(source, axes, abilities).removeprefix(f"{source.title} ") or "yes" for source in sources.values()
        ]
        lines.append(f"| {page} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_guide_has_the_table() -> None:
    assert table() in GUIDE.read_text("utf-8"), table()
