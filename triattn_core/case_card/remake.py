"""A case card made again from its manifest."""

from __future__ import annotations

from pathlib import Path

from triattn_core.case_card.draw import draw
from triattn_core.case_card.manifest import FILE, TRACE, Checkpoint, Manifest, describe_checkpoint
from triattn_core.case_card.rendered import RenderedView
from triattn_core.errors import CheckpointError
from triattn_core.importers.open_file import open_file
from triattn_core.sources import find_entries
from triattn_core.sources.models import Models
from triattn_core.tasks import TASKS


def remake(manifest: Manifest, models: Models | None = None, where: str = FILE) -> RenderedView:
    """Draws what a manifest says; where: its file, beside which the trace of a card of a trace alone lies.

    Raises CheckpointError where a checkpoint has other weights than it records, and whatever `draw` does.
    """
    if not manifest.task:
        return draw(manifest.view, open_file(Path(where).parent / TRACE), **manifest.settings)
    entries = find_entries([checkpoint.name for checkpoint in manifest.checkpoints])
    for recorded, entry in zip(manifest.checkpoints, entries):
        current = describe_checkpoint(entry)
        pairs = ((recorded.name, current.digest, recorded.digest), *_encoders(current, recorded))
        for name, actual, expected in pairs:
            if actual != expected:
                raise CheckpointError(
                    f"{name} here has digest {actual[:12]}, the manifest records {expected[:12]}: the card was made "
                    "with other weights; name the folder that has them with --checkpoints"
                )
    example = TASKS[manifest.task].Example.from_row(manifest.row, where)
    names = [checkpoint.name for checkpoint in manifest.checkpoints[: manifest.drawn]]
    return draw(manifest.view, names, example, models, **manifest.settings)


def _encoders(current: Checkpoint, recorded: Checkpoint) -> list[tuple[str, str, str]]:
    name = f"the encoder {recorded.encoder} of {recorded.name}" if recorded.encoder else f"the words of {recorded.name}"
    return [(name, current.encoder_digest or "none", recorded.encoder_digest or "none")]
