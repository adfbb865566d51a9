"""What the rest of the library asks of a kind of checkpoint.

Facts are class attributes, which pages and commands read without loading torch; methods import what they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.trace.site import Site


@runtime_checkable
class Frozen(Protocol):
    """The part of a model that is not trained: it turns a batch into the inputs of the part that is."""

    @property
    def hidden(self) -> int:
        """Width of a state or vector, or the number of words without an encoder."""

    @property
    def digest(self) -> str:
        """Digest of the tensors, or of the vocabulary."""

    def __call__(self, batch: Any) -> Any:
        """The inputs of the trained part."""


class Kind:
    """A kind of checkpoint.  `KIND` of a file of `kinds` is one, usually a `text_kind.TextKind` with what differs.

    has_heads: its attention is split into heads, which the head atlas shows.
    compares_forms: its models differ in mechanism alone, and pages draw them side by side.
    has_controls: `controls` gives some, which tell what its attention is worth.
    finds_spans: answers are spans of a passage, found through the attention between passage and question.
    reads_word_table: word vectors are the embedding table of an encoder, where it has one.
    generates_rows: its task generates its rows; no file of them is read.
    keeps_last: the weights after the last step are kept, not those that are best on dev.
    keeps_curve: a record of a sweep holds what was measured on dev during training.
    attention_rows: how many rows of dev the measures of attention in metrics.json are taken on; 0 for none.
    records: the file of records that `triattn train` adds a line to if no page lists the folder; "" where the
    metrics.json of the folder is enough.
    """

    has_heads = False
    compares_forms = False
    has_controls = False
    finds_spans = False
    reads_word_table = False
    generates_rows = False
    keeps_last = False
    keeps_curve = False
    attention_rows = 0
    records = "trained"

    def pages(self, mechanism: str) -> tuple[str, ...]:
        """The pages of the app that show a checkpoint with this mechanism, the first for one example of it."""
        return ()

    # --- the config ---

    def section(self) -> type[Any]:
        """The class of its config.json, a `configs.parts.CheckpointConfig`."""
        raise NotImplementedError

    def task(self, config: Any) -> Any:
        """The task of a config: its Example, roles, labels and metrics."""
        raise NotImplementedError

    def outputs(self, config: Any) -> int:
        """The number of outputs of a model for one row."""
        raise NotImplementedError

    def controls(self, config: Any) -> Mapping[str, Mapping[str, Any]]:
        """By name, what a control that is trained beside a model has changed in its `model`; see `results.worth`."""
        return {}

    # --- the model ---

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        """The frozen part, made from an encoder.  Raises ConfigError if the encoder does not support the config."""
        raise NotImplementedError

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        """The frozen part on `device`, and the tokenizer; `folder`: of the checkpoint, if it has its own tokenizer.

        Raises ConfigError as `frozen`, and CheckpointError if either has another digest than the config records.
        """
        raise NotImplementedError

    def collate(self, rows: Sequence[Any], tokenizer: Any) -> Any:
        """A batch of rows, which `task.roles` makes; `to(device)` moves it.  The frozen part takes it."""
        raise NotImplementedError

    def model(self, config: Any, hidden: int) -> Any:
        """A new trainable model, a torch module; `hidden`: as of its frozen part."""
        raise NotImplementedError

    # --- answers ---

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The answer to one example, as `task.verdict` takes it: from the model's output for each of its rows, which
        are the options or windows that `task.roles` makes."""
        raise NotImplementedError

    def decode_all(self, bundle: Any, rows: Sequence[Sequence[Any]], outputs: Sequence[Sequence[Any]]) -> list:
        """`decode` of each of many examples."""
        return [self.decode(bundle, *example) for example in zip(rows, outputs)]

    def best_row(self, answer: Any) -> int:
        """The row of an example to trace where nobody has chosen: that with the answer."""
        raise NotImplementedError

    def prediction(self, bundle: Any, example: Any, answer: Any, parts: int, **fields: Any) -> Any:
        """The answer as a `predictions.Prediction`.  parts: the number of rows; fields: `notes` and `option`."""
        raise NotImplementedError

    def trace_answer(
        self, bundle: Any, roles: Any, answer: Any, keep_site: Callable[[Site], bool]
    ) -> tuple[Any, Mapping[Site, Any], Mapping[str, str]]:
        """What a trace has beyond the pass over the input, where an answer is made word by word: the roles that its
        sites refer to, more recorded sites, and the texts of the answer, by name."""
        return roles, {}, {}

    def marked_word(self, example: Any) -> tuple[str, int] | None:
        """What a word of the example is that the model is asked about, and where it begins in its text; None: none."""
        return None

    # --- training ---

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        """Train the checkpoint of `config`; yields `training.loop.Event`s; writes weights and config to `folder`."""
        raise NotImplementedError

    def folds(self, config: Any, folder: Path, runs: Path) -> dict[Path, Any]:
        """The folder and config of each fold of a cross-validation, the shipped one first; without, the config's."""
        return {folder: config}

    def splits(self, config: Any, data: Path) -> Any:
        """The rows for training, dev and test, a `training.sentence.splits.Splits`, if the kind chooses them itself;
        None if the files of the data set are the parts."""
        return None

    def held_out(self, config: Any, examples: Sequence[Any]) -> list[Any]:
        """Those of the examples of its training set that are its dev.  Raises DataError where dev is another file."""
        raise DataError("--dev: the dev rows of this model are a file of their own; name that file instead")

    # --- what is measured and written down ---

    def measured_alike(self, config: Any) -> tuple:
        """Checkpoints for which this is equal read the same inputs and are measured in one pass."""
        raise NotImplementedError

    def measure(
        self, bundles: Sequence[Any], config: Any, data: Path, runs: Path, resume: bool, splits: Sequence[str]
    ) -> list[dict]:
        """`{"dev": …, "test": …}` of each bundle, for `splits`; see `training.scores.measure`."""
        raise NotImplementedError

    def require_packages(self) -> None:
        """Raises InputError, before rows are read, if a package that measures its score is not installed."""

    def attention_report(
        self, bundle: Any, examples: Sequence[Any], progress: Callable[[int], object] = lambda count: None
    ) -> Mapping[str, Any]:
        """What is measured of its attention over labelled examples.  Raises InputError if nothing can be."""
        raise NotImplementedError

    def card(self, folder: Path) -> str:
        """The model card of a folder with config.json and metrics.json."""
        raise NotImplementedError
