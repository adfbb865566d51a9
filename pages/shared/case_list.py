"""The list of cases: filtered by who is right, label, length, confidence, what context moved, and words; a click on a
heading sorts, a click on a row opens it beside the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages.shared import case_style, style, text_lookup, url_state
from pages.shared.errors import notice
from triattn_core.analysis.mining import agreement, case_ranges
from triattn_core.analysis.mining.case_rows import Filter
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.errors import quote
from triattn_core.tasks import TASKS, InputForm, Task, form, questions

ANY, NOBODY = "any", "not judged"
FIRST, RANDOM = "largest first", "at random"
WHOLE, PAGE = 20_000, 100  # rows that are listed together, and of a page of a larger table
SEED = f"{PAGE} rows drawn with this seed; the same seed draws the same rows."
ROW, MOST, TEXT = 30, 16, 158  # pixels of a row, rows without scrolling, pixels of a text
SURE = {"0.9 and more": (0.9, 1.01), "0.7 to 0.9": (0.7, 0.9), "below 0.7": (0, 0.7)}
MOVES = {"the most moved tenth": (0.9, 1.0), "upper half": (0.5, 1.0), "lower half": (0.0, 0.5)}
MOVED = (
    "How far context moves the attention of {}: the Jensen-Shannon divergence between the attention of its first layer "
    "with and without its context, averaged over heads and query tokens of both directions. From 0 to 1 bit."
)
AT = (
    "The same for each token of {}, in its order: how far context moves where this token attends, the mean over heads. "
    "Each row has its own scale."
)


def known_answers(example: questions.Example) -> str:
    """The answers that are known to a question."""
    return " / ".join(dict.fromkeys(text for text, _ in example.answers))


def predicted_answer(example: questions.Example, row: Mapping, name: str) -> str:
    """What a reader, by name, answers to a question, from its row of the table."""
    return example.passage[int(row[f"{name} start"]) : int(row[f"{name} end"])]


def _choice(task: Task) -> dict[str, Callable[[Any], str]]:
    """What asks, and the right option where it is known."""

    def right(example: Any) -> str:
        options = task.options(example)
        return options[example.label] if example.label is not None and example.label < len(options) else ""

    words = task.WORDS
    return {words.axes[0].lower(): lambda example: task.title(example)[0], f"{words.right} {words.sides[1]}": right}


def columns_of_texts(task: str) -> dict[str, Callable[[Any], str]]:
    """The texts of an example that the list shows, each by its title."""
    if form(task) is InputForm.PAIR:
        return {"sentence A": lambda example: example.text_a, "sentence B": lambda example: example.text_b}
    if form(task) is InputForm.PASSAGE:
        return {"question": lambda example: example.question, "known answer": lambda example: known_answers(example)}
    return _choice(TASKS[task]) if task in TASKS and TASKS[task].FORM.chooses else {}


def unit(task: str) -> str:
    """What the rows of a task are called."""
    names = {InputForm.PAIR: "pairs", InputForm.PASSAGE: "questions"}
    return f"{TASKS[task].WORDS.noun}s" if task in TASKS and TASKS[task].FORM.chooses else names.get(form(task), "rows")


def query(task: str) -> str:
    """What plays the query, whose tokens context moves."""
    if form(task) is InputForm.PAIR:
        return "A"
    return f"the {TASKS[task].WORDS.axes[0].lower()}" if task in TASKS and TASKS[task].FORM.chooses else "the text"


def main_checkpoint(cases: Cases) -> str:
    """The checkpoint that the list is about: Tri, else the last."""
    return (cases.three_way or cases.names)[-1]


class CaseSelection(NamedTuple):
    """The rows of a list, and how many pass its filters."""

    rows: pd.DataFrame
    passing: int


def filter_cases(cases: Cases, examples: Mapping[int, object]) -> CaseSelection:
    """Shows the filters, each in the URL; returns the rows that pass, those first on which the checkpoints are most
    evenly right and wrong, of these the most moved; of a large table one page or a sample."""
    name, equal, between = main_checkpoint(cases), {}, {}
    order = f"{name} moved" if cases.three_way else f"{name} confidence"
    filters, slot = st.container(horizontal=True, vertical_alignment="bottom", key="filters"), st.container()
    with filters:
        combinations = [*agreement.right_combinations(cases).index, *[NOBODY] * (cases.num_labelled < len(cases.rows))]
        right = url_state.pick("Who is right", [ANY, *combinations], "agreement", width=126)
        if form(cases.about.task) is InputForm.PAIR:
            labels = TASKS[cases.about.task].LABELS
            if (gold := url_state.pick("Gold", [ANY, *labels], "gold", width=134)) != ANY:
                equal["label"] = [labels.index(gold)]
        between |= _range_filter("Length", "length", "tokens", case_ranges.length_ranges(cases), 104)
        between |= _range_filter("Confidence", "confidence", f"{name} confidence", SURE, 112)
        if cases.three_way:
            moved_choice = url_state.pick("Context moved", [ANY, *MOVES], "moved", width=152)
            if moved_choice != ANY:
                between[f"{name} moved"] = case_ranges.between_ranks(cases, f"{name} moved", *MOVES[moved_choice])
        words = st.text_input("Words or row", key="words", bind="query-params", width=150)
        passing = _combined_filter(cases, right, equal, between, words.strip())
        if passing.words:
            passing = replace(passing, lines=text_lookup.matching_lines(cases, examples, passing.words, slot))
        return page(cases, passing, [order])


def page(cases: Cases, passing: Filter, order: Sequence[str]) -> CaseSelection:
    """The rows that pass, the split ones first, of these the largest in `order`; of a large table one page or a
    sample, as chosen."""
    if len(cases.rows) <= WHOLE:
        rows, count = cases.rows.first(passing, order, WHOLE)
        return CaseSelection(agreement.split_first(cases, rows), count)
    order_choice = url_state.pick("Order", [FIRST, RANDOM], "order", width=120)
    name, help_text = ("Seed", SEED) if order_choice == RANDOM else ("Page", f"{PAGE} rows a page.")
    number = url_state.number(name, 1, 100_000, 1, "from", width=96, help=help_text)
    if order_choice == RANDOM:
        return CaseSelection(*cases.rows.sample(passing, PAGE, number))
    return CaseSelection(*cases.rows.first(passing, order, PAGE, PAGE * (number - 1)))


def _combined_filter(cases: Cases, right: str, equal: dict, between: dict, words: str) -> Filter:
    """All filters as one."""
    if right == NOBODY:
        between = between | {"label": (-1, 0)}
    elif right != ANY:
        combination = agreement.combination_filter(cases, right)
        equal = equal | dict(combination.equal)
        between = between | dict(combination.between)
    if words.isdecimal():
        return Filter(equal | {"row": [int(words[:12])]}, between)
    return Filter(equal, between, words=tuple(words.casefold().split()))


def _range_filter(label: str, key: str, column: str, options: Mapping[str, tuple], width: int) -> dict[str, tuple]:
    """From the lower end, without the upper one."""
    choice = url_state.pick(label, [ANY, *options], key, width=width)
    return {} if choice == ANY else {column: options[choice]}


def show_list(cases: Cases, selection: CaseSelection, examples: Mapping[int, object]) -> int | None:
    """Shows the list; returns the line of the open row: clicked, named in the link, or the first; None without any."""
    rows, numbers, noun = selection.rows, selection.rows["row"].tolist(), unit(cases.about.task)
    few = f", {len(rows):,} of them here" if len(rows) < selection.passing else ""
    table, config = _columns(cases, rows, examples), _config(cases)
    few += case_style.scroll_hint(sum(config.get(name, {}).get("width") or TEXT for name in table))
    st.html(f'<p class="t-note"><b>{selection.passing:,}</b> of {len(cases.rows):,} {noun}{few}</p>')
    if not numbers:
        nothing = "Nothing on this page: go back." if selection.passing else "No matching rows: remove a filter."
        st.html(f'<p class="t-note">{nothing}</p>')
        return None
    linked = st.query_params.get("row", "")
    now = int(linked) if linked.isdecimal() and len(linked) < 10 and int(linked) in numbers else numbers[0]
    if linked and linked != str(now):
        if url_state.is_first_run():
            notice(f"The link asks for row {quote(linked)}, which is not in this list. Shown instead: {now}.")
        url_state.drop("row")

    def take() -> None:
        selected = url_state.selected_row("list")
        st.query_params["row"] = str(numbers[selected] if selected is not None else now)

    url_state.mark("list", numbers.index(now))
    st.dataframe(
        table,
        key="list",
        hide_index=True,
        row_height=ROW,
        height=ROW * (min(len(rows), MOST) + 1) + 7,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=config,
        alt=_describe(cases, selection, noun),
    )
    return now


def _describe(cases: Cases, selection: CaseSelection, noun: str) -> str:
    """A sentence: how many rows pass the filters, and the first one."""
    first, name = selection.rows.iloc[0], main_checkpoint(cases)
    measure_column = f"{name} moved" if cases.three_way else f"{name} confidence"
    measure_text = "moved by context by" if cases.three_way else "answered with probability"
    amount = f"{first[measure_column]:.3g}" + " bits" * bool(cases.three_way)
    return (
        f"{selection.passing:,} of {len(cases.rows):,} {noun} pass the filters; "
        f"first row {first['row']:,}, {measure_text} {amount}."
    )


def _columns(cases: Cases, rows: pd.DataFrame, examples: Mapping[int, object]) -> pd.DataFrame:
    """The columns of the list: the texts of each row, or its id if the texts are not available."""
    name, titles, lines = main_checkpoint(cases), agreement.short_names(cases), rows["row"].tolist()
    columns = {"row": lines}
    if examples:
        row_examples = [examples.get(line) for line in lines]
        texts = columns_of_texts(cases.about.task).items()
        columns |= {
            title: ["" if example is None else text(example) for example in row_examples] for title, text in texts
        }
        if form(cases.about.task) is InputForm.PASSAGE:
            table = rows.to_dict("records")
            for title, checkpoint in zip(titles, cases.names):
                columns[f"{title} answers"] = [
                    predicted_answer(example, row, checkpoint) if example else ""
                    for example, row in zip(row_examples, table)
                ]
    else:
        columns["id"] = rows["id"].tolist()
    if form(cases.about.task) is InputForm.PAIR:
        labels = TASKS[cases.about.task].LABELS
        columns["gold"] = [labels[i] if 0 <= i < len(labels) else "" for i in rows["label"]]
    verdicts = zip(*(rows[f"{checkpoint} right"].tolist() for checkpoint in cases.names))  # a tuple a row
    columns["right"] = [[title for title, right in zip(titles, row) if right] for row in verdicts]
    columns["confidence"] = rows[f"{name} confidence"].to_numpy()
    if cases.three_way:
        columns |= {"moved": rows[f"{name} moved"].to_numpy(), "at": rows[f"{name} moved at"].tolist()}
    return pd.DataFrame(columns)


def _config(cases: Cases) -> dict:
    """The column configuration of the list."""
    titles, config = agreement.short_names(cases), st.column_config
    colours = list(map(style.colour, agreement.colours(cases)))
    name = main_checkpoint(cases)
    titles_by_name = dict(zip(cases.names, titles))
    confidence_title = f"{titles_by_name[name]}, confidence"
    return {title: config.Column(width=TEXT) for title in columns_of_texts(cases.about.task)} | {
        "row": config.NumberColumn(width=50, format="localized", help="Its line in the file, from 1."),
        "gold": config.Column(width=106),
        "right": config.MultiselectColumn(
            width=106 if len(titles) < 4 else 174, options=titles, color=colours, help="Who answers it rightly."
        ),
        "confidence": config.ProgressColumn(
            confidence_title,
            width=118,
            min_value=0,
            max_value=1,
            format="%.3f",
            help=f"The probability {name} answers with.",
        ),
        "moved": config.NumberColumn(
            f"{titles_by_name[name]} moved, bits", width=112, format="%.4f", help=MOVED.format(name)
        ),
        "at": config.BarChartColumn(
            f"{titles_by_name[name]} moved, by token", width=148, y_min=0, help=AT.format(query(cases.about.task))
        ),
    }
