"""What a frozen encoder makes of the words around a number, each number's by themselves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

import torch
from torch import Tensor

from triattn_core.inference.number_batch import NumberBatch
from triattn_core.models.encoder import Encoder
from triattn_core.models.encoders import load_encoder
from triattn_core.text.tokenizer import Tokenizer

ENCODED = 256  # windows that are read together
REMEMBERED = 100_000  # windows whose vectors are kept, since a problem's steps repeat its words


@lru_cache(maxsize=1)
def load_word_states(name: str, device: str, expected: str | None = None) -> tuple[WordStates, Tokenizer]:
    """The words of an encoder, and its tokenizer; those of the last call are kept, with what they remember.

    Raises CheckpointError as `load_encoder`.
    """
    encoder, tokenizer = load_encoder(name, device, expected)
    return WordStates(encoder, tokenizer.special), tokenizer


@dataclass(frozen=True)
class WordStates:
    """Turns the windows of a batch into vectors: the mean state of the words before each number, then of those after.

    The states are those of the encoder's first layer, as TAN's of a text that is read by itself.
    """

    encoder: Encoder
    special: dict[str, int]
    known: dict[bytes, Tensor] = field(default_factory=dict, compare=False, repr=False)

    @property
    def hidden(self) -> int:
        """Features of a number's words."""
        return 2 * self.encoder.hidden

    @property
    def digest(self) -> str:
        """That of the encoder's tensors."""
        return self.encoder.digest

    def __call__(self, batch: NumberBatch) -> NumberBatch:
        """The batch with words [B, n, hidden]."""
        table, rows = self.indexed(batch)
        return replace(rows, words=table[rows.words])

    def indexed(self, batch: NumberBatch) -> tuple[Tensor, NumberBatch]:
        """The vectors [m, hidden] of all different windows, and the batch with the index [B, n] of each number's."""
        different, index = torch.unique(batch.words.flatten(0, 1), dim=0, return_inverse=True)
        return self.vectors(different), replace(batch, words=index.view(batch.words.shape[:2]))

    @torch.inference_mode()
    def vectors(self, windows: Tensor) -> Tensor:
        """[m, w] long → [m, hidden], zeros for a side without words."""
        keys = [row[row != self.special["pad"]].numpy().tobytes() for row in windows.cpu()]
        new = torch.tensor([i for i, key in enumerate(keys) if key not in self.known], dtype=torch.long)
        if len(self.known) + len(new) > REMEMBERED:
            self.known.clear()
            new = torch.arange(len(keys))
        lengths = (windows != self.special["pad"]).sum(1).cpu()
        for part in new[lengths[new].argsort()].split(ENCODED) if len(new) else ():
            found = self._encode(windows[part, : max(1, int(lengths[part].max()))])
            self.known.update((keys[i], vector) for i, vector in zip(part.tolist(), found))
        return torch.stack([self.known[key] for key in keys]).to(windows.device)

    def _encode(self, ids: Tensor) -> Tensor:
        """[m, w] → [m, hidden] on the CPU."""
        keep = ids != self.special["pad"]
        seen = keep.clone()
        seen[:, 0] = True  # padding of a batch has no window: its vectors are zeros
        states = self.encoder.alone(input_ids=ids, attention_mask=seen.long()).last_hidden_state
        after = (ids == self.special["mask"]).long().cumsum(1) > 0
        words = keep.clone()
        for name in ("cls", "mask", "sep"):
            words &= ids != self.special[name]
        means = [(states * side[..., None]).sum(1) / side.sum(1, keepdim=True).clamp(min=1)
                 for side in (words & ~after, words & after)]  # fmt: skip
        return torch.cat(means, -1).float().cpu()
