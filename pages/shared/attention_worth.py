"""What the attention of a checkpoint is worth: its measures beside its accuracy, and a line where its map is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import sqrt
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, models, style
from pages.shared.page_run import once_a_run
from pages.shared.record_stamp import record_stamp
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.run_records import all_records
from triattn_core.views.lib.number_format import half_up, minus

HELP = (
    "Worth: gain in points over a control of the same form trained with even weights, ± the larger SD over seeds of "
    "the two (number of seeds). Third-order worth: gain of the scaled dot over pairwise scores, which read two tokens "
    "at a time, in models of the same form. Reliance: points lost when the trained weights are replaced by even ones. "
    "Query information (bits): how much the attended key depends on the query; context information (bits): how much "
    "it depends on the context; values of the untrained network in brackets."
)
LIVING = (
    "Living: the answer must go through the attention. As published: the paper's form, in which a path to the "
    "answer bypasses it."
)
FORMS = (
    "As published: both texts are encoded together, as in the paper, and a path to the answer bypasses the attention. "
    "Through attention (names end in -living): each text is encoded alone, and the answer depends on attention."
)

LEVEL = 0.05  # of McNemar's test, from which on a loss is more than chance


def measures(entry: Entry, name: str = "attention") -> Mapping[str, Any]:
    """What `triattn evaluate --attention` has recorded of a checkpoint under a name; empty where it was not run."""
    recorded = entry.metrics.get(name)
    return recorded if isinstance(recorded, Mapping) else {}


def measure_value(entry: Entry, *names: str) -> float | None:
    """One of the measures, such as ("query_information", "mean"); None where it was not measured."""
    value: Any = measures(entry)
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def worth(entry: Entry) -> Mapping[str, Mapping]:
    """By control what the attention is worth: from the records of the controls, else as recorded with the checkpoint;
    see `results.worth`.  Empty where no control was trained."""
    if not entry.kind.has_controls or not metadata.main_metric(entry):
        return {}
    recorded = measures(entry).get("worth") or {}
    stamp = f"{record_stamp()} {_control_stamp()}"
    return {**recorded, **(_worth(entry.name, entry.digest, stamp, entry) if _controls(stamp) else {})}


@once_a_run
def _control_stamp() -> str:
    """Name and digest of each control that is here."""
    return " ".join(f"{entry.name} {entry.digest}" for entry in metadata.controls(models.entries()))


@st.cache_resource(max_entries=8, show_spinner=False)
def _controls(stamp: str) -> bool:
    """Whether any control is on record: only then is a config read, which loads torch."""
    return any(map(metadata.is_control, (record.entry for record in all_records()[0])))


@st.cache_resource(max_entries=200, show_spinner=False)
def _worth(name: str, digest: str, stamp: str, _entry: Entry) -> Mapping[str, Mapping]:
    from triattn_core.results.worth import worth_of

    return worth_of(_entry)


def points(entry: Entry, control: str = "even") -> float | None:
    """Points over a control; None where none was trained."""
    gain = worth(entry).get(control)
    return None if gain is None else float(gain["points"])


def verdict(entry: Entry) -> str:
    """A sentence where the attention of a checkpoint, or its third order, is worth no more than the SD over seeds;
    empty where it is worth more, and where no control was trained."""
    gains, parts = worth(entry), []
    for control, subject, baseline in (
        ("even", "its attention is", "the same form trained with even weights"),
        ("strassen", "its third order is", "the same form trained with pairwise scores"),
    ):
        gain = gains.get(control)
        if gain is None:
            continue
        one_seed = gain["spread"] is None
        if gain["points"] <= (_standard_error(entry) if one_seed else gain["spread"]):
            spread = _one_seed(entry) if one_seed else f"SD over seeds {gain['spread']:.2g}"
            form = "the third order of its form, with the scaled dot, is" if gain.get("of") else subject
            parts.append(f"{form} worth {gain['points']:+.2g} points over {baseline} ({spread})")
    if not parts:
        return _not_relied_on(entry)
    need = "this map" if len(parts) > 1 or parts[0].startswith("its attention") else "more than pairwise scores"
    return minus(f"{entry.name}: {' and '.join(parts)}. Nothing shows that the answer needs {need}.")


def _not_relied_on(entry: Entry) -> str:
    """A sentence where the product of the cube's two marginals, put in its place, costs no accuracy beyond chance: the
    scores keep their third order, but which key goes with which context token is lost."""
    lost, p = (measure_value(entry, "reliance", "product_of_marginals", statistic) for statistic in ("points", "p"))
    if lost is None or p is None or p < LEVEL:
        return ""
    return minus(
        f"{entry.name}: the product of its cube's two marginals in place of the cube moves its accuracy on dev by "
        f"{-lost:+.1f} points, no more than chance: its answers do not depend on how key and context are paired."
    )


def _standard_error(entry: Entry) -> float:
    """Of the difference of two scores on its dev rows, taken as independent samples, in points; 0 without dev rows."""
    rows, score = (entry.metrics.get("dev") or {}).get("n"), metadata.main_score(entry, "dev")
    return 100 * sqrt(2 * score * (100 - score) / 1e4 / rows) if rows and score is not None else 0.0


def _one_seed(entry: Entry) -> str:
    error = _standard_error(entry)
    return "one seed each" + (f", standard error {error:.2g}" if error else "")


def notes(entries: Sequence[Entry]) -> None:
    """The sentences of checkpoints whose map is drawn here, behind a button; nothing where all is well."""
    sentences = list(filter(None, map(verdict, entries)))
    if not sentences:
        return
    with st.popover("Caveat" if len(sentences) == 1 else "Caveats", width=92, key="caveats"), st.container(width=420):
        for sentence in sentences:
            st.html(f'<p class="t-note t-worth">{escape(sentence)}</p>')


def table(entries: Sequence[Entry]) -> str:
    """HTML: score, worth, reliance and information of checkpoints, a row each; empty where none was measured."""
    columns = [(name, [cell(entry) for entry in entries]) for name, cell in CELLS]
    columns = [(name, cells) for name, cells in columns if any(cells)]
    if len(columns) < 2:  # the score alone
        return ""
    heads = "".join(f'<th class="r">{escape(name)}</th>' for name, _ in columns)
    lines = ""
    for i, entry in enumerate(entries):
        swatch = style.swatch(metadata.model_setting(entry, "mechanism"))
        cells = "".join(f'<td class="r">{escape(minus(cells[i] or "–"))}</td>' for _, cells in columns)
        lines += f"<tr><td>{swatch}{escape(entry.name)}</td>{cells}</tr>"
    title = checkpoint_html.section("What the attention is worth", "on dev, in points")
    return (
        f'{title}<div class="t-scroll"><table class="t-table"><tr><td></td>{heads}</tr>{lines}</table></div>'
        + legend(entries)
    )


def legend(entries: Sequence[Entry]) -> str:
    """HTML: what the measures mean, and the forms of checkpoints where one is living."""
    return f'<p class="t-note">{escape(HELP)} {LIVING if any(map(metadata.is_living, entries)) else ""}</p>'


def facts(entry: Entry) -> str:
    """HTML: the measurements of one checkpoint's attention, a line each; empty if there are none."""
    rows = [(name, cell(entry)) for name, cell in CELLS[1:]]
    alignment, special = measure_value(entry, "alignment", "best_head"), measure_value(entry, "special")
    redirected = measure_value(entry, "redirected", "mean")
    rows.append(
        ("relevance that context redirects, mean of heads", "" if redirected is None else f"{redirected:.3g} %")
    )
    rows.append(("same-word alignment, best head", "" if alignment is None else f"{alignment:.3g} %"))
    rows.append(("mass on special tokens", "" if special is None else f"{special:.3g} %"))
    rows = [(name, minus(text)) for name, text in rows if text]
    if not rows:
        return ""
    sentence = verdict(entry)
    note = f'<p class="t-note t-worth">{escape(sentence)}</p>' if sentence else ""
    return checkpoint_html.section("Its attention", "on dev, in points") + checkpoint_html.facts(rows) + note


