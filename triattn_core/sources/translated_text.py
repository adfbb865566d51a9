"""Which tokens of a source drive a word that a decoder writes: the attribution methods of encoder-decoders.

The vectors are those that the embedding table gives the source; the decoder has read its start token, and the words
before the one that is asked for, which stay.  Its answer is read from one row of each layer's cross-attention:
`attention` and `norms` are of these rows, and `rollout` goes from their mean on down the encoder, as in
`sources.transformer_attribution`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from triattn_core.cached import cached_property
from triattn_core.recording.added import record_added
from triattn_core.sources.transformer_attribution import JointText
from triattn_core.sources.transformer_errors import one_line


@dataclass(frozen=True)
class TranslatedText(JointText):
    """A source as a loaded encoder-decoder reads it, and the word that its decoder writes next."""

    @property
    def embedding(self) -> Any:
        """The table of the encoder, which may be another module than that of the decoder, with the same weights."""
        return self.transformer.model.get_encoder().get_input_embeddings()

    def outputs(self, vectors: Tensor, **options: Any) -> Any:
        """The outputs of vectors [V, n, width] in place of those of the source's ids."""
        ids = self.inputs["input_ids"].clone().expand(len(vectors), -1)
        inputs = {name: value.clone().expand(len(vectors), *value.shape[1:]) for name, value in self.inputs.items()}
        in_a_line = one_line(self.transformer.name, self.transformer.model)
        with in_a_line, in_place_of(self.embedding, ids, vectors):
            return self.transformer.model(**inputs | {"input_ids": ids}, use_cache=False, **options)

    @cached_property
    def read_from(self) -> np.ndarray:
        """[1]: the row of the decoder's last token."""
        return np.ones(1)

    @cached_property
    def rows_of_roles(self) -> Mapping[str, list[tuple[np.ndarray, np.ndarray | None]]]:
        """By role, of each attention the weights [query, key], mean of heads, and the lengths of what is added."""
        with torch.inference_mode(), record_added(self.transformer.model) as recorded:
            self.run()
        added, found = recorded.by_site(), dict[str, list]()
        for site, attention in recorded.tape.sites().items():
            weights = attention.arranged().float().mean(0).cpu().double().numpy()
            norms = added[site].norms().cpu().double().numpy() if site in added else None
            found.setdefault(site.role, []).append((weights, norms))
        return found

    @cached_property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Of each cross-attention the last row [1, n], and the lengths of what it adds."""
        rows = self.rows_of_roles.get("cross", [])
        return [(weights[-1:], None if norms is None else norms[-1:]) for weights, norms in rows]

    @property
    def rolled(self) -> tuple[list[np.ndarray], np.ndarray]:
        """The maps of the encoder, and the mean row of the cross-attention."""
        start = np.mean([weights[-1] for weights, _ in self.layers], 0)
        return [weights for weights, _ in self.rows_of_roles.get("encoder", [])], start


@contextmanager
def in_place_of(table: nn.Module, ids: Tensor, vectors: Tensor) -> Iterator[None]:
    """Inside, the first time that a table is asked for these ids it returns these vectors."""
    waits = [True]

    def give(module: nn.Module, args: tuple, output: Tensor) -> Tensor | None:
        if not waits or not args or args[0].shape != ids.shape or not torch.equal(args[0], ids):
            return None
        waits.clear()
        return vectors.to(output)

    hook = table.register_forward_hook(give)
    try:
        yield
    finally:
        hook.remove()
