"""`triattn card`: a case card of a view, or made again from its manifest, and whether its numbers are the same."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.commands import listing, paper
from triattn_core.errors import ConfigError, DataError, choices
from triattn_core.text.atomic_write import require_room

if TYPE_CHECKING:
    from triattn_core.case_card import RenderedView
    from triattn_core.case_card.manifest import Manifest


BEST = 3  # answers that are printed of each checkpoint


def arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    text = "manifest.json of a case card; or a view, its checkpoints, and a JSON file with one row of their task; or "
    text += "cube, heads or map, and a trace (.nc)"
    parser.add_argument("what", nargs="+", metavar="WHAT", help=text)
    text = "of a view: its settings, as its page has them: layer=2 units=token 1,token 2"
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=text)
    text = "where the card is written (.zip), or a figure for a paper (.pdf, .svg, .png)"
    parser.add_argument("--out", type=Path, required=True, help=text)
    paper.arguments(parser)
    listing.folders(parser)


def run(options: argparse.Namespace) -> None:
    """Draws, writes, and says the numbers that matter."""
    from triattn_core.scenes.catalogue import VIEWS

    require_room(options.out, "write the card")
    listing.added(options)
    if len(options.what) == 2 and options.what[1].endswith(".nc"):
        _of_trace(options, *options.what)
    elif len(options.what) == 1 and options.what[0] not in VIEWS:
        _again(options, Path(options.what[0]))
    else:
        _new(options, *options.what)


def _new(options: argparse.Namespace, view: str, *more: str) -> None:
    """A card of a view.  Raises ConfigError where checkpoint or input is missing."""
    from triattn_core.case_card import draw
    from triattn_core.case_card.cli_settings import command, read
    from triattn_core.case_card.manifest import manifest
    from triattn_core.case_card.paper import PaperFigure
    from triattn_core.commands.examples import warn_other_language
    from triattn_core.scenes.catalogue import VIEWS
    from triattn_core.scenes.runner import Models, find_cards
    from triattn_core.tasks import TASKS
    from triattn_core.text.rows import read_json

    if view not in VIEWS:
        raise ConfigError(f"no view {view!r}; {choices(view, VIEWS)}")
    if len(more) < 2:
        raise ConfigError(f"triattn card {view}: expected a checkpoint and a JSON file with one row of its task")
    *names, path = more
    settings, models, first = read(VIEWS[view].settings, options.set), Models(options.device), find_cards(names)[0]
    example = TASKS[first.config["task"]].Example.from_row(read_json(Path(path)), path)
    warn_other_language(models.load(first), [example])
    drawn = draw(view, names, example, models, **settings)
    if paper.wanted(options):
        chosen = drawn.settings.model_dump(mode="json")
        made = lambda tail: PaperFigure.of_view(drawn, command(view, names, chosen, *tail), options.figure)  # noqa: E731
        paper.write(options, made)
        return
    drawn.save(options.out)
    about = manifest(drawn)
    if options.json:
        told = about.model_dump(mode="json", include={"view", "settings", "said", "figures"})
        print(json.dumps({"out": str(options.out), "rows": len(drawn.table), **told}))
        return
    print(_wrote(options.out, about, drawn))
    for one in about.said:
        said = sorted(zip(one.labels, one.probabilities), key=lambda pair: -pair[1])[:BEST]
        name = f"{one.checkpoint}, {one.what}" if one.what else one.checkpoint
        print(f"{name}: {', '.join(f'{label[:60]} {share:.4f}' for label, share in said)}")
    for note in dict.fromkeys(note for one in drawn.found for note in one.prediction.notes):
        print(note)
    for said, titles in _sentences(about).items():
        print(f"{' and '.join(titles)}: {said}")


def _of_trace(options: argparse.Namespace, view: str, path: str) -> None:
    """A card or a figure of a trace alone.  Raises ConfigError for no view of a trace."""
    from triattn_core.case_card.cli_settings import read
    from triattn_core.case_card.trace_card import packed, paper_of
    from triattn_core.importers.open_file import open_file
    from triattn_core.scenes.trace_views import TRACE_VIEWS, draw_trace
    from triattn_core.text.atomic_write import write_whole

    if view not in TRACE_VIEWS:
        raise ConfigError(f"no view {view!r} of a trace alone; {choices(view, TRACE_VIEWS)}")
    drawn = draw_trace(view, open_file(Path(path)), **read(TRACE_VIEWS[view][0], options.set))
    if paper.wanted(options):
        paper.write(options, lambda tail: paper_of(drawn, *tail))
        return
    write_whole(options.out, packed(drawn))
    print(f"{options.out}: {view} of {drawn.trace.meta.get('checkpoint', path)}, {len(drawn.table):,} rows")


def _wrote(out: Path, about: Manifest, drawn: RenderedView) -> str:
    names = ", ".join(one.name for one in about.checkpoints[: about.drawn])
    return f"{out}: {about.view.replace('_', ' ')} of {names}, {len(drawn.table):,} rows"


def _sentences(about: Manifest) -> dict[str, list[str]]:
    """What each figure says, with the titles of those that say the same."""
    found: dict[str, list[str]] = {}
    for one in about.figures.values():
        found.setdefault(one["alt"], []).append(one["title"].partition(":")[0])
    return found


def _again(options: argparse.Namespace, path: Path) -> None:
    """A card made again, and how far the numbers are from those that lie beside the manifest."""
    from triattn_core.case_card.manifest import read
    from triattn_core.case_card.remake import again
    from triattn_core.scenes.runner import Models

    if options.set:
        raise ConfigError("--set: the settings of a card that is made again are those of its manifest")
    made = read(path)
    drawn = again(made, Models(options.device), str(path))
    beside = path.parent / "data.parquet"
    apart = {"probabilities": _answers(made, drawn)} | ({"data": furthest(beside, drawn)} if beside.is_file() else {})
    drawn.save(options.out)
    if options.json:
        print(json.dumps({"out": str(options.out), "view": made.view, "rows": len(drawn.table), "furthest": apart}))
        return
    print(_wrote(options.out, made, drawn))
    print(f"probabilities: at most {apart['probabilities']:.2g} from the manifest's")
    data = f"at most {apart['data']:.2g} from {beside}" if "data" in apart else f"not compared: there is no {beside}"
    print(f"data: {data}")


def _answers(made: Manifest, drawn: RenderedView) -> float:
    """The largest difference of a probability.  Raises DataError where there are others than recorded."""
    from triattn_core.case_card.manifest import manifest

    pairs = [(a.probabilities, b.probabilities) for a, b in zip(made.said, manifest(drawn).said)]
    if len(made.said) != len(drawn.found) or any(len(a) != len(b) for a, b in pairs):
        raise DataError("said: the manifest records other answers than these checkpoints give: was it edited?")
    return max(abs(x - y) for a, b in pairs for x, y in zip(a, b))


def furthest(path: Path, drawn: RenderedView) -> float:
    """The largest difference of a number of a stored table from that of the same cell.  Raises DataError: not the same
    cells."""
    from triattn_core.analysis.mining.case_table import BYTES
    from triattn_core.analysis.mining.decoded_size import read_frame

    try:
        stored = read_frame(path, BYTES)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a table as a case card has it ({str(error).splitlines()[0]})") from None
    table, what = drawn.table, [name for name in drawn.table if drawn.table[name].dtype.kind == "f"]
    # Cells are sorted by their weight: of equal ones the order may differ.
    names = [name for name in table if name not in what]
    if list(stored) != list(table) or len(stored) != len(table):
        raise DataError(f"{path}: not the cells of this manifest: was another card unpacked here?")
    stored, table = (one.sort_values(names, ignore_index=True) for one in (stored, table))
    if not stored[names].equals(table[names].astype(stored[names].dtypes)):
        raise DataError(f"{path}: not the cells of this manifest: was another card unpacked here?")
    return float((stored[what] - table[what]).abs().max().max())
