"""On a server that is not for one machine alone, no page reads a file that a visitor names, however the name came."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.runtime.state import QueryParamsProxy

from pages.open import source
from pages.shared import other_models
from pages.shared.navigation import PLACES
from tests.app.test_pages import opened, visible_text
from tests.support.project_copy import ROOT
from tests.support.tiny_transformers import make
from triattn_core.case_book import CaseBook
from triattn_core.errors import InputError

REFUSED = "not read by their path or name here"
EXTRA = (
    "path",
    "second-path",
    "trace",
    "second",
    "rows",
    "file",
    "tables",
    "checkpoint",
    "checkpoints",
    "case",
    "paper",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A harmless folder with a model, an array, rows and a table."""
    path = make("bert", tmp_path_factory.mktemp("harmless"))
    np.save(path / "array.npy", np.full((3, 4), 0.25))
    (path / "rows.jsonl").write_text('{"text_a": "a", "text_b": "b", "label": 1}\n')
    shutil.copy(next((ROOT / "triattn_core/results/records/cases").glob("*.parquet")), path / "table.parquet")
    return path


@pytest.fixture
def book(tmp_path, monkeypatch) -> CaseBook:
    monkeypatch.setenv("TRIATTN_TRACES", str(tmp_path / "traces"))
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    return CaseBook(tmp_path / "cases.sqlite")


@pytest.fixture(params=["another address", "a site behind a proxy"])
def team_server(request, monkeypatch, book):
    """The app as a team uses it."""
    changed = {"server.address": "127.0.0.2"}
    if request.param != "another address":
        changed = {"server.address": "127.0.0.1", "server.allowedHosts": ["triattn.example.org", "localhost"]}
    set_options(monkeypatch, changed)


@pytest.fixture
def own_machine(monkeypatch, book):
    set_options(monkeypatch, {"server.address": "127.0.0.1", "server.allowedHosts": ["localhost", "127.0.0.1"]})


def set_options(monkeypatch, changed: dict) -> None:
    real = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: changed[name] if name in changed else real(name))


_watched: list[tuple[str, set]] = []


def _note_access(event: str, arguments: tuple) -> None:
    if _watched and event in ("open", "os.listdir", "os.scandir") and arguments:
        prefix, names = _watched[-1]
        if isinstance(arguments[0], str | Path) and str(arguments[0]).startswith(prefix):
            names.add(str(arguments[0]))


sys.addaudithook(_note_access)


@contextmanager
def watch(folder: Path):
    """The files of a folder that are opened, and the folders in it that are listed, in the block."""
    names: set[str] = set()
    _watched.append((str(folder), names))
    yield names
    _watched.pop()


def parameters(page: str, **link: str) -> set[str]:
    """The names that a page asks its link for, or binds to a widget, and some that others read."""
    names = set(EXTRA)
    with pytest.MonkeyPatch.context() as patch:
        for method in ("__getitem__", "__contains__", "get_all"):
            asked = getattr(QueryParamsProxy, method)
            patch.setattr(
                QueryParamsProxy, method, lambda proxy, name, asked=asked: names.add(name) or asked(proxy, name)
            )
        app = opened(page, **link)
    return names | {widget.key for widget in app.main if getattr(widget, "key", None)}


def fill(field, text: str):
    """The field with this text, as a message that no browser sends may fill it."""
    field.proto.disabled = False
    return field.set_value(text)


@pytest.mark.parametrize("page", [name for names in PLACES.values() for name in names])
def test_no_setting_of_a_page_reads_a_file_of_the_server(team_server, page, folder):
    """Each parameter of a link, and then each text field, also a disabled one, is a path."""
    kept = {"open": {"from": "From a model"}, "attribute": {"steps": "16"}}  # 128 steps for a path take minutes
    source = kept.get(page, {})
    asked = parameters(page, **source)
    for path in (folder, folder / "array.npy"):
        with watch(folder) as names:
            link = {name: str(path) for name in asked} | source
            app = opened(page, **link)
            assert not app.exception
            for field in (*app.text_input, *app.text_area):
                fill(field, str(path))
            app.run()
            assert not app.exception and not names, names


