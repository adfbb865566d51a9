"""Which rows cases are mined from: the project's own examples, a stored table, or an uploaded file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from html import escape
from io import BytesIO
from pathlib import Path

import streamlit as st

from pages.shared import mining, url_state
from pages.shared.errors import escape_markdown
from triattn_core.analysis.mining import case_table as stored
from triattn_core.analysis.mining import sources
from triattn_core.analysis.mining.case_table import Cases, TableInfo
from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import DataError
from triattn_core.results.run_records import records_folder

OWN, HARD, FILE = "our own examples", "our hard examples", "a file of yours"
MAGIC = b"PAR1"  # of a Parquet file
NOT_CARRIED = "A link does not carry this file."
SHARED = (
    f"{NOT_CARRIED} To share its rows, pass on the case file: on Cases, Export, "
    "<i>Table that opens here again</i>; or <code>triattn cases</code>."
)
TEXTS = 200_000  # rows whose texts are held in memory
HELD = 3  # files that a session holds


def own_sets(task: str, language: str) -> list[str]:
    """The names of the project's sets of rows of a task and language: OWN, and HARD where there is one."""
    return [OWN, HARD] if sources.hard_source(task, language) else [OWN]


def own_source(choice: str | Path, task: str, language: str) -> Source | None:
    """The rows of one of `own_sets`; None where the choice is none of them."""
    if choice == OWN:
        return sources.example_source(task, language)
    return sources.hard_source(task, language) if choice == HARD else None


def pick(names: set[str], task: str, language: str, of_any: bool = False) -> str | Path:
    """Shows the picker; returns one of `own_sets`, FILE, the path of a stored table, or the name of a table of other
    checkpoints.

    The project's tables are of exactly these checkpoints; the user's too, or of any of the task and language.
    of_any: offer the tables of other checkpoints of the task and language.
    """
    tables = stored_tables(names, *((task, language) if of_any else ()))
    others = [
        name
        for name, path, about in _named_tables()
        if of_any and (about.task, about.language) == (task, language) and path not in tables.values()
    ]
    options = [*own_sets(task, language), *dict.fromkeys([*tables, *others]), FILE]
    choice = url_state.pick("Rows", options, "rows", width=190)
    return tables.get(choice, choice)


def table(choice: str | Path, task: str, language: str, entries: Sequence[Entry], wait: bool = False) -> Cases | None:
    """The chosen table, mined now if needed; None, with a message, if there is none.  Raises TriattnError.

    wait: mine the project's examples only after a click; an uploaded file is mined at once.
    """
    if isinstance(choice, Path):
        return _with_rows(_load(choice, choice.stat().st_mtime_ns))
    if own := own_source(choice, task, language):
        return mining.mine_table(entries, own, wait)
    if choice != FILE:
        names = " ".join(entry.name for entry in entries)
        command = f"`triattn cases {names} DATA --out CASES.parquet`"
        st.info(f"{choice} has not been mined with these checkpoints; to do so, run {command}.")
        return None
    name, content = _uploaded_file(tables=True)
    if not content:
        return None
    if content.startswith(MAGIC):
        return _with_rows(stored.load(BytesIO(content), name))
    return mining.mine_table(entries, _keep_source(sources.uploaded_source(name, content)))


def _with_rows(cases: Cases) -> Cases | None:
    """The same table; None, with a message, if it has no rows."""
    if len(cases.rows):
        return cases
    st.info(escape_markdown(f"The table of {cases.about.data} has no rows."))
    return None


def load_source(choice: str, task: str, language: str) -> Source | None:
    """The rows to analyse, of `own_sets` or FILE; None, with a request for a file, if none was uploaded."""
    if own := own_source(choice, task, language):
        return own
    name, content = _uploaded_file()
    return _keep_source(sources.uploaded_source(name, content)) if content else None


def source(cases: Cases) -> Source | None:
    """The file of a table's rows: uploaded in this session, part of the project, under `data/` or beside tables."""
    about, folders = cases.about, [Path("data"), Path(__file__).parents[2] / "data", tables_folder()]
    return st.session_state.get("files", {}).get(about.sha256) or sources.find_source(about.data, about.sha256, folders)


def examples(cases: Cases) -> dict[int, object]:
    """The examples of a table's rows by line; empty without their file, and for tables of more than TEXTS rows."""
    rows = source(cases) if len(cases.rows) <= TEXTS else None
    return {} if rows is None else _examples(cases.about.task, rows.sha256, rows)


def large_source(cases: Cases) -> Source | None:
    """The file of a table of more than TEXTS rows, whose texts are read line by line."""
    rows = source(cases) if len(cases.rows) > TEXTS else None
    return None if rows is None or rows.is_squad(cases.about.task) else rows


@st.cache_resource(max_entries=4, show_spinner="Reading the texts")
def _examples(task: str, sha256: str, _source: Source) -> dict[int, object]:
    read = sources.read_examples(task, _source)
    return {line: example for line, example in read if not isinstance(example, DataError)}


