"""Two models of others over the same rows: which has more right, whether that is chance, and the words of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, mining, models, other_rows, row_source, style, url_state
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint.registry import Entry
from triattn_core.sources import open_source
from triattn_core.sources.source import Ability, lacks
from triattn_core.tasks import InputForm, first_task
from triattn_core.views.lib.number_format import probability

if TYPE_CHECKING:
    from triattn_core.sources.two_models import Judged, RowDifference

LEVEL = 0.05
MOST_ROWS, ROW, SHOWN = 5000, 30, 14  # rows that a page asks; pixels of a row, rows without scrolling
COLOURS = ("series_3", "series_2")
ANY = "any"
CSS = """
.t-judged {display: flex; flex-wrap: wrap; gap: 6px 3px; margin: 2px 0 10px; font-size: 15px; line-height: 1.35}
.t-judged > span {display: inline-flex; flex-direction: column; padding: 1px 4px; border-radius: 3px;
  border-bottom: 2px solid transparent}
.t-judged > .t-hit {background: color-mix(in srgb, var(--side) 17%, transparent)}
.t-judged > .t-alone {border-bottom-color: var(--side); font-weight: 600}
.t-judged small {font-size: 12px; color: var(--t-muted); font-weight: 400}
"""
WORDS_SAY = (
    "Filled: the most likely word is the right one; underlined: in this model alone. Below a wrong word: what it says "
    "instead."
)
ASKED_SAYS = {
    "words": "A model is asked for each word given those before it, for the first where a token stands before it.",
    "masked words": "A model is asked for the word of each mask.",
}
MEANS = "Each row counts alike, however long it is."
SAYS = "Two models of others over rows of yours: which has more right, whether that is chance, and where."


@dataclass(frozen=True)
class Two:
    """Two listed models, and the rows that both are asked: the first `count` of a source."""

    entries: tuple[Entry, Entry]
    source: Source
    count: int
    uploaded: bool

    @property
    def names(self) -> tuple[str, str]:
        return self.entries[0].name, self.entries[1].name

    def models(self) -> list[Any]:
        return [MODELS.load(entry) for entry in self.entries]

    def shares(self) -> pd.DataFrame | None:
        """`two_models.measure_both`; None where it was stopped before the first row."""
        from triattn_core.importers.text_rows import read_texts

        options: dict[str, Any] = {"load": self.models, "read": read_texts}
        return mining.analyse_rows(("both",), self.entries, self.source, _measure, self.count, tag="-both", **options)

    def judged(self, line: int) -> list[list[Judged]]:
        """What each model says of a row."""
        row = other_rows.texts(self.source.sha256, self.source)[line]
        return [_judge(f"{entry.name} {entry.digest}", row, entry) for entry in self.entries]


def scored_models() -> list[Entry]:
    """The listed models of others that can be right or wrong about rows."""
    return [entry for entry in models.others() if not lacks(open_source(entry), (), [Ability.ROWS, Ability.SCORED])]


def show() -> None:
    """The page for two of them."""
    st.html(f"<style>{CSS}</style>")
    two = _pick()
    with report_errors():
        table = two.shares()
    if table is None or table.empty:
        return
    from triattn_core.sources.two_models import SIDES, compare_rows

    found = compare_rows(*(dict(zip(table["row"], table[side])) for side in SIDES))
    _show_difference(two, table, found)
    left, right = st.container(key="main").columns([1.25, 1], gap="large")
    with left:
        line = _show_list(two, table)
    if line is not None:
        with right.container(key="aside"):
            _show_row(two, line)
    if two.uploaded:
        other_rows.show_command(list(map(other_rows.command_name, two.entries)), two.source, two.count)


def _pick() -> Two:
    """Shows the pickers; stops the page where the rows do not fit."""
    listed = scored_models()
    task = first_task(InputForm.PAIR).NAME
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
        show = lambda entry: entry.name  # noqa: E731
        first = url_state.pick("Model", listed, "first", show=show, why=_exclusion_reason, width=190)
        alike = [entry for entry in listed if entry.name != first.name and _asked(entry) == _asked(first)]
        if not alike:
            figures.note(f"No other model here is asked for {_asked(first)}, as {first.name} is.")
            st.stop()
        second = url_state.pick("Beside it", alike, "second", show=show, width=190)
        own = row_source.own_sets(task, "en")
        choice = url_state.pick("Rows", [*own, row_source.FILE], "rows", len(own), width=170)
        count = url_state.number("Rows at most", 1, MOST_ROWS, 100, "count", width=130)
    with report_errors():
        source = row_source.load_source(choice, task, "en")
        if source is None:
            figures.note(other_rows.FORMATS)
            st.stop()
        two = Two((first, second), source, count, choice not in own)
        rows = other_rows.texts(source.sha256, source)
        for model in two.models():
            if not other_rows.scored(model, rows, choice in own):
                needs = "an answer" if _asked(first) == "answers" else "a label"
                reason = other_rows.misfit(model, rows, choice in own) or f"no row has {needs}"
                figures.note(f"Not scored: {reason}.")
                st.stop()
    return two


def _exclusion_reason(name: str) -> str:
    """Why a model is not offered, where that lies in what it is."""
    entry = next((entry for entry in models.others() if entry.name == name), None)
    return lacks(open_source(entry), (), [Ability.ROWS, Ability.SCORED]) if entry else ""


def _asked(entry: Entry) -> str:
    asked = {"labels": "labels", "masked word": "masked words", "answer span": "answers"}
    return asked.get(entry.config["model"]["predicts"], "words")


def _is_whole(two: Two) -> bool:
    """Whether a row is right or wrong as a whole, by its label or answer."""
    return _asked(two.entries[0]) in ("labels", "answers")


def _show_difference(two: Two, table: pd.DataFrame, found: RowDifference) -> None:
    """Which has more right, in a sentence and a table."""
    a, b = two.names if found.points <= 0 else two.names[::-1]
    chance = ": it may be chance" if found.p > LEVEL else ""
    sentence = (
        f"{a} has {abs(found.points):.1f} points more right than {b} over {found.rows:,} rows ({found.test}, "
        f"p {found.p:.2g}{chance})."
    )
    if not found.points:
        sentence = f"{a} and {b} have as much right over {found.rows:,} rows."
    st.html(f'<p class="t-outcome"><b>{escape(sentence)}</b></p>')
    whole = _is_whole(two)
    more = "right alone, rows" if whole else "more right, rows"
    lines = f'<tr><th></th><th></th><th class="r">right, %</th><th class="r">{more}</th></tr>'
    for name, side, colour, rows in zip(two.names, "ab", COLOURS, found.more):
        share = float(table[side].mean())
        cells = f'<td class="r">{100 * share:.1f}</td><td class="r">{len(rows):,}</td>'
        bar = style.bar(share, style.colours()[colour])
        lines += f"<tr><td>{_swatch(colour)}<b>{escape(name)}</b></td><td>{bar}</td>{cells}</tr>"
    st.html(f'<table class="t-table" style="max-width:640px">{lines}</table>')
    if not whole:
        asked = [int(table[f"asked {side}"].sum()) for side in "ab"]
        figures.note(MEANS if asked[0] == asked[1] else f"{MEANS} {_unlike(two.names, asked)}")


def _unlike(names: tuple[str, str], asked: Sequence[int]) -> str:
    """A sentence where two models are asked for different words, so that their shares are not of the same."""
    counts = f"{names[0]} is asked for {asked[0]:,} words, {names[1]} for {asked[1]:,}"
    return f"{counts}: they cut texts into other tokens, or do not know a word, which is then not asked for."


def _show_list(two: Two, table: pd.DataFrame) -> int | None:
    """Shows the rows, those furthest apart first; returns the line of the open one."""
    st.html(checkpoint_html.section("Rows", "the furthest apart first"))
    gain = (table["b"] - table["a"]).to_numpy()
    which = "only {} right" if _is_whole(two) else "more in {}"
    filters = {ANY: abs(gain) >= 0, **{which.format(name): sign * gain > 0 for name, sign in zip(two.names, (-1, 1))}}
    chosen = url_state.segments("Which", list(filters), "which", label_visibility="collapsed")
    rows = table.assign(gain=gain, far=abs(gain))[filters[chosen]].sort_values("far", ascending=False, kind="stable")
    lines = [int(line) for line in rows["row"]]
    if not lines:
        figures.note("No such row.")
        return None
    linked = st.query_params.get("row", "")
    now = int(linked) if linked.isdecimal() and len(linked) < 10 and int(linked) in lines else lines[0]
    url_state.mark("list", lines.index(now))

    def take() -> None:
        selected = url_state.selected_row("list")
        st.query_params["row"] = str(lines[selected] if selected is not None else now)

    shown, config = _columns(two, rows)
    describe = f"{len(lines)} rows; of row {now}, {two.names[0]} and {two.names[1]} have different shares right."
    st.dataframe(
        shown,
        key="list",
        hide_index=True,
        row_height=ROW,
        height=ROW * (min(len(lines), SHOWN) + 1) + 7,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=config,
        alt=describe,
    )
    return now


def _columns(two: Two, rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The list as it is shown, and the configuration of its columns."""
    whole, lines = _is_whole(two), [int(line) for line in rows["row"]]
    texts = other_rows.texts(two.source.sha256, two.source)
    shown: dict[str, Any] = {"row": lines}
    config = {"row": st.column_config.NumberColumn(width=46), "text": st.column_config.Column(width=330)}
    for name, side in zip(two.names, "ab"):
        says = f"How much of the row {name} has right."
        if whole:
            shown[name] = rows[side].map({0.0: "wrong", 1.0: "right"}).tolist()
            config[name] = st.column_config.Column(width=92)
        else:
            shown[name] = (100 * rows[side]).to_numpy()
            config[name] = st.column_config.NumberColumn(format="%.0f %%", width=92, help=says)
    shown["text"] = [" / ".join(texts[line].texts) for line in lines]  # last: on a narrow screen it alone is cut
    return pd.DataFrame(shown), config


