"""Notes on comparing our results with a paper's, made from the records, so that they are true of these runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from triattn_core.analysis.significance import NO_SHARES, standard_error
from triattn_core.checkpoint import metadata, provenance, registry
from triattn_core.errors import DataError
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_schema import Note
from triattn_core.results.run_records import Record
from triattn_core.text.rows import read_json
from triattn_core.trace.listing import listing

Place = tuple[str, str]  # the row and the column of a cell


def notes_on_cells(cells: Sequence[Cell], rows: Sequence[str] = ()) -> list[Note]:
    """Notes on encoder, training rows, seeds and empty cells of our results; empty if no row is ours.

    rows: the name of each cell's row, for notes that do not hold for all.
    """
    named: dict[int, tuple[Record, list[Place]]] = {}
    for cell, row in zip(cells, rows or [""] * len(cells)):
        if cell.record and cell.values:
            named.setdefault(id(cell.record), (cell.record, []))[1].append((row, cell.column.name))
    records = list(named.values())
    trained_records = [(record, places) for record, places in records if trained_on(record)]
    notes = _by_rows("Encoder", _encoder, trained_records) + _by_rows("Readers", _reader, records)
    notes += _by_rows("Start weights", _pretraining_note, trained_records)
    notes += _by_rows("Trained on", trained_on, records) + _by_rows("Timed", _timing_note, records)
    return notes + _seeds(cells) + _empty(cells, rows)


def _by_rows(head: str, describe: Callable[[Record], str], records: Sequence[tuple[Record, list[Place]]]) -> list[Note]:
    """A note for each text; where there are several, each names its rows, or its columns if it shares no column."""
    texts: dict[str, list[Place]] = {}
    for record, places in records:
        if text := describe(record):
            texts.setdefault(text, []).extend(places)
    if len(texts) < 2:
        return [Note(head=head, text=text) for text in texts]
    by_row, by_column = ([list(dict.fromkeys(place[i] for place in each)) for each in texts.values()] for i in (0, 1))
    names = by_column if _overlap(by_row) and not _overlap(by_column) else by_row
    return [Note(head=head, text=_of_rows(text, list(filter(None, own)))) for text, own in zip(texts, names)]


def _overlap(names: Sequence[Sequence[str]]) -> bool:
    return len({name for each in names for name in each}) < sum(map(len, names))


def _of_rows(text: str, names: Sequence[str]) -> str:
    return f"{listing(names)}: {text}" if names else text


def _encoder(record: Record) -> str:
    name = str(record.entry.config.get("encoder") or "")
    folder = provenance.encoder_folder(record.entry)
    size = _size(folder) if folder else ""
    if vocabulary := record.entry.config.get("vocabulary"):
        return f"None: the vectors of its {vocabulary['tokens']} are learnt along."
    if vectors := metadata.model_setting(record.entry, "vectors") or "table" * record.entry.kind.reads_word_table:
        layer = vectors.removeprefix("layer:")
        vector_source = "its embedding table" if layer == vectors else f"the states of its layer {layer}"
        return f"{name}{size}; the word vectors are {vector_source}, frozen."
    rows = ", ".join(encoder_rows(folder)) if folder else ""
    return f"{name or 'not recorded'}{size}; the models are trained on its frozen features." + (
        f" It was itself trained on {rows}." if rows else ""
    )


def encoder_rows(folder: Path) -> list[str]:
    """The data sets in an encoder's recipe, and in that of the encoder that it started from."""
    try:
        recipe = read_json(folder / "recipe.json")
        sets = [name for stage in recipe["stages"] for name in (*stage["data"], stage.get("mine"))]
        base = registry.find_encoder(recipe["start"]["encoder"]) if "encoder" in recipe["start"] else None
    except (DataError, KeyError, TypeError):
        return []
    return list(dict.fromkeys([*(encoder_rows(base) if base else []), *filter(None, sets)]))


def _reader(record: Record) -> str:
    """For readers: word vectors and sizes, some of which the paper does not give; empty for other models."""
    settings = record.settings
    if not record.entry.kind.finds_spans:
        return ""
    return (
        f"{describe_vectors(settings).capitalize()}; states of {settings.get('hidden')} features; windows "
        f"of at most {settings.get('max_tokens')} tokens. "
        "The paper: GloVe projected to 100, other sizes not printed."
    )


def reader_sizes(record: Record) -> list[str]:
    """For readers: sizes and training rows in a few words; empty for other models."""
    settings = record.settings
    if not record.entry.kind.finds_spans:
        return []
    sizes = f"{describe_vectors(settings)}, states {settings.get('hidden')}"
    return [sizes, trained_on(record).removesuffix(".")]


def describe_vectors(settings: Mapping[str, Any]) -> str:
    """A reader's word vectors in a few words: `word vectors of the encoder's layer 4, projected to 64`."""
    source = str(settings.get("vectors"))
    source = "table" if source == "embedding" else source.replace(":", " ")
    return f"word vectors of the encoder's {source}, projected to {settings.get('width')}"


