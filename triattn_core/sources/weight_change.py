"""What attention weights become while a source runs: described without a model, so that links and settings hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from triattn_core.errors import ConfigError, InputError, choices
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    from torch import Tensor

    from triattn_core.inference.predictions import Prediction
    from triattn_core.trace import AttentionTrace

Head = tuple[Site, int]  # the site of its weights, and its number from 0
WAYS: Mapping[str, str] = {  # what the weights of the chosen heads become
    "even": "the same weight on every token that the query sees",
    "shuffled": "its own weights in a drawn order of the tokens that the query sees",
    "mean row": "each row becomes the mean of all rows",
    "another text": "the weights of the same head on another text with as many tokens",
    "edited row": "one row looks at chosen tokens alone",
    "off": "zeros: the head adds nothing",
}
RANDOM = "shuffled"


@dataclass(frozen=True)
class WeightChange:
    """how: one of WAYS.  heads: which, by site or its text; none means every head of every site.

    seed: of the shuffling.  other: of `another text`, an example that the source reads.  row, keys: of `edited row`,
    positions from 0.
    """

    how: str
    heads: tuple[Head | tuple[str, int], ...] = ()
    seed: int = 0
    other: Any = None
    row: int = 0
    keys: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise ConfigError(f"attention cannot become {self.how!r}; {choices(self.how, WAYS)}")
        object.__setattr__(self, "heads", tuple((Site.of(site), head) for site, head in self.heads))

    def heads_at(self, site: Site, count: int) -> list[int]:
        """The heads that change at a site that has so many.  Raises InputError for one that is not there."""
        if not self.heads:
            return list(range(count))
        chosen = [head for at, head in self.heads if at == site]
        if beyond := [head + 1 for head in chosen if not 0 <= head < count]:
            raise InputError(f"{site} has {count} heads: there is no head {beyond[0]}")
        return chosen

    def weights(
        self, own: Tensor, site: Site, given: Mapping[Site, Any] | None = None, seen: Tensor | None = None
    ) -> Tensor:
        """The weights [batch…, head, query, key] to use in place of the model's own at a site.

        seen: the cells that no mask hides, by default those that are not zero.  given: of `another text`, its weights
        [head, query, key] by site.  Raises InputError for another number of tokens, a head or a position that is not
        there.
        """
        import torch

        heads = self.heads_at(site, own.shape[-3])
        if not heads:
            return own
        changed = self._change(site, given or {}, seen)(own)
        chosen = torch.zeros(own.shape[-3], dtype=torch.bool, device=own.device)
        chosen[heads] = True
        return torch.where(chosen[:, None, None], changed.to(own.dtype), own)

    def _change(self, site: Site, given: Mapping[Site, Any], seen: Tensor | None) -> Callable[[Tensor], Tensor]:
        import torch

        from triattn_core.recording import replace

        def exchange(own: Tensor) -> Tensor:
            other = torch.as_tensor(np.asarray(given[site]))
            require_alike(other.shape[-2:], own.shape[-2:])
            return other.to(own).expand_as(own)

        ways: dict[str, Callable[[Tensor], Tensor]] = {
            "even": lambda own: replace.even_weights(own, seen),
            "shuffled": lambda own: replace.shuffled_weights(own, crc32(f"{self.seed} {site}".encode()), seen),
            "mean row": lambda own: replace.mean_row_weights(own, seen),
            "another text": exchange,
            "edited row": lambda own: replace.edited_row_weights(own, self.row, self.keys),
            "off": torch.zeros_like,
        }
        return ways[self.how]


@dataclass(frozen=True)
class Replaced:
    """What a source says of an example as it is, and then under each of several changes.

    log_odds: log p - log(1 - p) of the answer that is the best without a change.  trace: under the first change.
    written: what a model that writes makes of the text as it is, and under the first change; else nothing.
    """

    predictions: tuple[Prediction, ...]
    log_odds: tuple[float, ...]
    trace: AttentionTrace
    written: tuple[str, ...] = ()

    @property
    def flipped(self) -> tuple[bool, ...]:
        """Whether the answer under each change is another one."""
        before, *after = (prediction.labels[prediction.best] for prediction in self.predictions)
        return tuple(label != before for label in after)

    @property
    def changes(self) -> tuple[float, ...]:
        """The change of the log-odds under each change."""
        return tuple(value - self.log_odds[0] for value in self.log_odds[1:])


def require_alike(other: Sequence[int], own: Sequence[int]) -> None:
    """Raises InputError where the map of another text has another shape than that of this one."""
    if tuple(other) != tuple(own):
        sizes = [" × ".join(map(str, shape)) for shape in (other, own)]
        raise InputError(f"the other text's map has {sizes[0]} tokens, this one's {sizes[1]}: they must be alike")