def _show_row(two: Two, line: int) -> None:
    """What each model says of a row, word by word, or its label."""
    st.html(checkpoint_html.section(f"Row {line:,}", "what each says"))
    with report_errors(stop=False):
        row, judged = other_rows.texts(two.source.sha256, two.source)[line], two.judged(line)
        whole = _is_whole(two)
        if whole or len(row.texts) > 1:  # words are shown with what is said of them
            st.html("".join(f'<p style="margin:2px 0 6px">{escape(text)}</p>' for text in row.texts))
        if whole:
            _show_labels(two, judged, row.answers)
            return
        alike = [one.right for one in judged[0]] == [one.right for one in judged[1]]
        for i, (name, colour, words) in enumerate(zip(two.names, COLOURS, judged)):
            other = judged[1 - i] if alike else None
            right = sum(word.is_right for word in words)
            head = f"<b>{escape(name)}</b>"
            count = f'<span class="t-muted t-num"> {right} of {len(words)} words</span>'
            st.html(f"<div>{_swatch(colour)}{head}{count}</div>{_words_html(words, other, style.colours()[colour])}")
        figures.note(f"{WORDS_SAY} {ASKED_SAYS[_asked(two.entries[0])]}")


def _show_labels(two: Two, judged: Sequence[Sequence[Judged]], answers: Sequence[str]) -> None:
    what, right = ("answer", " / ".join(answers)) if answers else ("label", judged[0][0].right)
    lines = f"<tr><td>the row's {what}</td><td><b>{escape(right)}</b></td><td></td><td></td></tr>"
    for name, colour, (one, *_) in zip(two.names, COLOURS, judged):
        cells = f'<td>{escape(one.said)}</td><td class="r t-line">{probability(one.said_probability)}</td>'
        verdict = "right" if one.is_right else "wrong"
        lines += f"<tr><td>{_swatch(colour)}<b>{escape(name)}</b></td>{cells}<td>{verdict}</td></tr>"
    st.html(f'<table class="t-table t-predictions">{lines}</table>')