def _timing_note(record: Record) -> str:
    """The number of batches of a timing; empty for other records."""
    batches = record.values("run", "batches")
    return f"Ours over {batches[0]:,.0f} batches, ± their standard deviation." if batches else ""


def _size(folder: Path) -> str:
    try:
        config = read_json(folder / "config.json")
        return f", {int(config['num_hidden_layers'])} layers of {int(config['hidden_size'])} features"
    except (DataError, KeyError, TypeError, ValueError):
        return ""


def _pretraining_note(record: Record) -> str:
    name, sources = record.entry.config.get("encoder", ""), provenance.pretraining_sources(record.entry)
    if sources is None:
        return f"The pre-training data of {name} is not recorded."
    if not sources:
        return f"{name} was trained from scratch." if name else ""
    of_test = [source.name for source in sources if source.of_test]
    if of_test:
        sources_text = ", ".join(of_test)
        return (
            f"{name} was pre-trained on {sources_text}, the source of the test set: our scores may be inflated by "
            "contamination."
        )
    names = f"{sources[0].name} and {len(sources) - 1} more"
    return f"{name} was pre-trained on {names}, none of it the source of this test set."


def trained_on(record: Record) -> str:
    """The training rows of a record in words; empty if its config has none."""
    settings = metadata.flatten(record.entry.config)
    sets = settings.get("data.train")
    if not isinstance(sets, list) or not sets:
        return ""
    text = ", ".join(map(str, sets))
    where = [f"{name.rpartition('.')[2]} {value}" for name, value in settings.items() if name.startswith("data.where.")]
    text += f", {' and '.join(where)} alone" if where else ""
    step, even, epochs = settings.get("data.every", 1), settings.get("data.even"), settings.get("training.epochs")
    text = f"{f'One row in {step}' if step != 1 else 'All available rows'} of {text}"
    if (share := settings.get("data.dev_share")) and not settings.get("data.dev"):
        unit = "of its passages, " * record.entry.kind.finds_spans
        text += f", but for {100 * share:g} % {unit}held out as dev"
    if isinstance(even, int | float):
        text += f", labels balanced to {even:g} to one at similar word overlap"
    text += f"; {epochs} epoch{'s' * (epochs != 1)}" if epochs else ""
    cells = settings.get("cells")
    return text + (f"; read in {' / '.join(map(str, cells))} cells." if isinstance(cells, list) else ".")


def training_rows_note(cells: Sequence[Sequence[Cell]]) -> str:
    """The training rows of a table's records, as Markdown below it; empty if there are none."""
    records = [cell.record for line in cells for cell in line if cell.values and cell.record]
    return "".join(f"\n\nTrained on: {text}" for text in dict.fromkeys(map(trained_on, records)) if text)


def _unit(record: Record) -> str:
    voters = record.settings.get("voters")
    return f"a vote of {voters} seeds" if voters else record.unit


def _seeds(cells: Iterable[Cell]) -> list[Note]:
    measured = [cell for cell in cells if cell.values and cell.record and cell.column.split != "run"]
    runs = [(cell, cell.record) for cell in measured if cell.record]
    counts = Counter((len(cell.values), _unit(record)) for cell, record in runs)
    if not counts:
        return []
    parts = [
        f"{f'{count} ' * (unit in ('seed', 'fold'))}{unit}{'s' * (count > 1)} behind {n} cell{'s' * (n > 1)} of ours"
        for (count, unit), n in sorted(counts.items(), reverse=True)
    ]
    text = f"{', '.join(parts)}."
    text = text[0].upper() + text[1:]
    short = dict.fromkeys(cell.column.name for cell, record in runs if len(cell.values) < record.runs)
    text += f" {' and '.join(short)}: not recorded of every seed." if short else ""
    sizes = {(record.rows(cell.column.split), cell.column.split) for cell, record in runs}
    shares = [cell.ours or 0 for cell in measured if cell.column.metric not in NO_SHARES]
    if shares and len(sizes) == 1 and (rows := next(iter(sizes)))[0] and 0 < shares[0] < 100:
        share = shares[0]
        error = standard_error(share, rows[0])
        text += f" {rows[0]:,} {rows[1]} rows: one standard error near {share:.0f} % is {error:.2f}."
    return [Note(head="Seeds", text=text)]


def _empty(cells: Sequence[Cell], rows: Sequence[str]) -> list[Note]:
    named: dict[str, list[str]] = {}
    for cell, row in zip(cells, rows or [""] * len(cells)):
        if cell.reason:
            named.setdefault(cell.reason.partition(":")[0], []).append(row)
    texts = {
        f"{len(names)} cell{'s' * (len(names) > 1)} of ours: {reason}.": list(dict.fromkeys(filter(None, names)))
        for reason, names in named.items()
    }
    return [Note(head="Empty", text=_of_rows(text, names if len(texts) > 1 else [])) for text, names in texts.items()]
