"""Settings of the context-fusion blocks, and the settings that each block has."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from triattn_core.configs import mask_names
from triattn_core.configs.names import ACTIVATIONS, SCALES
from triattn_core.errors import ConfigError
from triattn_core.literal import one_of

MASKED = ("masks", "scale_t", "scale_s", "include_self", "token2token", "source2token")
# Settings that only some blocks have.
OWN = {
    "multi_head": ("heads", "attention_keep"),
    "disa": ("attention_keep",),
    "bi_blosa": ("attention_keep", "block"),
    "mtsa": ("heads", "attention_keep", *MASKED),
}
HALVED = ("bi_lstm", "bi_gru", "disa", "bi_blosa")  # two directions share the features


class FusionSettings(BaseModel):
    """Settings of a context-fusion block; the default size is that of most blocks of the paper.

    out: features of a token after the block.  masks, scale_t, …: see `attention.mtsa.Mtsa`.  attention_keep: the share
    of attention that dropout keeps.  block: tokens per block in Bi-BloSA.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    block_positions: ClassVar[bool] = True  # whether multi-head blocks add sinusoids to their inputs

    out: int = Field(600, ge=2)
    heads: int = Field(8, ge=1, strict=True)
    masks: tuple[str, ...] = ()
    scale_t: Annotated[str, one_of(SCALES)] = "log_sigmoid"
    scale_s: Annotated[str, one_of(SCALES)] = "identity"
    include_self: bool = False
    token2token: bool = True
    source2token: bool = True
    attention_keep: float = Field(1.0, gt=0, le=1)
    activation: Annotated[str, one_of(ACTIVATIONS)] = "relu"
    block: int = Field(5, ge=1)

    @field_validator("masks")
    @classmethod
    def _masks(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            try:
                mask_names.require_mask(name)
            except ConfigError as error:
                raise ValueError(str(error)) from None
        return names

    @model_validator(mode="after")
    def _fits_the_block(self) -> FusionSettings:
        mechanism = getattr(self, "mechanism", "mtsa")
        own_settings = OWN.get(mechanism, ())
        for name in dict.fromkeys(setting for settings in OWN.values() for setting in settings):
            if name not in own_settings and getattr(self, name) != FusionSettings.model_fields[name].default:
                raise ValueError(f"{mechanism} has no setting {name}: take it out")
        if "heads" in own_settings and self.out % self.heads:
            raise ValueError(f"`out` ({self.out}) must be divisible by `heads` ({self.heads})")
        if len(self.masks) not in (0, 1, self.heads):
            raise ValueError(f"{len(self.masks)} masks for {self.heads} heads: name one, or one for each")
        if mechanism in HALVED and self.out % 2:
            raise ValueError(f"`out` must be even for two directions, got {self.out}")
        return self
