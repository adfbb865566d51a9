"""TANs: Tri-Attention networks, and the same networks with two-way attention, on a frozen encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks import InputForm


class TanKind(TextKind):
    """Pairs, and texts to choose from: query, key and context are parts of one joint sequence."""

    has_heads = True
    compares_forms = True
    has_controls = True
    attention_rows = 2000

    def pages(self, mechanism: str) -> tuple[str, ...]:
        return (*["cube"] * (mechanism == "tri"), "side_by_side")

    def section(self) -> type[Any]:
        from triattn_core.configs.tan import TanCheckpoint

        return TanCheckpoint

    def controls(self, config: Any) -> Mapping[str, Mapping[str, Any]]:
        """Fixed weights, and of Tri-Attention pairwise scores."""
        from triattn_core.configs.names import FIXED

        fixed = {name: {"weights": name} for name in FIXED}
        return fixed | ({"strassen": {"similarity": "strassen"}} if config.model.mechanism == "tri" else {})

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        """The encoder, or one that encodes the sequences separately; ConfigError if it is too short or too shallow."""
        from triattn_core.errors import ConfigError
        from triattn_core.models.separate_encoder import ApartEncoder

        positions, layers = encoder.joint.config.max_position_embeddings, encoder.joint.config.num_hidden_layers
        of_sentences = self.task(config).FORM is InputForm.PAIR  # two of them, and three special tokens
        max_tokens = (positions - 3) // 2 if of_sentences else positions
        if config.max_tokens > max_tokens:
            raise ConfigError(
                f"max_tokens {config.max_tokens}: the encoder {config.encoder} reads at most {max_tokens} here"
            )
        states = config.model.states
        if states is None:  # context is joint
            return encoder
        if max(states) > layers:
            raise ConfigError(f"states {states}: the encoder {config.encoder} has {layers} layers")
        return ApartEncoder(encoder, states, config.model.attend_special)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.tan import Tan

        return Tan(config.model, hidden, self.outputs(config))

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.tan.trainer import train_tan

        return train_tan(config, folder, data, runs, resume, accelerator)

    def measured_alike(self, config: Any) -> tuple:
        model, data = config.model, config.data
        inputs = config.task, config.encoder, config.max_tokens, config.cells
        return (
            *inputs, model.context, model.states, model.attend_special, data.dev, data.test, *sorted(data.where.items())
        )  # fmt: skip

    def attention_report(
        self, bundle: Any, examples: Sequence[Any], progress: Callable[[int], object] = lambda count: None
    ) -> Mapping[str, Any]:
        """The measures of `analysis.maps.attention_report`, and the worth of the attention if its controls were
        trained."""
        from triattn_core.analysis.maps.attention_report import measure_attention

        return self.with_worth(bundle, measure_attention(bundle, examples, progress))

    def card(self, folder: Path) -> str:
        from triattn_core.training.model_card import checkpoint_card

        return checkpoint_card(folder)


KIND = TanKind()
