"""The pickers of Similarity: which readers, what is drawn of their scores, and how words are grouped."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import qa_models, token_grouping, url_state
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.similarity import Settings
from triattn_core.views.similarity import OVER_PASSAGE, SCALES


def attends_both_ways(entry: Entry) -> bool:
    """Whether question words attend to the passage too."""
    return metadata.model_setting(entry, "mechanism") != "baseline"


def pick(entries: Sequence[Entry]) -> tuple[list[Entry], Settings]:
    """The chosen readers, and what is chosen of them but the part of a long passage."""
    readers = qa_models.pick_readers(entries)
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
