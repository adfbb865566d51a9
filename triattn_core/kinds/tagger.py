"""Taggers: a role for each word of a sentence, given its predicate, on frozen word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind


class TaggerKind(TextKind):
    """One sentence, one of whose words is marked; the answer is the best well-formed sequence of BIO tags."""

    has_controls = True
    attention_rows = 2000

    def pages(self, mechanism: str) -> tuple[str, ...]:
        return ("mtsa",) * (mechanism in ("mtsa", "multi_head"))

    def section(self) -> type[Any]:
        from triattn_core.configs.tagger import TaggerCheckpoint

        return TaggerCheckpoint

    def outputs(self, config: Any) -> int:
        """One score per tag, for each word."""
        from triattn_core.text.bio_tags import bio_tags

        return len(bio_tags(config.labels))

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        from triattn_core.models.tagger import MarkedWords
        from triattn_core.models.word_vectors import word_vectors

        return MarkedWords(word_vectors(encoder, config.model.vectors, config.max_tokens))

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.tagger import Tagger

        return Tagger(config.model, hidden, self.outputs(config))

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> tuple:
        """The best well-formed tags, a `predictions.Tag` for each word."""
        from triattn_core.inference.tag_decoding import decode_tags

        ((texts,), (scores,)) = rows, outputs
        return decode_tags(texts.roles["text"], scores, bundle.config.labels)

    def best_row(self, answer: Any) -> int:
        return 0

    def prediction(self, bundle: Any, example: Any, answer: Sequence[Any], parts: int, **fields: Any) -> Any:
        from triattn_core.checkpoint.metadata import language_name
        from triattn_core.inference.predictions import Tagging
        from triattn_core.tasks.predicate_words import FEW, doubt, read_counts
        from triattn_core.tasks.training_words import split_words, unknown_words

        counts, words = read_counts(bundle.path), split_words(" ".join(example.words))
        doubted = doubt(example.words[example.predicate], counts) if example.label is None else ""
        language = language_name(bundle.config.language)
        unknown = unknown_words(words, counts, f"occur fewer than {FEW} times", language)
        notes = (*fields.pop("notes", ()), *filter(None, [unknown, doubted]))
        return Tagging.of(bundle.task.texts(example)["text"], answer, notes=notes, **fields)

    def marked_word(self, example: Any) -> tuple[str, int]:
        from triattn_core.tasks.roles import word_spans

        return "predicate", word_spans(example)[example.predicate][0]

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.tagger.trainer import train_tagger

        return train_tagger(config, folder, data, runs, resume, accelerator)

    def attention_report(
        self, bundle: Any, examples: Sequence[Any], progress: Callable[[int], object] = lambda count: None
    ) -> Mapping[str, Any]:
        """The weight on the predicate from words inside and outside its arguments, by layer and head."""
        from triattn_core.analysis.maps.predicate_weight import measure_predicate_weight

        return self.with_worth(bundle, measure_predicate_weight(bundle, examples, progress))

    def card(self, folder: Path) -> str:
        from triattn_core.training.tagger.model_card import tagger_card

        return tagger_card(folder)


KIND = TaggerKind()
