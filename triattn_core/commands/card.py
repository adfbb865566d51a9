"""`triattn card`: make a case card of a view, or remake one from its manifest and compare its numbers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.commands import listing, paper_options
from triattn_core.errors import ConfigError, DataError, choices
from triattn_core.text.atomic_write import require_room

if TYPE_CHECKING:
    from triattn_core.case_card import RenderedView
    from triattn_core.case_card.manifest import Manifest


BEST = 3  # answers to print per checkpoint


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "a view, its checkpoints, and a JSON file with one row of their task; or cube, heads, map, context, mtsa, "
    text += "tensor or coin and a trace (.nc); or side_by_side and two traces; or the manifest.json of a case card to "
    text += "make it again"
    parser.add_argument("what", nargs="+", metavar="WHAT", help=text)
    text = "settings of the view, named as in the link of its page, such as layer=2 units=token 1,token 2"
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=text)
    text = "where to save the card (.zip), or a figure for a paper (.pdf, .svg, .png)"
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=text)
    paper_options.arguments(parser)
    listing.folders(parser)
    listing.modules(parser)


def run(options: argparse.Namespace) -> None:
    """Render and write the card, and print its main numbers."""
    from triattn_core.scenes.catalogue import SCENES

    require_room(options.out, "write the card")
    listing.add_folders(options)
    listing.add_modules(options)
    if len(options.what) > 1 and options.what[-1].endswith(".nc"):
        _of_traces(options, *options.what)
    elif len(options.what) == 1 and options.what[0] not in SCENES:
        _remake(options, Path(options.what[0]))
    else:
        _new(options, *options.what)


def _new(options: argparse.Namespace, view: str, *arguments: str) -> None:
    """Make a card of a view.  Raises ConfigError if checkpoint or input is missing."""
    from triattn_core.case_card import draw
    from triattn_core.case_card.manifest import manifest
    from triattn_core.commands.examples import warn_other_language
    from triattn_core.commands.progress_line import count_progress
    from triattn_core.importers.text_rows import example_fields
    from triattn_core.scenes.catalogue import SCENES
    from triattn_core.scenes.cli_settings import read
    from triattn_core.sources import find_entries
    from triattn_core.sources.models import Models
    from triattn_core.tasks import TASKS, text_task
    from triattn_core.text.rows import read_json

    if view not in SCENES:
        raise ConfigError(f"no view {view!r}; {choices(view, SCENES)}")
    if len(arguments) < 2:
        raise ConfigError(f"triattn card {view}: expected a checkpoint and a JSON file with one row of its task")
    *names, path = arguments
    models, first = Models(options.device), find_entries(names)[0]
    task = first.config["task"]
    settings = read(SCENES[view].settings, options.set, task)
    row = read_json(Path(path))
    if "source" in first.config:
        row = example_fields(row, path)
        task = text_task(task, row)
    example = TASKS[task].Example.from_row(row, path)
    if "source" not in first.config:  # of another library nobody knows what it reads
        warn_other_language(models.load(first), [example])
    with count_progress(view):
        rendered = draw(view, names, example, models, **settings)
    if paper_options.is_requested(options):
        _write_figure(options, rendered, names, path)
        return
    rendered.save(options.out)
    record = manifest(rendered)
    if options.json:
        fields = record.model_dump(mode="json", include={"view", "settings", "said", "figures"})
        print(json.dumps({"out": str(options.out), "rows": len(rendered.table), **fields}))
        return
    _print_card(options.out, record, rendered)


def _write_figure(options: argparse.Namespace, rendered: RenderedView, names: Sequence[str], row: str) -> None:
    """Write the figure of a view for a paper, whose caption has the command that makes it again."""
    from triattn_core.case_card.paper_figure import PaperFigure
    from triattn_core.scenes.cli_settings import command, where
    from triattn_core.sources import find_entries

    settings, found = rendered.settings.model_dump(mode="json"), where(find_entries(names))

    def make_figure(tail: tuple[str, ...]) -> PaperFigure:
        asked = command(rendered.view, names, settings, *tail, found=found, row=row)
        return PaperFigure.of_view(rendered, asked, options.figure)

    paper_options.write(options, make_figure)


def _print_card(out: Path, record: Manifest, rendered: RenderedView) -> None:
    """Print where the card is, the predictions, and the sentences of its figures."""
    print(_describe_output(out, record, rendered))
    for answer in record.said:
        best = sorted(zip(answer.labels, answer.probabilities), key=lambda pair: -pair[1])[:BEST]
        name = f"{answer.checkpoint}, {answer.what}" if answer.what else answer.checkpoint
        print(f"{name}: {', '.join(f'{label[:60]} {share:.4f}' for label, share in best)}")
    for note in dict.fromkeys(note for panel in rendered.explanations for note in panel.prediction.notes):
        print(note)
    for sentence, titles in _sentences(record).items():
        print(f"{' and '.join(titles)}: {sentence}")


def _of_traces(options: argparse.Namespace, view: str, *paths: str) -> None:
    """A card of a trace alone, or a figure of one or two.  Raises ConfigError for no view of a trace."""
    from triattn_core.case_card import draw
    from triattn_core.case_card.manifest import trace_command
    from triattn_core.case_card.paper_figure import PaperFigure
    from triattn_core.importers.open_file import open_file
    from triattn_core.scenes.catalogue import SCENES, TRACE_VIEWS
    from triattn_core.scenes.cli_settings import read_plain

    if view not in TRACE_VIEWS:
        raise ConfigError(f"no view {view!r} of a trace alone; {choices(view, TRACE_VIEWS)}")
    traces = [open_file(Path(path)) for path in paths]
    rendered = draw(view, traces, **read_plain(SCENES[view].settings, options.set))
    if paper_options.is_requested(options):
        command = partial(trace_command, view, rendered.settings, files=[Path(path).name for path in paths])
        paper_options.write(options, lambda tail: PaperFigure.of_view(rendered, command(*tail), options.figure))
        return
    rendered.save(options.out)
    subject = rendered.figure.caption or rendered.explanations[0].entry.name
    print(f"{options.out}: {view} of {subject}, {len(rendered.table):,} rows")


def _describe_output(out: Path, record: Manifest, rendered: RenderedView) -> str:
    names = ", ".join(checkpoint.name for checkpoint in record.checkpoints[: record.drawn]) or record.trace
    return f"{out}: {record.view.replace('_', ' ')} of {names}, {len(rendered.table):,} rows"


def _sentences(record: Manifest) -> dict[str, list[str]]:
    """The sentence of each figure → the titles of the figures with this sentence."""
    titles: dict[str, list[str]] = {}
    for figure in record.figures.values():
        titles.setdefault(figure["alt"], []).append(figure["title"].partition(":")[0])
    return titles


def _remake(options: argparse.Namespace, path: Path) -> None:
    """Remake a card, and compare its numbers with those next to the manifest."""
    from triattn_core.case_card.manifest import read
    from triattn_core.case_card.remake import remake
    from triattn_core.sources.models import Models

    if options.set:
        raise ConfigError("--set: the settings of a card that is made again are those of its manifest")
    recorded = read(path)
    rendered = remake(recorded, Models(options.device), str(path))
    data_file = path.parent / "data.parquet"
    differences = {"probabilities": _answers(recorded, rendered)} if recorded.said else {}
    differences |= {"data": largest_difference(data_file, rendered)} if data_file.is_file() else {}
    rendered.save(options.out)
    if options.json:
        print(
            json.dumps(
                {"out": str(options.out), "view": recorded.view, "rows": len(rendered.table), "furthest": differences}
            )
        )
        return
    print(_describe_output(options.out, recorded, rendered))
    if "probabilities" in differences:
        print(f"probabilities: at most {differences['probabilities']:.2g} from the manifest's")
    data = (
        f"at most {differences['data']:.2g} from {data_file}"
        if "data" in differences
        else f"not compared: there is no {data_file}"
    )
    print(f"data: {data}")


def _answers(recorded: Manifest, rendered: RenderedView) -> float:
    """The largest difference of a probability.  Raises DataError if the answers are not the recorded ones."""
    from triattn_core.case_card.manifest import manifest

    pairs = [(a.probabilities, b.probabilities) for a, b in zip(recorded.said, manifest(rendered).said)]
    if len(recorded.said) != len(rendered.explanations) or any(len(a) != len(b) for a, b in pairs):
        raise DataError("said: the predictions of these checkpoints differ from the manifest; was it edited?")
    return max(abs(x - y) for a, b in pairs for x, y in zip(a, b))


def largest_difference(path: Path, rendered: RenderedView) -> float:
    """The largest difference of a number from that of the same cell in a stored table.  Raises DataError if the cells
    are not the same."""
    from triattn_core.analysis.mining.case_table import BYTES
    from triattn_core.analysis.mining.decoded_size import read_frame

    try:
        stored = read_frame(path, BYTES)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a table as a case card has it ({str(error).splitlines()[0]})") from None
    table, numeric = rendered.table, [name for name in rendered.table if rendered.table[name].dtype.kind == "f"]
    # Cells are sorted by weight: the order of equal ones may differ.
    names = [name for name in table if name not in numeric]
    if list(stored) != list(table) or len(stored) != len(table):
        raise DataError(f"{path}: not the cells of this manifest: was another card unpacked here?")
    stored, table = (frame.sort_values(names, ignore_index=True) for frame in (stored, table))
    if not stored[names].equals(table[names].astype(stored[names].dtypes)):
        raise DataError(f"{path}: not the cells of this manifest: was another card unpacked here?")
    return float((stored[numeric] - table[numeric]).abs().max().max())
