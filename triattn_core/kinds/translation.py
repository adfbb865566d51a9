"""Translation models: Transformers with MTSA or multi-head attention in the encoder, learnt from nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind

if TYPE_CHECKING:
    from triattn_core.trace.site import Site


class TranslationKind(TextKind):
    """A sentence and its candidates by beam search; what a decoder attends to is recorded for the best one."""

    has_controls = True

    def pages(self, mechanism: str) -> tuple[str, ...]:
        return ("mtsa",)

    def section(self) -> type[Any]:
        from triattn_core.configs.translation import TranslationCheckpoint

        return TranslationCheckpoint

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.translation import load_sub_words

        return load_sub_words(folder, config.encoder_digest)

    def collate(self, rows: Sequence[Any], tokenizer: Any) -> Any:
        """The sub-words of the sources."""
        from triattn_core.models.translation import padded

        return padded([texts.roles["source"].ids for texts in rows], tokenizer.special["pad"])

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.translation import TranslationModel

        return TranslationModel(config.model, hidden)

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> tuple:
        """The candidates, a `predictions.Candidate` each, best first, from the encoder's states."""
        return self.decode_all(bundle, [rows], [outputs])[0]

    def decode_all(self, bundle: Any, rows: Sequence[Sequence[Any]], outputs: Sequence[Sequence[Any]]) -> list:
        from triattn_core.inference.translate import candidates

        sizes = [len(texts.roles["source"]) for (texts,) in rows]
        return candidates(bundle, [memory[:size] for (memory,), size in zip(outputs, sizes)])

    def best_row(self, answer: Any) -> int:
        return 0

    def prediction(self, bundle: Any, example: Any, answer: Sequence[Any], parts: int, **fields: Any) -> Any:
        from triattn_core.inference.predictions import Translation

        notes = (*fields.pop("notes", ()), *_source_notes(bundle, example.source))
        return Translation.of(answer, notes=notes, **fields)

    def trace_answer(
        self, bundle: Any, roles: Any, answer: Any, keep_site: Callable[[Site], bool]
    ) -> tuple[Any, Mapping[Site, Any], Mapping[str, str]]:
        """Decoder and cross-attention over the best candidate."""
        from triattn_core.inference.translate import trace_candidate

        return trace_candidate(bundle, roles, answer[0], keep_site)

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.translation.trainer import train_translation

        return train_translation(config, folder, data, runs, resume, accelerator)

    def require_packages(self) -> None:
        from triattn_core.tasks.translation import require_bleu

        require_bleu()

    def measured_alike(self, config: Any) -> tuple:
        return config.task, config.encoder_digest, config.max_tokens, repr(config.data.model_dump())

    def attention_report(
        self, bundle: Any, examples: Sequence[Any], progress: Callable[[int], object] = lambda count: None
    ) -> Mapping[str, Any]:
        """Of rows with word alignments "word_alignment", the error of each cross-attention head; of the others the
        reliance of BLEU on even weights."""
        from triattn_core.analysis.maps.alignment_error import measure_alignment_error
        from triattn_core.analysis.maps.translation_reliance import measure_translation_reliance

        aligned = [example for example in examples if example.sure and example.label]
        others = [example for example in examples if not example.sure]
        report: dict[str, Any] = {}
        if others or not aligned:
            report |= self.with_worth(bundle, measure_translation_reliance(bundle, others, progress))
        if aligned:
            report["word_alignment"] = measure_alignment_error(bundle, aligned, progress)
        return report

    def card(self, folder: Path) -> str:
        from triattn_core.training.translation.model_card import translation_card

        return translation_card(folder)


def _source_notes(bundle: Any, text: str) -> list[str]:
    """What of a source the training sentences have not: most of its words, or its length; with what the model reaches
    on longer sentences, where the rows with alignments are such."""
    from triattn_core.checkpoint.metadata import language_name
    from triattn_core.tasks.training_words import longer_text, read_sources, split_words, unknown_words

    sources, words = read_sources(bundle.path), split_words(text)
    if sources is None:
        return []
    language = language_name(bundle.config.language)
    unknown = unknown_words(words, sources.words, "never occur", language)
    if len(words) == 1 and words[0] not in sources.words:  # the sub-words of a name may be known
        unknown = f"“{words[0]}” never occurs in the {language} of its training."
    longer = longer_text(words, sources)
    others = bundle.metrics.get("word_alignment") or {}
    found = [one["bleu"] for one in bundle.metrics.get("elsewhere", ()) if one["set"] == others.get("set")]
    if longer and found and others.get("words", 0) > sources.mean:
        longer += f" BLEU is {found[0]:.1f} on {others['set']}, {others['words']} words a sentence."
    return [note for note in (unknown, longer) if note]


KIND = TranslationKind()
