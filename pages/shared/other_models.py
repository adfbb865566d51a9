"""Third-party models: in a folder of this machine, or already downloaded from the hub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.models import MODELS as LOADED
from pages.shared.models import others
from pages.shared.server_files import is_local, require_local
from triattn_core.checkpoint.own_modules import list_modules
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import InputError
from triattn_core.sources import open_source
from triattn_core.sources.source import PICTURE, Ability, lacks

if TYPE_CHECKING:
    from triattn_core.sources.transformer import Transformer
    from triattn_core.trace import AttentionTrace

TASK, TITLE = "hugging face", "Other models"  # in place of one of ours
MODELS = "models"
NAMED = 2  # models that the label of the field names
READS_PICTURES = (
    "{name} reads pictures: `triattn record {build} picture.png --out T.nc`, then open T.nc here from a file"
)


def name_field(own: Sequence[str] = ()) -> str:
    """The field that names a model, in the URL.  own: names of models that it takes too."""
    label = "Folder of a Hugging Face model, or the name of one fetched before"
    named = ", ".join(own[:NAMED]) + " …" * (len(own) > NAMED)
    label = f"A Hugging Face model's folder or name, or {named}" if own else label
    off = not (is_local() or own)
    return st.text_input(label, key="model", bind="query-params", disabled=off, width=380)


def load(name: str) -> Transformer:
    """The model; nothing is downloaded.  Raises CheckpointError, or InputError where the server is not local."""
    return _load(_folder(name))


def trace(name: str, text: str, pair: str | None = None, written: int = 0) -> AttentionTrace:
    """Its attention on a text or a pair, or of so many tokens that it writes after it; of a module of one's own that
    the command line named too.  Raises TriattnError."""
    if entry := next((entry for entry in list_modules() if entry.name == name), None):
        if entry.config["model"]["reads"] == PICTURE:
            raise InputError(READS_PICTURES.format(name=name, build=Path(entry.config["build"]).name))
        if unable := lacks(open_source(entry), (), [Ability.WRITES] * bool(written)):
            raise InputError(f"{unable}: 0 tokens to write shows how it reads this one")
        return _trace_own(entry.name, entry.digest, text, pair, written, entry)
    return _trace(_folder(name), text, pair, written)


def _folder(name: str) -> str:
    """Where the model is that the pickers of other pages call so; else the name itself.  Raises InputError for a model
    that they do not have, where the server is not local."""
    listed = {entry.name: str(entry.path) for entry in others()}
    if name not in listed:
        require_local(MODELS)
    return listed.get(name, name)


@st.cache_resource(max_entries=2, show_spinner="Loading the model")
def _load(name: str) -> Transformer:
    from triattn_core.sources.transformer import load_transformer

    return load_transformer(name, local=True)


@st.cache_resource(max_entries=40, show_spinner="Running the model")
def _trace(name: str, text: str, pair: str | None, written: int) -> AttentionTrace:
    from triattn_core.sources.transformer_trace import trace_transformer

    return trace_transformer(_load(name), text, pair, generate=written)


@st.cache_resource(max_entries=40, show_spinner="Running the model")
def _trace_own(name: str, digest: str, text: str, pair: str | None, written: int, _entry: Entry) -> AttentionTrace:
    from triattn_core.sources.own_text import OwnText
    from triattn_core.sources.own_written import trace_written

    own = LOADED.load(_entry)
    both = text if pair is None else (text, pair)
    trace = trace_written(own, text, written) if written else OwnText.of(own, both).trace()
    return replace(trace, meta={**trace.meta, "checkpoint": name})  # which of two files of one name it is
