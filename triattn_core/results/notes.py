"""What to know before comparing ours with a paper's: from the records themselves, so that it is true of these runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from triattn_core.checkpoint import metadata, registry
from triattn_core.errors import DataError
from triattn_core.results.measured import Record
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.published import Note
from triattn_core.text.rows import read_json


def notes_on_cells(cells: Sequence[Cell]) -> list[Note]:
    """Encoder, training rows, seeds and empty cells of the cells of ours; empty where no row is ours."""
    used = list({id(cell.record): cell.record for cell in cells if cell.record and cell.values}.values())
    trained = [cell for cell in used if trained_on(cell)]
    notes = [Note(head="Encoder", text=text) for text in dict.fromkeys(map(_encoder, trained))]
    notes += [Note(head="Readers", text=text) for text in dict.fromkeys(map(_reader, used)) if text]
    notes += [Note(head="Start weights", text=text) for text in dict.fromkeys(map(_seen, trained)) if text]
    notes += [Note(head="Trained on", text=text) for text in dict.fromkeys(map(trained_on, used)) if text]
    notes += [Note(head="Timed", text=text) for text in dict.fromkeys(map(_timed, used)) if text]
    return notes + _seeds(cells) + _empty(cells)


def _encoder(record: Record) -> str:
    name = str(record.card.config.get("encoder") or "")
    folder = metadata.encoder_folder(record.card)
    size = _size(folder) if folder else ""
    if vocabulary := record.card.config.get("vocabulary"):
        return f"None: the vectors of its {vocabulary['tokens']} are learnt along."
    coin = record.card.config.get("kind") == "coin"
    if vectors := metadata.model_setting(record.card, "vectors") or "table" * coin:
        layer = vectors.removeprefix("layer:")
        of = "its embedding table" if layer == vectors else f"the states of its layer {layer}"
        return f"{name}{size}; the word vectors are {of}, frozen."
    read = ", ".join(encoder_rows(folder)) if folder else ""
    return f"{name or 'not recorded'}{size}; the heads are trained on its frozen features." + (
        f" It was itself trained on {read}." if read else ""
    )


def encoder_rows(folder: Path) -> list[str]:
    """The data sets of an encoder's own training, as its recipe names them, with those of the encoder it began from."""
    try:
        recipe = read_json(folder / "recipe.json")
        sets = [one for stage in recipe["stages"] for one in (*stage["data"], stage.get("mine"))]
        before = registry.find_encoder(recipe["start"]["encoder"]) if "encoder" in recipe["start"] else None
    except (DataError, KeyError, TypeError):
        return []
    return list(dict.fromkeys([*(encoder_rows(before) if before else []), *filter(None, sets)]))


def _reader(record: Record) -> str:
    """Of a reader: what it reads and its sizes, which the paper leaves open in part; empty of others."""
    settings = record.settings
    if settings.get("kind") != "reader":
        return ""
    source = (
        "the encoder's table" if settings.get("vectors") == "embedding" else f"{settings.get('vectors')} of the encoder"
    )
    return (
        f"Word vectors: {source}, projected to {settings.get('width')}; states of {settings.get('hidden')} features; "
        f"windows of at most {settings.get('max_tokens')} tokens. "
        "The paper: GloVe projected to 100, other sizes not printed."
    )


def reader_sizes(record: Record) -> list[str]:
    """Of a reader: what its number is to be read with, in few words."""
    settings = record.settings
    if settings.get("kind") != "reader":
        return []
    parts = f"{settings.get('vectors')} to {settings.get('width')}, states {settings.get('hidden')}"
    return [f"word vectors {parts}", trained_on(record).removesuffix(".")]


def _timed(record: Record) -> str:
    """Over how many batches a time was taken; empty of others."""
    batches = record.values("run", "batches")
    return f"Ours over {batches[0]:,.0f} batches, ± their standard deviation." if batches else ""


