"""Links of the page: what can be asked and where, and examples of every task and language."""

from __future__ import annotations

import streamlit as st

from pages.shared import checkpoint_html, languages, models, task_picker
from pages.shared.errors import escape_markdown
from pages.shared.navigation import TITLES
from pages.studies import gallery
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import TASKS, InputForm, Task

FEW = 6  # examples of long texts that are listed
ASK = {
    "Ask about one example": {
        "context": "How much of the attention depends on the context?",
        "intervene": "What changes when context words are removed? Is a map more than noise?",
        "side_by_side": "What does an edit of a sentence do to the maps?",
        "attribute": "Which words drive the answer, and is that faithful?",
        "compare": "Where do checkpoints differ, here and over a file of rows?",
        "cases": "Which rows does only one mechanism get right?",
        "laboratory": "Which attention looks where the answer is known to be?",
        "results": "How do the numbers here compare with the papers'?",
    },
    "Other attention, drawn": {
        "mtsa": "Which way does each head look along a sentence?",
        "tensor": "What does one head weigh, feature by feature?",
        "coin": "What does context add to an alignment, block by block?",
        "similarity": "Which function finds the answer in a passage?",
        "distributions": "How far do the scores of a function spread?",
        "heads": "What is each head worth over many sentences? Works on your own model, too.",
        "case_book": "Which cases were kept, with which notes?",
    },
}
OPENS = {"side_by_side": {"compare": "inputs"}}


def questions() -> None:
    """Shows the questions that the app answers, each as a link to its page."""
    for (title, links), column in zip(ASK.items(), st.columns(2, gap="medium")):
        with column:
            st.html(checkpoint_html.section(title))
            with st.container(key=f"links-{next(iter(links))}", gap=None):
                for page, question in links.items():
                    label = f":gray[{TITLES[page]}] {question}"
                    st.page_link(f"pages/{page}/page.py", label=label, query_params=OPENS.get(page))


def examples() -> None:
    """Examples of every task and language, each a link that opens it as a cube of a model that reads it."""
    places = [(task, language) for task in TASKS.values() if task.FORM.joint for language in task.LANGUAGES]
    groups = [(task, language, tri) for task, language in places if (tri := reads(task, language))]
    for start in range(0, len(groups), 2):
        for group, column in zip(groups[start : start + 2], st.columns(2, gap="medium")):
            with column:
                _links(*group)


def reads(task: Task, language: str) -> Entry | None:
    """What the cube opens on for examples of a task in a language."""
    return gallery.first_tri(languages.by_language(models.entries(task.NAME)).get(language, []))


def _links(task: Task, language: str, tri: Entry) -> None:
    """Shows a link for one example of each kind; for long texts only the first few."""
    examples, pair = task.examples(language), task.FORM is InputForm.PAIR
    kinds = {example.id.rpartition("-")[0]: example for example in reversed(examples)}
    first_by_kind = dict(list(reversed(kinds.items()))[: None if pair else FEW])
    written = "the paper's case and others written here" if pair else "written here"
    title = "More pairs to try" if pair else f"{task.WORDS.noun.capitalize()}s to try"
    st.html(checkpoint_html.section(title, f"{metadata.language_name(language)}: {written}"))
    with st.container(key=f"links-{task.NAME}-{language}", gap=None):
        for kind, example in first_by_kind.items():
            if pair:
                texts = f"{escape_markdown(example.text_a)} :gray[/] {escape_markdown(example.text_b)}"
                opens = {"a": example.text_a, "b": example.text_b}
            else:
                texts = "{} :gray[{}]".format(*map(escape_markdown, task.title(example)))
                opens = {"task": task_picker.TASKS[task.NAME].label, "example": example.id}
            label = f":gray[{kind}] {texts}"
            st.page_link(gallery.CUBE, label=label, query_params={**opens, "checkpoint": tri.name})
