"""Parts shared by the configs of all kinds of checkpoint: training rows and optimisation settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triattn_core.text.roles import Limits


class Strict(BaseModel):
    """A frozen model that rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CheckpointConfig(Strict):
    """A config.json.  The classes of the kinds have these fields, each at its own place among others.

    encoder: a name under checkpoints/encoders, a local folder or a hub name.  digests: of the tensors, once trained.
    """

    if TYPE_CHECKING:
        kind: str
        task: str
        language: str
        encoder: str | None
        max_tokens: int
        model: Any
        data: Any
        training: Any
        encoder_digest: str | None
        digest: str | None

    @property
    def limits(self) -> Limits:
        """How much of a text the model reads at once."""
        return Limits(self.max_tokens)

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets that it names, those for training first."""
        return (*self.data.train, *filter(None, (self.data.dev, self.data.test)))

    @property
    def folds(self) -> int:
        """The number of folds of a cross-validation, for a set without a split; 0 without."""
        return getattr(self.data, "folds", 0)


class Data(Strict):
    """Data sets by name: files `<name>.jsonl.gz` under the data folder.

    every: k keeps every k-th training row.
    where: of train and dev, keep only rows whose fields have these values, such as {"level": "middle"}.
    even: in each tenth of token overlap, no label has more than this many times the rows of the other; see
    `training.overlap_balance`.
    """

    train: tuple[str, ...] = Field(min_length=1)
    where: dict[str, str] = {}
    even: float | None = Field(None, ge=1)
    every: int = Field(1, ge=1)
    dev: str
    test: str | None = None

    @model_validator(mode="after")
    def _measured_on_other_rows(self) -> Data:
        if {self.dev, self.test} & set(self.train) or self.dev == self.test:
            raise ValueError("train, dev and test must be different sets")
        return self


class Training(Strict):
    """AdamW with linear warm-up and decay; the best epoch on dev is kept."""

    epochs: int = Field(ge=1)
    rate: float = Field(gt=0, lt=1)
    batch: int = Field(ge=1)
    seed: int = Field(1, ge=0)
    more_seeds: tuple[int, ...] = ()  # trained and measured for seed variance; not shipped
    weight_decay: float = Field(0.01, ge=0)
    precision: Literal["no", "bf16"] = "no"  # of the matrix products in training; weights and metrics are float32

    @model_validator(mode="after")
    def _each_seed_once(self) -> Training:
        if len({self.seed, *self.more_seeds}) < 1 + len(self.more_seeds):
            raise ValueError(f"more_seeds must differ from each other and from seed {self.seed}")
        return self


class SentenceData(Strict):
    """Data sets by name, as in `Data`; `where` filters the training sets and whatever is split off them.

    dev: None if there is no such set: `dev_share` of the training rows is then held out.
    folds: number of folds of cross-validation, for a set without a split; `train` and `test` name the same set, and the
    shipped weights are those tested on fold `fold`, from 1.
    repeats: draw folds over rows, as in published figures, so that a text that occurs twice may be in training and
    test; by default equal texts share a fold and are trained on once.
    split_seed: seed of the splits; the same for all training seeds, so that they are comparable.
    """

    train: tuple[str, ...] = Field(min_length=1)
    where: dict[str, str] = {}
    every: int = Field(1, ge=1)
    dev: str | None = None
    dev_share: float = Field(0.1, gt=0, lt=1)
    test: str | None = None
    folds: int = Field(0, ge=0, le=100)
    fold: int = Field(1, ge=1)
    repeats: bool = False
    split_seed: int = Field(1, ge=0)

    @model_validator(mode="after")
    def _measured_on_other_rows(self) -> SentenceData:
        if not self.folds and ({self.dev, self.test} & set(self.train) or self.dev and self.dev == self.test):
            raise ValueError("train, dev and test must be different sets; a set without a split has folds")
        if self.folds and (self.folds < 3 or self.dev or len(self.train) > 1 or self.test not in (None, *self.train)):
            raise ValueError("folds: at least 3, of one set that is train and test, without dev")
        if self.repeats and not self.folds:
            raise ValueError("repeats applies only with folds; remove it")
        if self.fold > max(1, self.folds):
            raise ValueError(f"fold {self.fold}: there are {self.folds} folds")
        return self


class SentenceTraining(Training):
    """As appendix B: L2 is the optimizer's weight decay (decoupled from the gradient in `adamw`); no schedule."""

    rate: float = Field(gt=0, le=1)
    optimizer: Literal["adam", "adadelta", "adamw"] = "adam"
    schedule: Literal["constant", "linear"] = "constant"  # linear: warm-up, then decay
    weight_decay: float = Field(1e-4, ge=0)