def _size(folder: Path) -> str:
    try:
        config = read_json(folder / "config.json")
        return f", {int(config['num_hidden_layers'])} layers of {int(config['hidden_size'])} features"
    except (DataError, KeyError, TypeError, ValueError):
        return ""


def _seen(record: Record) -> str:
    name, sources = record.card.config.get("encoder", ""), metadata.pretraining_sources(record.card)
    if sources is None:
        return f"What those of {name} had read is not recorded."
    if not sources:
        return f"{name} began from nothing." if name else ""
    of_test = [source.name for source in sources if source.of_test]
    if of_test:
        return f"Those of {name} had read {', '.join(of_test)}, the source of the test set: ours may flatter."
    more = f"{sources[0].name} and {len(sources) - 1} more"
    return f"Those of {name} had read {more}, none of it the source of this test set."


def trained_on(record: Record) -> str:
    """The training rows of a record in words; empty where its config has none."""
    told = metadata.flatten(record.card.config)
    sets = told.get("data.train")
    if not isinstance(sets, list) or not sets:
        return ""
    text = ", ".join(map(str, sets))
    where = [f"{name.rpartition('.')[2]} {one}" for name, one in told.items() if name.startswith("data.where.")]
    text += f", {' and '.join(where)} alone" if where else ""
    every, even, epochs = told.get("data.every", 1), told.get("data.even"), told.get("training.epochs")
    text = f"{f'One row in {every}' if every != 1 else 'All rows'} of {text}"
    if (share := told.get("data.dev_share")) and not told.get("data.dev"):
        of = "of its passages, " * (told.get("kind") == "reader")
        text += f", but for {100 * share:g} % {of}held out as dev"
    if isinstance(even, int | float):
        text += f", labels evened to {even:g} to one among pairs of like word overlap"
    text += f"; {epochs} epoch{'s' * (epochs != 1)}" if epochs else ""
    cells = told.get("cells")
    return text + (f"; read in {' / '.join(map(str, cells))} cells." if isinstance(cells, list) else ".")


def training_rows_note(cells: Sequence[Sequence[Cell]]) -> str:
    """Below a table in Markdown: the training rows of its records; empty where there are none."""
    records = [cell.record for line in cells for cell in line if cell.values and cell.record]
    return "".join(f"\n\nTrained on: {text}" for text in dict.fromkeys(map(trained_on, records)) if text)


def _seeds(cells: Iterable[Cell]) -> list[Note]:
    measured = [one for one in cells if one.values and one.record]
    measured = [one for one in measured if one.column.split != "run"]
    counts = Counter((len(one.values), one.record.each) for one in measured)
    if not counts:
        return []
    parts = [
        f"{f'{count} ' * (',' not in each)}{each}{'s' * (count > 1)} behind {n} cell{'s' * (n > 1)} of ours"
        for (count, each), n in sorted(counts.items(), reverse=True)
    ]
    text = f"{', '.join(parts)}."
    short = dict.fromkeys(one.column.name for one in measured if len(one.values) < one.record.runs)
    text += f" {' and '.join(short)}: not recorded of every seed." if short else ""
    sizes = {(one.record.rows(one.column.split), one.column.split) for one in measured}
    if len(sizes) == 1 and (rows := next(iter(sizes)))[0] and 0 < (measured[0].ours or 0) < 100:
        share = (measured[0].ours or 0) / 100
        error = 100 * (share * (1 - share) / rows[0]) ** 0.5
        text += f" {rows[0]:,} {rows[1]} rows: one standard error near {100 * share:.0f} % is {error:.2f}."
    return [Note(head="Seeds", text=text)]


def _empty(cells: Iterable[Cell]) -> list[Note]:
    reasons = Counter(cell.reason.partition(":")[0] for cell in cells if cell.reason)
    return [Note(head="Empty", text=f"{n} cells of ours: {reason}.") for reason, n in reasons.items()]