def _words_html(words: Sequence[Judged], other: Sequence[Judged] | None, colour: str) -> str:
    parts = []
    for i, word in enumerate(words):
        alone = word.is_right and other is not None and not other[i].is_right
        css = " ".join(["t-hit"] * word.is_right + ["t-alone"] * alone)
        title = f"{word.right}: {probability(word.probability)}; most likely {word.said}: "
        title += probability(word.said_probability)
        below = "&nbsp;" if word.is_right else escape(word.said)
        parts.append(f'<span class="{css}" title="{escape(title)}">{escape(word.right)}<small>{below}</small></span>')
    return f'<div class="t-judged" style="--side:{colour}">{"".join(parts)}</div>'


def _swatch(colour: str) -> str:
    return f'<span class="t-swatch" style="background:{style.colours()[colour]}"></span>'


def _measure(loaded: Sequence[Any], rows: Sequence[tuple[int, Any]]) -> pd.DataFrame:
    from triattn_core.sources.two_models import measure_both

    return measure_both(loaded, rows)


@st.cache_resource(max_entries=80, show_spinner="Running the model")
def _judge(key: str, row: Any, _entry: Entry) -> list[Judged]:
    from triattn_core.sources.two_models import judge_row

    return judge_row(MODELS.load(_entry), row)
