"""What is opened: a file, a Hugging Face model on a text, a trace that was kept, or the worked example."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import other_models, url_state
from pages.shared.errors import notice, report_errors
from pages.shared.models import others
from pages.shared.server_files import is_local, require_local
from triattn_core.errors import TraceError, TriattnError
from triattn_core.importers.array_files import SeveralArraysError
from triattn_core.importers.trace_store import MOST_DAYS
from triattn_core.trace import AttentionTrace
from triattn_core.trace.array_axes import AxesError
from triattn_core.trace.array_rows import SelectError
from triattn_core.trace.axes import QUANTITIES
from triattn_core.trace.quantity_check import QuantityError

FILE, MODEL = "file", "model"
ENDINGS = ["npy", "npz", "nc", "safetensors", "pt", "pth"]
MOST_BUTTONS = 6  # a longer choice is a list
MOST_MB = 300  # of a file that is handed over
MOST_WRITTEN = 64
WRITES = (
    "A decoder, of Hugging Face or of your own, writes so many tokens, the most likely ones. The map then has a row "
    "for each, over all tokens before it: from row to row you see where the model looked as it wrote, and Play goes "
    "through them."
)
AUTO = "auto-detected"
TOKENS_HELP = 'A token a line, words with spaces between them, or JSON: {"query": […], "key": […], "context": […]}.'
KEPT_HELP = (
    "What you open is kept as a trace in a folder of the machine that runs the app, so that its link opens again, "
    f"until {MOST_DAYS} days after its last use. Whoever has the link can open it."
)
AXES_HELP = (
    "In the order of the file, of layer, head, query, key, context, feature, batch; query=residue i names one in your "
    "words. Left empty: query key, or what the sums of the rows say."
)


def pick(toolbar: DeltaGenerator) -> AttentionTrace:
    """The trace that the page shows, opened or kept; its name goes into the URL.  Ends the page on an error.

    toolbar: the place beside the heading.
    """
    with toolbar:
        names = {FILE: "From a file", MODEL: "From a model"}
        source = url_state.segments("From", [FILE, MODEL], "from", show=names.get, label_visibility="collapsed")
    with report_errors():
        opened = _file("") if source == FILE else _model()
    if opened is None and source == FILE and (st.session_state["upload"] or st.session_state["path"]):
        st.stop()  # a question about the file is open: what would be drawn is not the file
    return _opened_trace(opened, "trace") or _example()


def second_trace() -> AttentionTrace | None:
    """What the first is compared with, where there is one."""
    with report_errors(stop=False):
        return _opened_trace(_file("second-"), "second")
    return None


def _opened_trace(opened: AttentionTrace | None, key: str) -> AttentionTrace | None:
    """What was opened just now, kept, with its name in the URL; else what the URL names."""
    if opened is not None:
        st.query_params[key] = st.session_state[key] = _keep_trace(opened)
        return opened
    name = st.query_params.get(key) or (st.session_state.get(key, "") if url_state.is_first_run() else "")
    if not name:
        return None
    try:
        trace = _load(name)
    except TraceError as error:
        url_state.drop(key)
        st.session_state.pop(key, None)
        notice(str(error))
        return None
    st.query_params[key] = name
    return trace


def _file(key: str) -> AttentionTrace | None:
    """Shows the fields of a file and its format; returns its trace, None without a file."""
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}file-row"):
        label = "An array or a saved trace"
        upload = st.file_uploader(
            label, ENDINGS, key=f"{key}upload", max_upload_size=MOST_MB, width=470, help=KEPT_HELP
        )
        path = st.text_input("or its path on this machine", key=f"{key}path", width=330, disabled=not is_local())
        with st.popover("Format", width=110, key=f"{key}what"), st.container(width=420):
            options = _options(key)
    if upload is None and not path:
        return None
    if upload is not None:
        return ask_or_open(key, (upload.file_id, upload.name), options, upload.getvalue())
    require_local("files")
    file = Path(path).expanduser()
    state = (file.stat().st_mtime, file.stat().st_size) if file.is_file() else ()
    return ask_or_open(key, (str(file), *state), options, None)


def ask_or_open(key: str, source: tuple, options: tuple, content: bytes | None) -> AttentionTrace | None:
    """The trace of a file; which array, which axes and which quantity it has is asked where the file does not say."""
    answers: tuple[tuple[str, str], ...] = ()
    while True:
        try:
            return _open_file(source, (*options, *answers), content)
        except (SeveralArraysError, AxesError, QuantityError, SelectError) as error:
            option, answer = _ask_option(
                f"{key}{source[0]}", Path(source[0] if content is None else source[1]).name, error
            )
        if not answer:
            return None
        answers += ((option, answer),)


def _ask_option(
    key: str, name: str, error: SeveralArraysError | AxesError | QuantityError | SelectError
) -> tuple[str, str | None]:
    """The option that an error asks for, and its value once it is chosen; until then what the question is."""
    show: Callable[[str], str] = str
    text = str(error)
    if isinstance(error, SeveralArraysError):
        option, label, options = "name", "The array is", tuple(error.shapes)
        show = lambda array: f"{array} ({' × '.join(map(str, error.shapes[array]))})"  # noqa: E731
        text = f"{name} has several arrays: choose one."
    elif isinstance(error, SelectError):
        option, label, options = "select", f"Position of {error.axis}, from 0", _positions(error)
        text = f"{name}: {error.axis} has {error.size} positions: choose one."
    elif isinstance(error, AxesError):
        option, label, options = "axes", "Its axes are", error.readings
    else:
        option, label, options = "quantity", "The numbers are", error.options
    if len(options) > MOST_BUTTONS:
        answer = st.selectbox(label, options, None, show, key=f"{key}-{option}-is", width=470)
    else:
        answer = st.segmented_control(label, options, format_func=show, key=f"{key}-{option}-is")
    if not answer:
        notice(text)
    return option, answer


def _positions(error: SelectError) -> tuple[str, ...]:
    return tuple(f"{error.axis}={position}" for position in range(error.size))


def _options(key: str) -> tuple[tuple[str, str], ...]:
    """The format options of the file, as typed."""
    names = [AUTO, *QUANTITIES]
    values = {
        "tokens": st.text_area("Tokens", key=f"{key}file-tokens", height=90, help=TOKENS_HELP),
        "quantity": st.selectbox("The numbers are", names, key=f"{key}file-quantity"),
        "axes": st.text_input("Axes", key=f"{key}file-axes", help=AXES_HELP, placeholder="head query key context"),
        "sums_over": st.text_input("A row of weights runs over", key=f"{key}file-sums", placeholder="key context"),
        "crop": st.text_input("Keep only", key=f"{key}file-crop", placeholder="query=0:64 key=0:64"),
        "select": st.text_input("Example of a batch, from 0", key=f"{key}file-select", placeholder="batch=3"),
        "name": st.text_input("Name of the array, of several", key=f"{key}file-name"),
    }
    return tuple((name, value.strip()) for name, value in values.items() if value.strip() not in ("", AUTO))


@st.cache_resource(max_entries=4, show_spinner="Opening the file")
def _open_file(source: tuple, options: tuple[tuple[str, str], ...], _content: bytes | None) -> AttentionTrace:
    """source: what tells this file from others; _content: None where it is on disk.  Raises TriattnError."""
    from triattn_core.commands.open_trace import crops, parse_axes, selections, split_axes
    from triattn_core.importers.open_file import open_file
    from triattn_core.importers.token_files import parse_tokens

    values = dict(options)
    axes, names = parse_axes(split_axes(values["axes"]) if "axes" in values else None)
    arguments = {
        "tokens": parse_tokens(values["tokens"]) if "tokens" in values else None,
        "quantity": values.get("quantity"),
        "axes": axes,
        "names": names,
        "sums_over": values["sums_over"].split() if "sums_over" in values else None,
        "crop": crops(values.get("crop", "").split()),
        "select": selections(values.get("select", "").split()),
    }
    if _content is None:
        return open_file(Path(source[0]), values.get("name"), **arguments)
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(source[1]).name
        path.write_bytes(_content)
        try:
            return open_file(path, values.get("name"), **arguments)
        except (AxesError, QuantityError, SelectError, SeveralArraysError):
            raise  # they name the file alone
        except TriattnError as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from None


def _model() -> AttentionTrace | None:
    """The fields of a model and its text."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="model-row"):
        name = other_models.name_field([entry.name for entry in others()])
        text = st.text_input("Text", key="text", bind="query-params", max_chars=4000)
        pair = st.text_input("Second text, of a pair", key="pair-text", bind="query-params", max_chars=4000)
        written = url_state.number("Tokens to write", 0, MOST_WRITTEN, 0, "write", width=120, help=WRITES)
    if not name or not text:
        st.html('<p class="t-note">Name a model and write a text; nothing is downloaded here.</p>')
        return None
    return other_models.trace(name, text, pair or None, written)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load(name: str) -> AttentionTrace:
    from triattn_core.importers import trace_store

    return trace_store.load(name)


def _keep_trace(trace: AttentionTrace) -> str:
    """Keeps a trace once; its name."""
    names = st.session_state.setdefault("kept traces", {})
    if id(trace) not in names:
        from triattn_core.importers import trace_store

        names[id(trace)] = (trace_store.store(trace), trace)
    return names[id(trace)][0]


@st.cache_resource(show_spinner=False)
def _example() -> AttentionTrace:
    from triattn_core.importers.example_trace import example_trace

    return example_trace()
