"""Several checkpoints over a file of rows: their scores, the agreement of each pair, and the rows in which they flip;
and how they were trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from pages.shared import case_list, checkpoint_html, figures, style, url_state
from triattn_core.analysis.mining import agreement
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import InputForm, form
from triattn_core.views import agreement as view
from triattn_core.views.charts import history
from triattn_core.views.lib import palette
from triattn_core.views.lib.number_format import minus
from triattn_core.views.side_by_side import panels

KAPPA = (
    "Cohen's kappa: agreement of two models, corrected for the agreement expected by chance. 1: they always agree, "
    "0: no more than by chance."
)
HOW = (
    "Train: with dropout, the mean of five batches (every twentieth) per 100 steps, with no other smoothing. "
    "Dev: all its rows, without dropout, after each epoch."
)
WHICH = {"answer": "rows that two of them answer differently", "right": "rows that only one of two gets right"}
SPANS = "kappa and flips: over right and wrong, for answers are spans"
OVER = "The share of labelled rows that it answers rightly, with the ends of Wilson's 95 % interval."


def scores_html(cases: Cases) -> str:
    """HTML: the scores, a line per checkpoint."""
    table, colours = agreement.score_table(cases), agreement.colours(cases)
    lowest = 10 * (table["from"].min() // 10) if table["from"].notna().any() else 0
    interval = f"95 % interval, drawn from {lowest:.0f} to 100"
    names = {"right": "right, %", "range": interval, "f1": "F1, %", "confidence": "mean probability"}
    lines = []
    for (title, row), kind, name in zip(table.iterrows(), colours, cases.names):
        ends = f"{_percent(row['from'])} to {_percent(row['to'])}"
        cells = {"right": _percent(row["right"]), "range": _interval(row, lowest, kind) + ends}
        cells |= {"f1": _percent(row["f1"])} if "f1" in row else {}
        cells["confidence"] = f"{row['confidence']:.3f}"
        head = f'<td title="{escape(name)}">{style.swatch(kind)}<b>{escape(str(title))}</b></td>'
        lines.append(f"<tr>{head}{_cells(cells.values(), safe=True)}</tr>")
    answer_text = "an answer; right: exact match" if form(cases.about.task) is InputForm.PASSAGE else "a label"
    count = f"{cases.num_labelled:,} of {len(cases.rows):,} rows have {answer_text}"
    return checkpoint_html.section("What each answers", count) + _table(
        ["", *(names[cell] for cell in cells)], lines, {1: OVER}
    )


def _interval(row: pd.Series, lowest: float, kind: str) -> str:
    """HTML: a dot for the accuracy on a line for its interval, so that overlaps are seen."""
    if pd.isna(row["right"]):
        return ""
    right, start, end = (100 * (row[name] - lowest) / (100 - lowest) for name in ("right", "from", "to"))
    line = f"left:{start:.1f}%;width:{end - start:.1f}%;background:{style.colour(kind)}"
    dot = f"left:{right:.1f}%;background:{style.colour(kind)}"
    return f'<span class="t-interval"><i style="{line}"></i><b style="{dot}"></b></span>'


def pairs(cases: Cases) -> str:
    """HTML: the agreement, a line per pair of checkpoints."""
    lines, judged = [], cases.num_labelled > 0
    for row in agreement.pairwise_agreement(cases).to_dict("records"):
        cells = [f"{100 * row['same']:.1f}", _plain(row["kappa"]), f"{row['flips']:,}"]
        if judged:
            p, power = view.probability(row["p"])
            cells += [f"{row['only a']:,}", f"{row['only b']:,}", f"{p}<sup>{power}</sup>" if power else p]
        lines.append(f"<tr><td>{escape(row['a'])} and {escape(row['b'])}</td>{_cells(cells, safe=True)}</tr>")
    heads = ["", "same answer, %", "kappa", "flips"]
    heads += ["first alone right", "second alone right", "McNemar, after Holm"] if judged else []
    say = "" if _by_answer(cases) else SPANS
    return checkpoint_html.section("Pairwise agreement", say) + _table(heads, lines, {2: KAPPA})


def _by_answer(cases: Cases) -> bool:
    return agreement.comparison_column(cases) == "answer"


def _table(heads: Sequence[str], lines: Sequence[str], tooltips: dict[int, str]) -> str:
    titles = (f' title="{escape(tooltips[i])}"' if i in tooltips else "" for i in range(len(heads)))
    first = "".join(
        f'<th class="r"{tooltip}>{escape(name)}</th>' if name else "<td></td>" for name, tooltip in zip(heads, titles)
    )
    return f'<div class="t-scroll"><table class="t-table"><tr>{first}</tr>{"".join(lines)}</table></div>'


def _cells(cells, safe: bool = False) -> str:
    return "".join(f'<td class="r">{cell if safe else escape(cell)}</td>' for cell in cells)


def _percent(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.1f}"


def _plain(value: float) -> str:
    return "–" if pd.isna(value) else minus(f"{value:.3f}")


def rows(cases: Cases) -> case_list.CaseSelection:
    """The rows on which two checkpoints, from a picker, differ: other answers, or for questions only one right answer;
    the most confident rows first."""
    titles = agreement.short_names(cases)
    names = dict(zip(titles, cases.names))
    counts = agreement.pairwise_agreement(cases).set_index(["a", "b"])["flips"]
    twos, first = list(counts.index), int(counts.argmax())
    two = url_state.pick("Between", twos, "between", first, show=" and ".join, width=440) if len(twos) > 1 else twos[0]
    if not counts[two]:
        verdict = "give the same answer to every row" if _by_answer(cases) else "are right in the same rows"
        st.html(f'<p class="t-note">{escape(" and ".join(two))} {verdict}.</p>')
    sure = [f"{names[title]} confidence" for title in two]
    return case_list.page(cases, agreement.disagreement_filter(cases, *(names[title] for title in two)), sure)


def losses(entries: Sequence[Entry]) -> None:
    """Shows the training losses."""
    names = dict(zip(panels.titles([checkpoint_html.name_parts(entry) for entry in entries]), entries))
    histories = {name: entry.metrics.get("history") or [] for name, entry in names.items()}
    best_steps = {name: entry.metrics.get("best_step") for name, entry in names.items()}
    theme = style.theme()
    mechanism_colours = [style.colour(metadata.model_setting(entry, "mechanism")) for entry in names.values()]
    colours = dict(zip(names, palette.shades(mechanism_colours, theme)))
    several = any(sum("dev_loss" in entry for entry in history) > 1 for history in histories.values())
    dev = "line: dev; dot: the step kept" if several else "dot: dev, measured once"
    st.html(checkpoint_html.section("Loss", f"cross-entropy; thin: train; dashes: the model; {dev}"))
    if any(histories.values()):
        sentence = history.describe(histories)
        figures.show(partial(history.figure, histories, colours, best_steps, theme), sentence, "losses")
        figures.note(f"{sentence} {HOW} {steps(names)}")
        figures.numbers("The losses as numbers", history.table(histories), "losses-numbers")
    if without := [name for name, history in histories.items() if not history]:
        st.html(f'<p class="t-note">No history is recorded of {escape(", ".join(without))}.</p>')


def steps(entries: Mapping[str, Entry]) -> str:
    """A sentence: steps, epochs and batch size of each training, which explain the lengths of the curves."""
    names_of: dict[str, list[str]] = {}
    for name, entry in entries.items():
        training, last = entry.config.get("training") or {}, (entry.metrics.get("history") or [{}])[-1].get("step")
        epochs = entry.metrics.get("epochs") or training.get("epochs")
        if last and epochs and training.get("batch"):
            schedule = f"{last:,} steps: {epochs} epoch{'s' * (epochs != 1)} in batches of {training['batch']}"
            names_of.setdefault(schedule, []).append(name)
    if len(names_of) == 1:
        return f"Each ran {next(iter(names_of))}."
    return "".join(f"{', '.join(names)} ran {schedule}. " for schedule, names in names_of.items()).strip()