def with_measures(frame: pd.DataFrame, entries: Sequence[Entry]) -> pd.DataFrame:
    """The table of checkpoints with worth (± SD over seeds, and their number), reliance and query information after
    their scores, of those measured."""
    columns = {
        "worth": [_worth_cell(entry, "even") or None for entry in entries],
        "reliance": [measure_value(entry, "reliance", "even", "points") for entry in entries],
        "query information (bits)": [measure_value(entry, "query_information", "mean") for entry in entries],
    }
    columns = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    after = [name for name in ("dev", "test", "over seeds") if name in frame]
    start = max((frame.columns.get_loc(name) for name in after), default=len(frame.columns) - 1) + 1
    for place, (name, values) in enumerate(columns.items(), start):
        frame.insert(place, name, pd.Series(values, dtype=object if name == "worth" else float))
    return frame


def _score(entry: Entry) -> str:
    score = metadata.main_score(entry, "dev")
    return "" if score is None else half_up(score, 1)


def _worth_cell(entry: Entry, control: str) -> str:
    gain = worth(entry).get(control)
    if gain is None:
        return ""
    spread = "" if gain["spread"] is None else f" ± {gain['spread']:.2g}"
    return minus(f"{gain['points']:+.1f}{spread} ({gain['seeds']})")


def _bits(entry: Entry, name: str) -> str:
    mean, before = (measure_value(entry, name, statistic) for statistic in ("mean", "untrained"))
    return "" if mean is None else _format_bits(mean) + ("" if before is None else f" ({_format_bits(before)})")


def _format_bits(bits: float) -> str:
    return "< 0.001" if 0 < bits < 0.001 else f"{bits:.2g}"


def _reliance(entry: Entry) -> str:
    gain = measure_value(entry, "reliance", "even", "points")
    return "" if gain is None else minus(f"{gain:+.1f}")


CELLS = (
    ("score", _score),
    ("worth of attention", lambda entry: _worth_cell(entry, "even")),
    ("third-order worth", lambda entry: _worth_cell(entry, "strassen")),
    ("reliance", _reliance),
    ("query information (bits)", lambda entry: _bits(entry, "query_information")),
    ("context information (bits)", lambda entry: _bits(entry, "context_information")),
)
