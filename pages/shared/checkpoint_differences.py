"""Checkpoints beside each other, as HTML: what differs in their settings, and the outcome of the training."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from pages.shared import style
from pages.shared.checkpoint_html import facts, section
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry

LONG = 24  # letters of a word that may break anywhere


def show(entries: Sequence[Entry], title: str = "Settings") -> None:
    """What differs, and in a fold what does not."""
    st.html(section(title, "what differs"))
    differing, equal = differences_html(*entries)
    st.html(differing)
    with st.expander(f"{len(equal)} other settings are equal", key="equal-settings", bind="query-params"):
        st.html(facts([(name, str(setting)) for name, setting in equal.items()]))


def differences_html(*entries: Entry) -> tuple[str, dict]:
    """HTML: the settings in which configs differ, and below them the results; and the settings that are equal."""
    differ, equal = metadata.differences(*(entry.config for entry in entries))
    return _columns(differ, entries) + section("Outcome", "of the training") + _columns(_costs(entries), entries), equal


def _columns(rows: Mapping[str, Sequence], entries: Sequence[Entry]) -> str:
    columns = "".join(
        f"<th>{style.swatch(metadata.model_setting(entry, 'mechanism'))}{escape(entry.name)}</th>" for entry in entries
    )
    lines = "".join(
        f'<tr><td class="t-muted">{_breakable(name)}</td><td>{"</td><td>".join(map(_format_setting, values))}</td></tr>'
        for name, values in rows.items()
    )
    return f'<div class="t-scroll"><table class="t-table t-settings"><tr><td></td>{columns}</tr>{lines}</table></div>'


def _costs(entries: Sequence[Entry]) -> dict[str, tuple]:
    names = {"parameters": "parameters", "seconds": "seconds of training", "best_step": "best step"}
    costs = {name: tuple(entry.metrics.get(key) for entry in entries) for key, name in names.items()}
    return {name: values for name, values in costs.items() if any(value is not None for value in values)}


def _format_setting(setting: object) -> str:
    text = f"{setting:,}" if isinstance(setting, int) and not isinstance(setting, bool) else str(setting)
    return "none" if setting is None else _breakable(text)


def _breakable(text: str) -> str:
    """HTML: text that may break behind its dots, underscores and slashes; inside a word only where that is very long,
    as a digest is."""
    html = re.sub(r"(?<=\w)([./_])(?=\w)", r"\1<wbr>", escape(text))
    long = any(len(word) > LONG for word in re.split(r"[\s./_-]", text))
    return f'<span class="t-long">{html}</span>' if long else html
