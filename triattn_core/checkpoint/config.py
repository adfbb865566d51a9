"""The schema of a checkpoint's config.json: the model and how it was trained.  Unknown keys are rejected by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from triattn_core.checkpoint.config_parts import (
    CoinTraining,
    Data,
    LaboratoryData,
    LaboratoryTraining,
    ReaderTraining,
    SentenceData,
    SentenceTraining,
    Strict,
    Training,
    Vocabulary,
)
from triattn_core.errors import ConfigError, choices
from triattn_core.literal import one_of
from triattn_core.models.coin import CoinConfig
from triattn_core.models.laboratory import LaboratoryConfig
from triattn_core.models.reader import ReaderConfig
from triattn_core.models.sentence import SentenceConfig
from triattn_core.models.tan import TanConfig
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.tasks.laboratory.example import MOST
from triattn_core.text.roles import Limits

NO_CHANGES: Mapping[str, Any] = MappingProxyType({})


class Config(Strict):
    """A TAN checkpoint: `encoder` is a name under checkpoints/encoders, a local folder or a hub name."""

    format: Literal[1]
    kind: Literal["tan"]
    task: Annotated[str, one_of(name for name, task in TASKS.items() if task.FORM.joint)]
    language: str
    encoder: str
    max_tokens: int = Field(64, ge=1, le=512)
    cells: tuple[int, int, int] | None = None  # of query, key and context, where the texts of a task are long
    model: TanConfig
    data: Data
    training: Training
    encoder_digest: str | None = None
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """How much of a text the model reads."""
        return Limits(self.max_tokens, self.cells, self.model.context == "apart")

    @model_validator(mode="after")
    def _fits_its_task(self) -> Config:
        if form(self.task) is InputForm.PAIR and self.max_tokens > 250:
            raise ValueError("max_tokens of a sentence must be at most 250")
        if self.cells and (form(self.task) is InputForm.PAIR or min(self.cells[:2]) < 1 or self.cells[2] < 8):
            raise ValueError("cells are for long texts: at least 1 of query and key and 8 of context")
        return self


class TokenCheckpoint(Strict):
    """A checkpoint that reads every token, without averaging them in cells."""

    if TYPE_CHECKING:  # a field of each kind, at its own place among the others
        max_tokens: int

    @property
    def limits(self) -> Limits:
        """How much of a text the model reads at once."""
        return Limits(self.max_tokens)


class SentenceCheckpoint(TokenCheckpoint):
    """A sentence model; `labels` names the classes of its data set in order (`labels.json`)."""

    format: Literal[1]
    kind: Literal["sentence"]
    task: Annotated[str, one_of(name for name, task in TASKS.items() if task.FORM is InputForm.SENTENCES)]
    language: str
    encoder: str
    max_tokens: int = Field(128, ge=1, le=2048)
    labels: tuple[str, ...] = ()
    model: SentenceConfig
    data: SentenceData
    training: SentenceTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _fits_its_task(self) -> SentenceCheckpoint:
        own_classes = TASKS[self.task].OUTPUTS is None  # those of the checkpoint's data set, not of the task
        if own_classes and len(set(self.labels)) < max(2, len(self.labels)):
            raise ValueError("labels: name the classes of the data set, each once, at least two")
        if not own_classes and self.labels:
            raise ValueError(f"labels are fixed by the task {self.task}: remove them")
        if self.data.folds and self.training.more_seeds:
            raise ValueError("more_seeds cannot be combined with folds, whose variance is measured; remove more_seeds")
        return self


class CoinCheckpoint(TokenCheckpoint):
    """A COIN: it learns vectors for the words of `vocabulary`, or reads the frozen embedding table of an encoder.

    encoder_digest: digest of the encoder's tensors, or of `tokenizer.json` if there is no encoder.
    """

    format: Literal[1]
    kind: Literal["coin"]
    task: Annotated[str, one_of(name for name, task in TASKS.items() if task.FORM is InputForm.PAIR)]
    language: str
    encoder: str | None = None
    vocabulary: Vocabulary | None = None
    max_tokens: int = Field(50, ge=1, le=250)
    model: CoinConfig
    data: Data
    training: CoinTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _has_words(self) -> CoinCheckpoint:
        if (self.encoder is None) == (self.vocabulary is None):
            raise ValueError("name a vocabulary, whose vectors are learnt, or the encoder whose table is read: one")
        return self


class ReaderCheckpoint(TokenCheckpoint):
    """A reader of passages; `max_tokens` is the size of a passage window.  Without `dev`, passages are held out."""

    format: Literal[1]
    kind: Literal["reader"]
    task: Annotated[str, one_of(name for name, task in TASKS.items() if task.FORM is InputForm.PASSAGE)]
    language: str
    encoder: str
    max_tokens: int = Field(400, ge=8, le=2048)
    model: ReaderConfig
    data: SentenceData
    training: ReaderTraining
    encoder_digest: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _without_folds(self) -> ReaderCheckpoint:
        if self.data.folds:
            raise ValueError("folds apply only to sentence data sets without a split; remove them")
        return self


class LaboratoryCheckpoint(Strict):
    """A small model of a laboratory task, which generates its rows and defines its words."""

    format: Literal[1]
    kind: Literal["laboratory"]
    task: Annotated[str, one_of(LABORATORY)]
    language: Literal["en"] = "en"
    model: LaboratoryConfig
    data: LaboratoryData = LaboratoryData()
    training: LaboratoryTraining
    digest: str | None = None

    @property
    def limits(self) -> Limits:
        """Laboratory rows are read whole."""
        return Limits(MOST)

    @model_validator(mode="after")
    def _fits_its_task(self) -> LaboratoryCheckpoint:
        try:
            LABORATORY[self.task].at_size(self.data.size)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        if self.model.inputs == "fourier" and not LABORATORY[self.task].MODULUS:
            raise ValueError(f"inputs: fourier is for tasks on residues, and {self.task} is none")
        return self


AnyConfig = Config | SentenceCheckpoint | ReaderCheckpoint | CoinCheckpoint | LaboratoryCheckpoint
KINDS: dict[str, type[AnyConfig]] = {
    "tan": Config, "sentence": SentenceCheckpoint, "reader": ReaderCheckpoint, "coin": CoinCheckpoint,
    "laboratory": LaboratoryCheckpoint,
}  # fmt: skip


def read_config(path: Path, changes: Mapping[str, Any] = NO_CHANGES) -> AnyConfig:
    """Reads a config by its "kind", with `changes` applied by dotted name: {"model.layers": 3}.

    Raises ConfigError in one line that names the file, the key and what to do.
    """
    try:
        settings = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{path}: not a JSON file ({reason})") from None
    for name, value in changes.items():
        *parts, last = name.split(".")
        parent = settings
        for part in parts:
            parent = parent.setdefault(part, {}) if isinstance(parent, dict) else None
        if not isinstance(parent, dict):
            raise ConfigError(f"{path}: {name!r} is no setting: its parts are objects of the file")
        parent[last] = value
    kind = KINDS.get(str(settings.get("kind", "tan")) if isinstance(settings, dict) else "tan")
    if kind is None:
        raise ConfigError(f"{path}: unknown kind {settings['kind']!r:.60}; {choices(str(settings['kind']), KINDS)}")
    try:
        return kind.model_validate(settings)
    except ValidationError as error:
        raise ConfigError(error_line(path, error, _keys(kind))) from None


def _keys(kind: type[BaseModel]) -> set[str]:
    """All keys that a config of this kind may have."""
    types = [field.annotation for field in kind.model_fields.values()]
    nested = [annotation for annotation in types if isinstance(annotation, type) and issubclass(annotation, BaseModel)]
    return {key for model in (kind, *nested) for key in model.model_fields}


def error_line(path: Path, error: ValidationError, keys: set[str]) -> str:
    """The first validation error of a settings file, in one line; `keys`: all keys that such a file may have."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"{path}: unknown key {key!r}; {choices(str(first['loc'][-1]), keys)}"
    message = first["msg"].removeprefix("Value error, ")
    value = f"{first['input']!r:.60}"
    return f"{path}: {key or 'file'}: {message}" + ("" if value in message else f", got {value}")
