"""Third-party models: in a folder of this machine, or already downloaded from the hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.server_files import is_local, require_local

if TYPE_CHECKING:
    from triattn_core.sources.transformer import Transformer
    from triattn_core.trace import AttentionTrace

TASK, TITLE = "hugging face", "Other models"  # in place of one of ours
MODELS = "models"


def name_field() -> str:
    """The field that names a model, in the URL."""
    label = "Folder of a Hugging Face model, or the name of one fetched before"
    return st.text_input(label, key="model", bind="query-params", disabled=not is_local(), width=380)


def load(name: str) -> Transformer:
    """The model; nothing is downloaded.  Raises CheckpointError, or InputError where the server is not local."""
    require_local(MODELS)
    return _load(name)


def trace(name: str, text: str, pair: str | None = None, written: int = 0) -> AttentionTrace:
    """Its attention on a text or a pair, or of so many tokens that it writes after it.  Raises TriattnError."""
    require_local(MODELS)
    return _trace(name, text, pair, written)


@st.cache_resource(max_entries=2, show_spinner="Loading the model")
def _load(name: str) -> Transformer:
    from triattn_core.sources.transformer import load_transformer

    return load_transformer(name, local=True)


@st.cache_resource(max_entries=40, show_spinner="Running the model")
def _trace(name: str, text: str, pair: str | None, written: int) -> AttentionTrace:
    from triattn_core.sources.transformer_trace import trace_transformer

    return trace_transformer(_load(name), text, pair, generate=written)
