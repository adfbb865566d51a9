"""The examples on which the functions that are shown do not agree."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared import qa_models, url_state
from pages.shared.errors import report_errors
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import questions
from triattn_core.tasks.answer_match import normal

KEY = "disagree"  # of the toggle, and in the URL


def keep_examples(entries: Sequence[Entry], examples: Sequence[questions.Example]) -> Sequence[questions.Example]:
    """The toggle, and those examples on which the chosen readers' best answers differ where it is on; else all."""
    readers = qa_models.current_readers(entries)
    if len(readers) < 2 or not url_state.toggle("Only where functions disagree", KEY):
        return examples
    with report_errors():
        answers = qa_models.best_answers(readers, examples)
        return [example for example, texts in zip(examples, zip(*answers)) if len(set(map(normal, texts))) > 1]
    return examples
