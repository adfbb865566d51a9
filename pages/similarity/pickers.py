"""The pickers of Similarity: which readers, what is drawn of their scores, and how words are grouped."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import qa_models, reader_picker, token_grouping, url_state
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.similarity import Settings
from triattn_core.views.similarity import OVER_PASSAGE, SCALES


def attends_both_ways(entry: Entry) -> bool:
    """Whether question words attend to the passage too."""
    return metadata.model_setting(entry, "mechanism") != "baseline"


def pick(entries: Sequence[Entry]) -> tuple[list[Entry], Settings]:
    """The chosen readers, and what is chosen of them but the part of a long passage."""
    readers = reader_picker.pick_readers(entries)
    before = st.container(width="content", key="quantities")
    grouping = token_grouping.controls(token_grouping.PASSAGE, hide=False, note=token_grouping.TERMS)
    with before:
        quantities = [name for name in SCALES if name != OVER_PASSAGE or all(map(attends_both_ways, readers))]
        quantities = quantities["query" in grouping.folds :]
        quantity = url_state.segments("Quantity", quantities, "quantity", quantities.index("centred"))
    scales = ["one each", "shared"]
    shared = len(readers) > 1 and url_state.segments("Colour scale", scales, "scale") == "shared"
    titles = qa_models.titles_by_checkpoint(entries)
    settings = {"quantity": quantity, "shared": shared, "titles": tuple(titles[entry.name] for entry in readers)}
    return readers, Settings(**settings, **token_grouping.of_passage(grouping))


def one_flow_note(readers: Sequence[Entry], titles: Sequence[str]) -> str:
    """Why "over passage" is not offered although some of the readers have it; empty otherwise."""
    lacking = [title for reader, title in zip(readers, titles) if not attends_both_ways(reader)]
    if not 0 < len(lacking) < len(readers):
        return ""
    verb = "has" if len(lacking) == 1 else "have"
    return f"Over passage is not offered: {', '.join(lacking)} {verb} no flow question → passage."
