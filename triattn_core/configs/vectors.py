"""Settings of the word vectors of an encoder, and of those of its layers that are trained."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

TABLE, LAYER = "embedding", "layer:"


def _check_source(source: str) -> str:
    if not re.fullmatch(r"embedding|layer:[1-9]\d*", source):
        raise ValueError('expected "embedding", or "layer:k" with k from 1')
    return source


VectorSource = Annotated[str, AfterValidator(_check_source)]


class FineTuned(BaseModel):
    """Settings of the encoder layers that are trained.

    layers: how many, after that of the model's vectors.  heads, feed_forward: of each, as in the encoder.  rate: their
    learning rate as a share of the model's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: int = Field(ge=1, le=12)
    heads: int = Field(12, ge=1)
    feed_forward: int = Field(1536, ge=1)
    rate: float = Field(0.05, gt=0, le=1)