class ReaderTraining(SentenceTraining):
    """As section 5.2 of the T-trilinear paper; average: decay of the moving average of the weights."""

    optimizer: Literal["adam", "adadelta", "adamw"] = "adadelta"
    weight_decay: float = Field(0.0, ge=0)
    average: float = Field(0.999, ge=0, lt=1)


class TaggerData(Strict):
    """Data sets by name, as in `Data`; `where` filters the training sets."""

    train: tuple[str, ...] = Field(min_length=1)
    where: dict[str, str] = {}
    dev: str
    test: str | None = None

    @model_validator(mode="after")
    def _measured_on_other_rows(self) -> TaggerData:
        if {self.dev, self.test} & set(self.train) or self.dev == self.test:
            raise ValueError("train, dev and test must be different sets")
        return self


class TaggerTraining(SentenceTraining):
    """AdamW with linear warm-up and decay; smoothing: label smoothing (Tan et al. use Adadelta and no decay)."""

    optimizer: Literal["adam", "adadelta", "adamw"] = "adamw"
    schedule: Literal["constant", "linear"] = "linear"
    weight_decay: float = Field(0.01, ge=0)
    smoothing: float = Field(0.1, ge=0, lt=1)


class TranslationData(TaggerData):
    """Data sets by name, as in `Data`.

    turned: translate targets to sources.  sub_words: size of the vocabulary, learnt from both sides of training sets.
    """

    turned: bool = False
    sub_words: int = Field(8000, ge=300)


class TranslationTraining(TaggerTraining):
    """As TaggerTraining; `weight_decay` 0, as in the Transformer."""

    weight_decay: float = Field(0.0, ge=0)


class Vocabulary(Strict):
    """The vocabulary of the training rows, characters or words: those that occur at least `least` times."""

    tokens: Literal["characters", "words"]
    least: int = Field(2, ge=1)


class CoinTraining(Training):
    """As appendix A: Adam, rate × `decay` after each epoch, L2 on all matrices except word vectors.

    balanced: every label has the same weight in the loss, whatever its number of rows.
    """

    optimizer: Literal["adam", "adamw"] = "adam"
    schedule: Literal["exponential", "linear", "constant"] = "exponential"
    decay: float = Field(0.9, gt=0, le=1)
    weight_decay: float = Field(1e-6, ge=0)
    clip: float = Field(5.0, gt=0)
    balanced: bool = False


class LaboratoryData(Strict):
    """Numbers and seeds of the generated rows; `triattn evaluate NAME laboratory:TASK` generates them again."""

    size: int | None = None  # of the task, if not its default: number of words, or of keys and contexts
    train_rows: int = Field(64_000, ge=1)
    dev_rows: int = Field(1000, ge=1)
    test_rows: int = Field(4000, ge=1)
    train_seed: int = 3
    dev_seed: int = 2
    test_seed: int = 1

    @model_validator(mode="after")
    def _measured_on_other_rows(self) -> LaboratoryData:
        if len({self.train_seed, self.dev_seed, self.test_seed}) < 3:
            raise ValueError("train_seed, dev_seed and test_seed must differ")
        return self


class LaboratoryTraining(Training):
    """AdamW with a short warm-up; the rate decays over the last quarter.  The last weights are kept."""

    rate: float = Field(3e-3, gt=0, lt=1)
    batch: int = Field(128, ge=1)
    weight_decay: float = Field(0.0, ge=0)
