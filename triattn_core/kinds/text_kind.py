"""What most kinds have in common: a frozen encoder, rows in files, and a class or option as answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen, Kind
from triattn_core.tasks import TASKS

UNSCORED = {"token2token": False, "source2token": False}


class TextKind(Kind):
    """A kind whose models are trained on files of texts and give each example the probabilities of its answers."""

    def task(self, config: Any) -> Any:
        return TASKS[config.task]

    def outputs(self, config: Any) -> int:
        """One score per class, or a single one if each option is a row."""
        return len(getattr(config, "labels", ())) or self.task(config).OUTPUTS

    def controls(self, config: Any) -> Mapping[str, Mapping[str, Any]]:
        """Of MTSA: without its scores, so that each head attends evenly to what its mask lets it see."""
        model = config.model
        scored = self.has_controls and model.mechanism == "mtsa" and (model.token2token or model.source2token)
        return {"even": UNSCORED} if scored else {}

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.encoders import load_encoder

        encoder, tokenizer = load_encoder(config.encoder, device, config.encoder_digest)
        return self.frozen(config, encoder), tokenizer

    def collate(self, rows: Sequence[Any], tokenizer: Any) -> Any:
        """Padded roles or texts."""
        from triattn_core.inference.batch import collate

        return collate(rows, tokenizer)

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The probability of each class or option."""
        from triattn_core.models import answers

        return answers.of_example(outputs)

    def best_row(self, answer: Sequence[float]) -> int:
        return max(range(len(answer)), key=answer.__getitem__)

    def prediction(self, bundle: Any, example: Any, answer: Sequence[float], parts: int, **fields: Any) -> Any:
        from triattn_core.inference.predictions import Prediction

        best = max(range(len(answer)), key=answer.__getitem__)
        return Prediction(bundle.labels(example), tuple(answer), best, example.label, **fields)

    def measured_alike(self, config: Any) -> tuple:
        inputs = config.task, config.encoder, config.max_tokens, getattr(config.model, "vectors", None)
        return (*inputs, getattr(config, "labels", ()), repr(config.data.model_dump()))

    def measure(
        self, bundles: Sequence[Any], config: Any, data: Path, runs: Path, resume: bool, splits: Sequence[str]
    ) -> list[dict]:
        from triattn_core.training.scores import measure

        return measure(bundles, config, data, runs, resume, splits)

    def attention_report(
        self, bundle: Any, examples: Sequence[Any], progress: Callable[[int], object] = lambda count: None
    ) -> Mapping[str, Any]:
        """The reliance of the metric on the weights, and the worth of the attention if its controls were trained."""
        from triattn_core.analysis.maps.even_reliance import measure_even_reliance

        return self.with_worth(bundle, measure_even_reliance(bundle, examples, progress))

    def with_worth(self, bundle: Any, report: Mapping[str, Any]) -> Mapping[str, Any]:
        """A report with "worth", of a kind that has controls."""
        if not self.has_controls:
            return report
        from triattn_core.results.worth import worth

        scores = [seed["dev"][report["metric"]] for seed in bundle.metrics.get("each_seed", ()) if "dev" in seed]
        return {**report, "worth": worth(bundle.config, scores, report["metric"])}