def test_the_watch_sees_what_a_machine_of_ones_own_reads(own_machine, folder):
    with watch(folder) as names:
        assert not opened("open", **{"from": "From a model", "model": str(folder), "text": "unhappy cats"}).error
    assert any(name.endswith("config.json") for name in names)
    with watch(folder) as names:
        app = opened("open")
        app.text_input(key="path").set_value(str(folder / "array.npy")).run()
    assert not app.exception and not app.error and names == {str(folder / "array.npy")}


def refused(app) -> bool:
    assert not app.exception and [REFUSED in error.value for error in app.error] == [True], visible_text(app)
    return True


def test_what_would_read_one_says_in_a_line_that_it_does_not(team_server, folder, monkeypatch):
    link = {"from": "From a model", "model": str(folder), "text": "unhappy cats"}
    assert refused(opened("open", **link)) and refused(opened("open", **{**link, "model": "bert-base-uncased"}))
    assert refused(opened("heads", task="Other models", model=str(folder)))
    assert opened("open").text_input(key="path").disabled
    monkeypatch.setattr(source, "is_local", lambda: True)  # a field that is not disabled, by whatever mistake
    for key, link in (("path", {}), ("second-path", {"view": "side by side", "with": "another file"})):
        app = opened("open", **link)
        assert refused(app.text_input(key=key).set_value(str(folder / "array.npy")).run())
    for use in (other_models.load, lambda name: other_models.trace(name, "unhappy cats")):
        with pytest.raises(InputError, match=REFUSED):
            use(str(folder))


def test_what_was_read_before_is_not_given_either(monkeypatch, own_machine, folder):
    other_models.trace(str(folder), "unhappy cats")  # kept in memory for all sessions
    set_options(monkeypatch, {"server.address": "0.0.0.0"})
    with pytest.raises(InputError, match=REFUSED):
        other_models.trace(str(folder), "unhappy cats")


def test_a_case_of_a_file_does_not_read_it(team_server, book, folder):
    query = f"from=From+a+model&model={folder}&text=cats&path={folder}/array.npy"
    line = {"format": 1, "task": "opened file or model", "note": "", "page": "open", "query": query, "id": "a" * 32}
    line |= {"row": {"source": str(folder)}, "version": 1, "tags": [], "created": "2026-01-01", "changed": "2026-01-01"}
    with watch(folder) as names:
        app = opened("case_book")
        app.file_uploader[0].upload("cases.jsonl", json.dumps(line).encode()).run()
        app = opened("case_book")
        (again,) = [link.proto for link in app.get("page_link") if link.proto.label == "Open it again"]
        assert str(folder) in str(again).replace("%2F", "/")
        shown = opened("open", **{"from": "From a model", "model": str(folder), "text": "cats"})
    assert refused(shown) and not names


def test_an_uploaded_array_or_table_does_not_lead_to_another_file(team_server, folder, tmp_path):
    import h5py

    with h5py.File(tmp_path / "mine.nc", "w") as file:
        file.create_dataset("a", (2, 8), "u1", external=[(str(folder / "rows.jsonl"), 0, 16)])
    app = opened("open")
    app.file_uploader(key="upload").upload("mine.nc", (tmp_path / "mine.nc").read_bytes()).run()
    assert not app.exception and "parts of it are in other files" in visible_text(app)
    table = table_of(folder / "rows.jsonl")
    with watch(folder) as names:
        app = opened("cases", rows="a file of yours")
        app.file_uploader(key="file").upload("t.parquet", table).run()
    assert not app.exception and not names


def table_of(rows: Path) -> bytes:
    """A stored table that names a file outside the folders of data as that of its rows."""
    from hashlib import sha256

    from tests.unit.test_mining_table import make_table

    file = BytesIO()
    make_table(data=str(rows), sha256=sha256(rows.read_bytes()).hexdigest()).write(file)
    return file.getvalue()
