"""What similarity functions make of one passage and question."""

from triattn_core.views.similarity.figure import MOST, figure
from triattn_core.views.similarity.panels import (
    OVER_PASSAGE,
    OWN_FUNCTIONS,
    SCALES,
    SYSTEMS,
    FunctionPanel,
    answer_words,
    first_cell,
    joined,
    scales,
    title,
    titles,
)
from triattn_core.views.similarity.sentences import ENDS, PARTS, SAME, alt, counted
from triattn_core.views.similarity.table import table

__all__ = [
    "ENDS",
    "MOST",
    "OVER_PASSAGE",
    "OWN_FUNCTIONS",
    "PARTS",
    "FunctionPanel",
    "SAME",
    "SCALES",
    "SYSTEMS",
    "alt",
    "answer_words",
    "counted",
    "figure",
    "first_cell",
    "joined",
    "scales",
    "table",
    "title",
    "titles",
]
