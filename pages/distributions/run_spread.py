"""Below the histograms: their numbers, and box plots and loss curves of the stored runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from textwrap import shorten

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, url_state
from triattn_core.checkpoint import metadata
from triattn_core.results import spreads
from triattn_core.results.run_records import Record
from triattn_core.trace.axes import FUNCTION_LABELS
from triattn_core.views import similarity
from triattn_core.views.charts import distributions as view

METRICS = {"EM": "em", "F1": "f1"}
SPLITS = {"test": "test", "dev": "dev"}
SYSTEMS = "Published systems"
SHOWN = {"O_1": "No product", "O_2": "With product"}  # what the answer layer of the baseline reads
ORDER = [  # of functions; of each system its own first
    *FUNCTION_LABELS.values(),
    *(
        similarity.title(system, function)
        for system, own in similarity.OWN_FUNCTIONS.items()
        for function in (own, "t_trilinear")
    ),
]
ACROSS = 2  # outputs side by side
ROUNDING = 1e-6  # of scores in single precision
COMMAND = "triattn sweep checkpoints/squad/*/config.json --seeds 1,2,3,4,5 --test"


def format_number(value: float) -> str:
    """Three digits, aligned to a true minus; what is only rounding is none."""
    if abs(value) < ROUNDING:
        return "0"
    return f"{value:#.3g}".removesuffix(".").replace("-", "\u2212")


def table(numbers: pd.DataFrame) -> str:
    """HTML of `similarity.spread.numbers`."""
    names = ["least", "5 %", "median", "95 %", "greatest", "mean", "deviation"]
    head = "".join(f'<th class="r">{name}</th>' for name in names)
    even = "How many question words a passage word's weights are spread over: the mean of their perplexity."
    body = "".join(
        f"<tr><td>{escape(row['function'])}</td>"
        + "".join(f'<td class="r">{format_number(row[name])}</td>' for name in names)
        + f'<td class="r">{row["even"]:.2f} of {row["of"]}{_beyond(row["beyond"])}</td></tr>'
        for row in numbers.to_dict("records")
    )
    head = f'<tr><td></td>{head}<th class="r" title="{even}">effective question words</th></tr>'
    return f'<div class="t-scroll" style="max-width:900px"><table class="t-table">{head}{body}</table></div>'


def _beyond(share: float) -> str:
    """What a sentinel took of the weights."""
    return f", sentinel {share:.0%}" if share >= view.SOME else ""


def save_button(label: str, name: str, table: pd.DataFrame | Callable[[], pd.DataFrame]) -> None:
    """A button that gives a table away."""

    def data() -> bytes:
        rows = table() if callable(table) else table
        return rows.to_csv(index=False).encode("utf-8-sig")

    st.download_button(label, data, name, "text/csv", key=f"save-{name}", on_click="ignore", width="stretch")


def runs(all_records: Sequence[Record], highlighted: Sequence[str], theme: str) -> None:
    """Shows the stored runs: their scores and losses.  highlighted: checkpoints whose curves are in colour."""
    records = spreads.reader_records(all_records)
    stored = sum(record.runs for record in records)
    st.html(checkpoint_html.section("Stored runs", f"{stored} run{'s' * (stored != 1)} of readers"))
    if not records:
        st.html('<p class="t-note">Nothing is stored yet. This trains each function with five seeds:</p>')
        st.code(COMMAND, language=None)
        return
    recipes = list(dict.fromkeys(map(spreads.training_recipe, records)))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        recipe = _recipe(recipes)
        metric = url_state.segments("Metric", list(METRICS), "metric")
        split = url_state.segments("Measured on", list(SPLITS), "split")
        curve = url_state.segments("Loss of", ["dev", "train"], "loss")
    figures.folded("How these were trained, and the others", f"{recipe} {_other_runs(records, recipe)}".strip())
    points = _of(spreads.seed_runs(all_records, SPLITS[split], METRICS[metric]), recipe)
    lines = _of(spreads.loss_curves(all_records, curve), recipe)
    outputs = sorted({*points.output, *lines.output})
    outputs = sorted(outputs, key=lambda output: (not output, output))  # the systems, which have none, come last
    for start in range(0, len(outputs), ACROSS):
        with st.container(key=f"main-runs-{start}"):  # columns of it stand below each other on a narrow page
            columns = st.columns(ACROSS if len(outputs) > 1 else 1, gap="large")
        for output, column in zip(outputs[start:], columns):
            with column:
                name = output or SYSTEMS
                _boxes(points[points.output == output], name, metric, split, theme)
                _losses(lines[lines.output == output], highlighted, name, curve, theme)
    with st.container(horizontal=True):
        save_button("Runs, CSV", f"runs-{metric}-{split}.csv", points.assign(metric=metric, split=split))
        save_button("Losses, CSV", f"losses-{curve}.csv", lines.assign(loss_of=curve))


def _recipe(recipes: Sequence[str]) -> str:
    """A picker with what distinguishes the recipes; none for a single one."""
    if len(recipes) == 1:
        return recipes[0]
    shorter = dict(zip(recipes, spreads.short_recipes(recipes)))
    return url_state.pick("Trained as", list(recipes), "recipe", show=shorter.__getitem__, width=620)


def _other_runs(records: Sequence[Record], recipe: str) -> str:
    """How many of the runs were trained as chosen, and which were trained otherwise; empty where all were."""
    by_recipe: dict[str, list[Record]] = {}
    for record in records:
        by_recipe.setdefault(spreads.training_recipe(record), []).append(record)
    if len(by_recipe) == 1:
        return ""
    short = dict(zip(by_recipe, spreads.short_recipes(list(by_recipe))))
    runs = {name: sum(record.runs for record in group) for name, group in by_recipe.items()}
    titles = {name: ", ".join(dict.fromkeys(map(_title, group))) for name, group in by_recipe.items()}
    others = [
        f"{runs[name]} of {shorten(titles[name], 90, placeholder=' …')}, under “{short[name]}”"
        for name in by_recipe
        if name != recipe
    ]
    return f"{runs[recipe]} of {sum(runs.values())} runs were trained like this. The others: {'; '.join(others)}."


def _title(record: Record) -> str:
    return similarity.title(*(metadata.model_setting(record.entry, name) for name in ("mechanism", "similarity")))


def _of(table: pd.DataFrame, recipe: str) -> pd.DataFrame:
    """The rows of one recipe, with the titles of their functions; losses get a suffix that tells them apart."""
    rows = table[table.recipe == recipe]
    names = list(map(similarity.title, rows.mechanism, rows.similarity))
    if "apart" in rows:
        names = [f"{name}, {suffix}" if suffix else name for name, suffix in zip(names, rows.apart)]
    return rows.assign(function=names)


def _boxes(points: pd.DataFrame, output: str, metric: str, split: str, theme: str) -> None:
    rows, sets = points.rows.dropna().unique(), points.set.unique()
    rows_text = f" of {int(rows[0]):,} questions" if len(rows) == 1 else ""
    rows_text += f" of {escape(sets[0])}" if rows_text and len(sets) == 1 and sets[0] else ""
    rows_text += " that are not trained on" if rows_text and split == "dev" else ""
    max_runs = 0 if points.empty else int(view.summary(points).runs.max())
    mean_text = ", the ring their mean, the line their median" if max_runs > 1 else ""
    shown = SHOWN.get(output, output)
    st.html(f"<b>{shown}</b>, {metric} in %, {split}{rows_text}. A dot is a run{mean_text}")
    if points.empty:
        st.html(f'<p class="t-note">None of “{shown}” was measured on {split}.</p>')
        return
    sentence, unit = view.describe_boxes(points, f"{metric}, {split}, %"), f"{metric}, %"
    chart = partial(view.box_plot, points, ORDER, unit, theme)
    figures.show(chart, sentence, f"runs-{output}-chart")
    figures.note(sentence)
    figures.numbers(f"The runs of {shown} as numbers", view.summary(points), f"runs-{output}")
    if max_runs < view.BOX:
        sentence = (
            f"At most {max_runs} run{'s' * (max_runs > 1)} a function: a box of quartiles is drawn from {view.BOX} on."
        )
        st.html(f'<p class="t-note">{sentence}</p>')


def _losses(lines: pd.DataFrame, highlighted: Sequence[str], output: str, curve: str, theme: str) -> None:
    lit = ". In colour the functions chosen above" if set(lines.checkpoint) - set(highlighted) else ""
    shown = SHOWN.get(output, output)
    st.html(f"<b>{shown}</b>, loss on {curve} (cross-entropy of start plus that of end){lit}")
    if lines.empty:
        st.html(f'<p class="t-note">None of “{shown}” has recorded its loss on {curve}.</p>')
        return
    sentence = view.describe_curves(lines)
    figures.show(partial(view.curves, lines, highlighted, theme), sentence, f"loss-{output}-chart")
    figures.note(sentence)
    figures.numbers(f"The losses of {shown} as numbers", lines[["function", "step", "value"]], f"loss-{output}")
