"""The schema of an encoder's recipe.json: its start weights and training.  Unknown keys are rejected by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from triattn_core.checkpoint.config import error_line
from triattn_core.configs.parts import Strict
from triattn_core.errors import ConfigError
from triattn_core.literal import one_of
from triattn_core.tasks import TASKS
from triattn_core.text.rows import read_json


class Source(Strict):
    """A source of the start weights' pre-training data; `set`: our data sets drawn from the same source."""

    name: str
    what: str
    set: str = ""


class Vocabulary(Strict):
    """A vocabulary of characters: those that occur at least `least` times in these sets."""

    data: tuple[str, ...] = Field(min_length=1)
    least: int = Field(ge=1)


class Start(Strict):
    """Start weights: of an installed package or a local folder; an encoder of ours with the digest of its tensors; or
    `config` and `vocabulary` of a randomly initialised BERT."""

    name: str = ""
    had_seen: tuple[Source, ...] | None = None
    encoder: str | None = None
    digest: str | None = None
    package: str | None = None
    path: str = ""
    sha256: str | None = None
    config: dict[str, float | int | str] | None = None  # of transformers' BertConfig
    vocabulary: Vocabulary | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Start:
        if (self.encoder is None) != (self.digest is None):
            raise ValueError("an encoder of ours is named with the digest of its tensors")
        if self.encoder:
            return self
        if not self.name or self.had_seen is None:
            raise ValueError("start needs a name, and its pre-training data in had_seen")
        if (self.vocabulary is None) != (self.config is None):
            raise ValueError("a start from nothing has both config and vocabulary")
        if self.vocabulary is None and not (self.sha256 and (self.package or self.path)):
            raise ValueError("weights are named by package or path, and sha256")
        return self


class Stage(Strict):
    """Epochs over sets; `mask`: share of tokens hidden; `mine`: a set of positives to find negatives for.

    `where`, `every`: for choice tasks, keep only examples whose fields have these values, and of these every k-th.
    `even`: see `training.overlap_balance`.  `match`: whether tokens that occur in both texts have their own segment
    ids.  `stop_after`: number of batches.
    """

    data: tuple[str, ...] = Field(min_length=1)
    epochs: int = Field(ge=1)
    mask: float = Field(ge=0, lt=1)
    where: dict[str, str] = {}
    every: int = Field(1, ge=1)
    rate: float = Field(gt=0, lt=1)
    word_weight: float | None = Field(None, ge=0)
    even: float | None = Field(None, ge=1)
    mine: str | None = None
    match: bool | None = None
    stop_after: int | None = Field(None, ge=1)


class Recipe(Strict):
    """The recipe of an encoder; `swap`: share of the pairs to swap; `dev` measures the pair objective after each epoch.

    `objective`: `joint` reads the two texts of a row as one sequence, as BERT's objectives do; `apart` reads them
    separately, for the living form of TAN (`encoder.separate_training`), without masking.

    `attention_dropout`: in training, in place of the start's; with 0, a CPU kernel twice as fast is available.
    """

    kind: Literal["encoder"]
    task: Annotated[str, one_of(TASKS)] = "pairs"
    objective: Literal["joint", "apart"] = "joint"
    start: Start
    train_layers: int | None = Field(None, ge=1)  # the last ones; by default all
    attention_dropout: float | None = Field(None, ge=0, lt=1)
    stages: tuple[Stage, ...] = Field(min_length=1)
    dev: str
    word_weight: float = Field(ge=0)
    swap: float = Field(0.0, ge=0, le=1)
    batch: int = Field(ge=1)
    max_tokens: int = Field(ge=1)
    precision: Literal["no", "bf16", "fp16"]
    seed: int = Field(ge=0)
    save_every: int = Field(200, ge=1)
    note: str = ""

    @model_validator(mode="after")
    def _read_alone(self) -> Recipe:
        joint: list[float | bool | None] = [self.swap, self.word_weight]
        joint += [value for stage in self.stages for value in (stage.mask, stage.word_weight, stage.match is not None)]
        if self.objective == "apart" and any(joint):
            raise ValueError("texts read apart have no mask, word_weight, swap or match")
        return self


def read_recipe(path: Path) -> dict:
    """Read and validate a recipe; returned as a dictionary.  Raises ConfigError, in one line with file and key."""
    recipe = read_json(path)
    try:
        Recipe.model_validate(recipe)
    except ValidationError as error:
        kinds = (Recipe, Start, Stage, Source, Vocabulary)
        raise ConfigError(error_line(path, error, {key for kind in kinds for key in kind.model_fields})) from None
    return recipe
