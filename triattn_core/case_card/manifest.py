"""The manifest of a case card: what was asked of which checkpoints, and how to make the card again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError, DataError, choices
from triattn_core.scenes.catalogue import SCENES, TRACE_VIEWS
from triattn_core.scenes.cli_settings import card_command
from triattn_core.scenes.scene import RequestedScene
from triattn_core.scenes.settings import ViewSettings, validate_settings
from triattn_core.sources.explanation import Explanation
from triattn_core.tasks import TASKS
from triattn_core.text.rows import read_json

FORMAT = 1
FILE, TRACE = "manifest.json", "trace.nc"
COMMAND = f"triattn card {FILE} --out card.zip"
PACKAGES = (
    "triattn torch transformers tokenizers captum numpy scipy xarray pandas matplotlib altair vl-convert-python"
).split()


class Checkpoint(BaseModel):
    """A checkpoint by name, the digests of its tensors and of its encoder's, and the seed of its training."""

    name: str
    digest: str
    encoder: str | None = None
    encoder_digest: str | None = None
    seed: int | None = None


class CheckpointPrediction(BaseModel):
    """The prediction of a checkpoint for the example; what: the `stage` of its `Explanation`."""

    checkpoint: str
    what: str = ""
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]


class Manifest(BaseModel):
    """What `triattn card` needs, and what a user wants to know.

    view: by its name in SCENES.  row: the example in the file format of its task.  checkpoints: those in the figures,
    then those of other seeds; drawn: how many are in the figures.  said: their predictions.  Of a trace alone these
    are empty; trace, digest: its name and, where it is known, its digest.  figures: of each its title and what it shows
    in words.  versions: of what it was made with.  What is drawn at random has its seed in the settings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    command: str
    view: str
    task: str = ""
    row: dict[str, Any] = {}
    settings: dict[str, Any]
    checkpoints: tuple[Checkpoint, ...] = ()
    drawn: int = Field(0, ge=0)
    said: tuple[CheckpointPrediction, ...] = ()
    trace: str = ""
    digest: str = ""
    figures: dict[str, dict[str, str]]
    versions: dict[str, str]

    @model_validator(mode="after")
    def _has_a_source(self) -> Manifest:
        if bool(self.task) != bool(self.checkpoints) or self.drawn > len(self.checkpoints):
            raise ValueError("expected a task and its checkpoints, or neither for a trace alone")
        return self


def manifest(rendered: RequestedScene) -> Manifest:
    """The manifest of what was drawn.  Raises ConfigError for several traces."""
    if not rendered.task and len(rendered.explanations) > 1:
        raise ConfigError("a case card holds one trace: save two side by side as a figure (.pdf, .svg, .png)")
    figures = {name: {"title": figure.title, "alt": figure.alt} for name, figure in rendered.figures.items()}
    common: dict[str, Any] = {"format": FORMAT, "view": rendered.view, "figures": figures, "versions": versions()}
    common |= {"settings": rendered.settings.model_dump(mode="json")}
    if not rendered.task:
        entry, command = rendered.explanations[0].entry, trace_command(rendered.view, rendered.settings)
        return Manifest(command=command, trace=entry.name, digest=entry.digest, **common)
    entries = list({explanation.entry.name: explanation.entry for explanation in rendered.explanations}.values())
    seeds = [entry for entry in {entry.name: entry for entry in rendered.seeds}.values() if entry not in entries]
    return Manifest(
        command=COMMAND,
        task=rendered.task,
        row=dict(rendered.row),
        checkpoints=[describe_checkpoint(entry) for entry in (*entries, *seeds)],
        drawn=len(entries),
        said=[_prediction(explanation) for explanation in rendered.explanations],
        **common,
    )


def trace_command(view: str, settings: ViewSettings, *tail: str, files: Sequence[str] = (TRACE,)) -> str:
    """What makes the card of traces alone again, or what else is asked in the tail.  files: where the traces are."""
    return card_command(view, files, settings, *(tail or ("--out", f"{view}.zip")))


def describe_checkpoint(entry: Entry) -> Checkpoint:
    """A checkpoint as it lies here."""
    training = entry.config.get("training")
    seed = training.get("seed", 1) if isinstance(training, Mapping) else None
    encoder = (entry.config.get("encoder"), entry.config.get("encoder_digest"))
    return Checkpoint(name=entry.name, digest=entry.digest, encoder=encoder[0], encoder_digest=encoder[1], seed=seed)


def _prediction(explanation: Explanation) -> CheckpointPrediction:
    prediction = explanation.prediction
    return CheckpointPrediction(
        checkpoint=explanation.entry.name,
        what=explanation.stage,
        labels=prediction.labels,
        probabilities=prediction.probabilities,
    )


def versions() -> dict[str, str]:
    """Of Python and the packages that take part in the numbers."""
    packages = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed as a package"
    return packages


def read(path: Path) -> Manifest:
    """A manifest from its file.  Raises DataError in one line: no JSON, a newer format, or not a manifest."""
    content = read_json(path)
    if not isinstance(content.get("format"), int) or "view" not in content:
        raise DataError(f"{path}: not a manifest as a case card has it: expected format and view")
    if content["format"] > FORMAT:
        raise DataError(f"{path}: format {content['format']}, this triattn reads up to {FORMAT}: use a newer one")
    try:
        record = Manifest.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    views = SCENES if record.task else {name: SCENES[name] for name in TRACE_VIEWS}
    for kind, name, registered in (("view", record.view, views), ("task", record.task, TASKS)):
        if name and name not in registered:
            raise DataError(f"{path}: no {kind} {name!r}; {choices(name, registered)}")
    validate_settings(SCENES[record.view].settings, record.settings, str(path))
    return record
