"""The list of cases: filtered by who is right, label, length, confidence, what context moved, and words; a click on a
heading sorts, a click on a row opens it beside the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages.shared import style, url_state
from triattn_core.analysis.mining import agreement, case_ranges
from triattn_core.analysis.mining.case_rows import Filter
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.case_book import texts
from triattn_core.tasks import TASKS, InputForm, Task, form, questions

ANY, NOBODY = "any", "not judged"
FIRST, RANDOM = "largest first", "at random"
WHOLE, PAGE = 20_000, 100  # rows that are listed together, and of a page of a larger table
SEED = f"{PAGE} rows drawn with this seed; the same seed draws the same rows."
ROW, MOST, TEXT = 30, 16, 158  # pixels of a row, rows without scrolling, pixels of a text
SURE = {"0.9 and more": (0.9, 1.01), "0.7 to 0.9": (0.7, 0.9), "below 0.7": (0, 0.7)}
MOVES = {"the most moved tenth": (0.9, 1.0), "upper half": (0.5, 1.0), "lower half": (0.0, 0.5)}
MOVED = (
    "The Jensen-Shannon divergence of Tri's first layer with its context from the same layer without any: what each "
    "query token looks at, the mean over heads and tokens of both directions. From 0 to 1 bit."
)
AT = "How much context moved each token of {}, in its order: the mean over heads. Each row has its own scale."


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


def main_checkpoint(mined: Cases) -> str:
    """The checkpoint that the list is about: Tri, else the last."""
    return (mined.three_way or mined.names)[-1]


class Shown(NamedTuple):
    """The rows of a list, and how many pass its filters."""

    rows: pd.DataFrame
    passing: int


def filter_cases(mined: Cases, examples: Mapping[int, object]) -> Shown:
    """The row of filters, each in the URL; the rows that pass, the most moved first, of a large table a page of them
    or a sample."""
    name, equal, between = main_checkpoint(mined), {}, {}
    order = f"{name} moved" if mined.three_way else f"{name} confidence"
    with st.container(horizontal=True, vertical_alignment="bottom", key="filters"):
        known = [*agreement.right_combinations(mined).index, *[NOBODY] * (mined.num_labelled < len(mined.rows))]
        right = url_state.pick("Who is right", [ANY, *known], "agreement", width=126)
        if form(mined.about.task) is InputForm.PAIR:
            labels = TASKS[mined.about.task].LABELS
            if (gold := url_state.pick("Gold", [ANY, *labels], "gold", width=134)) != ANY:
                equal["label"] = [labels.index(gold)]
        between |= _range_filter("Length", "length", "tokens", case_ranges.length_ranges(mined), 104)
        between |= _range_filter("Confidence", "confidence", f"{name} confidence", SURE, 112)
        if mined.three_way:
            moved = url_state.pick("Context moved", [ANY, *MOVES], "moved", width=152)
            if moved != ANY:
                between[f"{name} moved"] = case_ranges.between_ranks(mined, f"{name} moved", *MOVES[moved])
        words = st.text_input("Words or row", key="words", bind="query-params", width=150)
        passing = _combined_filter(mined, right, equal, between, words.strip(), examples)
        return page(mined, passing, [order])


def page(mined: Cases, passing: Filter, order: Sequence[str]) -> Shown:
    """The rows that pass, the largest in `order` first; of a large table a page of them, or a sample, as is picked."""
    if len(mined.rows) <= WHOLE:
        return Shown(*mined.rows.first(passing, order, WHOLE))
    drawn = url_state.pick("Order", [FIRST, RANDOM], "order", width=120)
    name, says = ("Seed", SEED) if drawn == RANDOM else ("Page", f"{PAGE} rows a page.")
    number = url_state.number(name, 1, 100_000, 1, "from", width=96, help=says)
    if drawn == RANDOM:
        return Shown(*mined.rows.sample(passing, PAGE, number))
    return Shown(*mined.rows.first(passing, order, PAGE, PAGE * (number - 1)))


def _combined_filter(mined: Cases, right: str, equal: dict, between: dict, words: str, examples: Mapping) -> Filter:
    """All filters as one."""
    if right == NOBODY:
        between = between | {"label": (-1, 0)}
    elif right != ANY:
        of = agreement.combination_filter(mined, right)
        equal = equal | dict(of.equal)
        between = between | dict(of.between)
    if words.isdecimal():
        return Filter(equal | {"row": [int(words[:12])]}, between)
    asked = tuple(words.casefold().split())
    return Filter(equal, between, words=asked, lines=_matching_lines(mined.about.task, examples, asked))


def _range_filter(label: str, key: str, column: str, options: Mapping[str, tuple], width: int) -> dict[str, tuple]:
    """From the lower end, without the upper one."""
    chosen = url_state.pick(label, [ANY, *options], key, width=width)
    return {} if chosen == ANY else {column: options[chosen]}


def _matching_lines(task: str, examples: Mapping[int, object], asked: Sequence[str]) -> frozenset[int]:
    """The lines of the examples that have all words in their texts."""
    if not asked:
        return frozenset()
    searched = ((line, "\n".join(texts(TASKS[task].row(example))).casefold()) for line, example in examples.items())
    return frozenset(line for line, text in searched if all(word in text for word in asked))


def show_list(mined: Cases, shown: Shown, examples: Mapping[int, object]) -> int | None:
    """The list; the row that is open, by its line: clicked, asked for by the link, or the first; None without any."""
    rows, numbers, called = shown.rows, shown.rows["row"].tolist(), unit(mined.about.task)
    few = f", {len(rows):,} of them here" if len(rows) < shown.passing else ""
    st.html(f'<p class="t-note"><b>{shown.passing:,}</b> of {len(mined.rows):,} {called}{few}</p>')
    if not numbers:
        nothing = "Nothing on this page: go back." if shown.passing else "No matching rows: remove a filter."
        st.html(f'<p class="t-note">{nothing}</p>')
        return None
    asked = st.query_params.get("row", "")
    now = int(asked) if asked.isdecimal() and len(asked) < 10 and int(asked) in numbers else numbers[0]

    def take() -> None:
        at = url_state.selected_row("list")
        st.query_params["row"] = str(numbers[at] if at is not None else now)

    url_state.mark("list", numbers.index(now))
    st.dataframe(
        _columns(mined, rows, examples),
        key="list",
        hide_index=True,
        row_height=ROW,
        height=ROW * (min(len(rows), MOST) + 1) + 7,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=_config(mined),
        alt=_describe(mined, shown, called),
    )
    return now


def _describe(mined: Cases, shown: Shown, called: str) -> str:
    """A sentence: how many pass the filters, and what stands first."""
    first, name = shown.rows.iloc[0], main_checkpoint(mined)
    at = f"{name} moved" if mined.three_way else f"{name} confidence"
    what = "moved by context by" if mined.three_way else "answered with probability"
    amount = f"{first[at]:.3g}" + " bits" * bool(mined.three_way)
    return (
        f"{shown.passing:,} of {len(mined.rows):,} {called} pass the filters; "
        f"first row {first['row']:,}, {what} {amount}."
    )


def _columns(mined: Cases, rows: pd.DataFrame, examples: Mapping[int, object]) -> pd.DataFrame:
    """What the list shows of each row: its texts where they are here, its id where not."""
    name, titles, lines = main_checkpoint(mined), agreement.short_names(mined), rows["row"].tolist()
    columns = {"row": lines}
    if examples:
        there = [examples.get(line) for line in lines]
        texts = columns_of_texts(mined.about.task).items()
        columns |= {title: ["" if example is None else text(example) for example in there] for title, text in texts}
        if form(mined.about.task) is InputForm.PASSAGE:
            table = rows.to_dict("records")
            for title, checkpoint in zip(titles, mined.names):
                columns[f"{title} answers"] = [
                    predicted_answer(example, row, checkpoint) if example else "" for example, row in zip(there, table)
                ]
    else:
        columns["id"] = rows["id"].tolist()
    if form(mined.about.task) is InputForm.PAIR:
        labels = TASKS[mined.about.task].LABELS
        columns["gold"] = [labels[i] if 0 <= i < len(labels) else "" for i in rows["label"]]
    verdicts = zip(*(rows[f"{checkpoint} right"].tolist() for checkpoint in mined.names))  # a tuple a row
    columns["right"] = [[title for title, right in zip(titles, row) if right] for row in verdicts]
    columns["confidence"] = rows[f"{name} confidence"].to_numpy()
    if mined.three_way:
        columns |= {"moved": rows[f"{name} moved"].to_numpy(), "at": rows[f"{name} moved at"].tolist()}
    return pd.DataFrame(columns)


def _config(mined: Cases) -> dict:
    """How the columns look."""
    titles, config = agreement.short_names(mined), st.column_config
    colours = [style.colour(checkpoint.mechanism) for checkpoint in mined.about.checkpoints]
    name = main_checkpoint(mined)
    whose = f"{dict(zip(mined.names, titles))[name]}, confidence"
    return {title: config.Column(width=TEXT) for title in columns_of_texts(mined.about.task)} | {
        "row": config.NumberColumn(width=50, format="localized", help="Its line in the file, from 1."),
        "gold": config.Column(width=106),
        "right": config.MultiselectColumn(width=106, options=titles, color=colours, help="Who answers it rightly."),
        "confidence": config.ProgressColumn(
            whose, width=118, min_value=0, max_value=1, format="%.3f", help=f"The probability {name} answers with."
        ),
        "moved": config.NumberColumn("moved, bits", width=82, format="%.4f", help=MOVED),
        "at": config.BarChartColumn("where", width=84, y_min=0, help=AT.format(query(mined.about.task))),
    }