def ask_for_file(cases: Cases) -> None:
    """Shows a request for the file of the rows, as a stored table has no texts."""
    about = cases.about
    if len(cases.rows) > TEXTS:
        if source(cases) is None:
            note = f"The texts are in {escape(about.data)}, which is not here: put it under data/."
            st.html(f'<p class="t-note">{note}</p>')
        return
    request = f"The texts are in {about.data}, which is not here: upload it, or put it under data/"
    upload = st.file_uploader(escape_markdown(request), key="texts", width="stretch")
    if upload is None:
        return
    rows = sources.uploaded_source(about.data, upload.getvalue())
    if rows.sha256 != about.sha256:
        raise DataError(f"{upload.name} is another file: its SHA-256 is {rows.sha256[:12]}…, not {about.sha256[:12]}…")
    _keep_source(rows)
    st.rerun()


def _uploaded_file(tables: bool = False) -> tuple[str, bytes]:
    """Shows the uploader; returns name and content of the session's file.  tables: also accept stored tables."""
    limit, endings = st.get_option("server.maxUploadSize"), ["jsonl", "csv", "tsv", "gz", "json"]
    formats = "JSON Lines, CSV or TSV, of questions SQuAD's own .json too, plain or .gz"
    formats += f", or the Parquet of an earlier run; up to {limit} MB, more with `triattn cases`" if tables else ""
    upload = st.file_uploader(formats, [*endings, "parquet"] if tables else endings, key="file")
    if upload is not None:
        st.session_state["rows-file"] = (upload.name, upload.getvalue())
    name, content = st.session_state.get("rows-file", ("", b""))
    if upload is not None and not content:
        raise DataError(f"{name}: nothing in it")
    if not content:
        st.info("Upload a file of rows of this task" + (", or the table of an earlier run." if tables else "."))
    elif upload is None:
        st.html(f'<p class="t-note">Shown: {escape_markdown(name)}, uploaded before.</p>')
    if content:
        st.html(f'<p class="t-note">{SHARED if tables else NOT_CARRIED}</p>')
    return name, content


def _keep_source(source: Source) -> Source:
    files = st.session_state.setdefault("files", {})
    files[source.sha256] = source
    while len(files) > HELD:
        del files[next(iter(files))]
    return source


def tables_folder() -> Path:
    """The folder of the user's own tables."""
    return Path(os.environ.get("TRIATTN_TABLES", "tables"))


def stored_tables(names: set[str], task: str = "", language: str = "") -> dict[str, Path]:
    """The stored tables by the names of their rows: the project's of just these checkpoints, and those in
    TRIATTN_TABLES, files or folders of parts, of these or of a task and language.

    Tables of rows of one name are told apart by their own: "rows.jsonl (a)"; the project's keeps its name.
    """
    paths: dict[str, Path] = {}
    tables = [
        (name, path, about)
        for name, path, about in _named_tables()
        if _checkpoint_names(about) == names
        or (path.parent != _records() and (about.task, about.language) == (task, language))
    ]
    counts = Counter(name for name, _, _ in tables)
    for name, path, _ in tables:
        own_names = (path.stem, path.name, f"{path.parent.name}/{path.name}", path)
        labels = [f"{name} ({own_name})" for own_name in own_names]
        if counts[name] == 1 or path.parent == _records():
            labels.insert(0, name)
        paths[next(label for label in labels if label not in paths)] = path
    return paths


def recorded_tables(task: str, language: str) -> dict[str, tuple[Path, TableInfo]]:
    """The project's own tables of a task and language, by the names of their rows."""
    return {
        name: (path, about)
        for name, path, about in _named_tables()
        if path.parent == _records() and (about.task, about.language) == (task, language)
    }


def _named_tables() -> list[tuple[str, Path, TableInfo]]:
    """(Name of its rows, path, description) of each stored table; the project's first."""
    own = tables_folder()
    tables = []
    for path in [*sorted(_records().glob("*.parquet")), *sorted(own.iterdir() if own.is_dir() else ())]:
        about = None
        if not path.name.startswith(".") and path.exists():  # not one that is being written, nor a dangling link
            about = _about(path, path.stat().st_mtime_ns)
        if about is not None:
            tables.append((source_name(about), path, about))
    return tables


def _records() -> Path:
    return records_folder() / "cases"


def _checkpoint_names(about: TableInfo) -> set[str]:
    return {checkpoint.name for checkpoint in about.checkpoints}


@st.cache_data(max_entries=200, show_spinner=False)
def _about(path: Path, modified: int) -> TableInfo | None:
    try:
        return stored.read_info(path)
    except DataError:
        return None


@st.cache_resource(max_entries=12, show_spinner=False)
def _load(path: Path, modified: int) -> Cases:
    return stored.open_cases(path)


def source_name(about: TableInfo) -> str:
    """The rows of a table by data set and split, such as "LCQMC test"; a file of ours or yours by its name."""
    folder, _, name = about.data.rpartition("/")
    split = name.partition(".")[0]
    return f"{metadata.SETS.get(folder, folder)} {split}" if split in ("train", "dev", "test") else name
