"""Attention changed instead of the text: of chosen heads and layers of any model whose weights can be replaced."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from pages.intervene.intervention_result import headline
from pages.shared import checkpoint_html, figures, page_setup, sentence_box, style, url_state
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from triattn_core.scenes import weights, weights_text
from triattn_core.scenes.weights import Settings, WeightsScene
from triattn_core.sources import open_source
from triattn_core.sources.source import lacks
from triattn_core.sources.weight_change import WAYS
from triattn_core.tasks import TASKS, sentences
from triattn_core.trace import AttentionTrace
from triattn_core.views.charts import intervention as maps_view
from triattn_core.views.charts import replaced_weights as view
from triattn_core.views.lib.number_format import minus, probability
from triattn_core.views.lib.strongest import labels, numbered

TEXT, ATTENTION = "text", "attention"
ALIKE = "The weights of the same head on another text with as many tokens."


def is_asked(question: page_setup.PageQuestion) -> bool:
    """The picker of what is changed; True for the attention.  A source without context offers nothing else."""
    if lacks(open_source(question.entry), ["context"]) and page_setup.is_other(question.entry):
        return True
    return url_state.segments("Change the", [TEXT, ATTENTION], "change") == ATTENTION


def show(question: page_setup.PageQuestion) -> None:
    """The pickers in the row of settings, then the result below."""
    trace = question.explanation.trace
    settings = _pick(question, trace)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
    below = question.below
    with below, report_errors():
        if lack := lacks(open_source(question.entry), ["context"]):
            figures.note(f"{lack}: its attention is changed here, not its text.")
        settings = _pick_tokens(question, settings, trace)
        page = PageScene.build("weights", [question.entry], question.example, settings)
        _show_result(page)
    with tail:
        page.save_menus("weights")


def _pick(question: page_setup.PageQuestion, trace: AttentionTrace) -> Settings:
    every = weights.all_heads(trace)
    layers = sorted({(site.layer or 0) + 1 for site, _ in every})
    heads = list(range(1, max(head for _, head in every) + 2))
    sides = weights.sides_of(every)
    becomes = url_state.pick("Weights become", list(WAYS), "becomes", width=150)
    side = url_state.pick("In", ["every", *sides], "in_sides", width=110) if sides else "every"
    in_layers = url_state.some("In layers", layers, "in_layers", width=150)
    in_heads = url_state.some("In heads", heads, "in_heads", width=150)
    option = page_setup.option_number(question)
    chosen: dict[str, Any] = {
        "becomes": becomes,
        "in_layers": tuple(in_layers),
        "in_heads": tuple(in_heads),
        "in_sides": () if side == "every" else (side,),
        "option": option,
    }
    return Settings(**chosen)


def _pick_tokens(question: page_setup.PageQuestion, settings: Settings, trace: AttentionTrace) -> Settings:
    """What some ways ask for besides: another text, or a row and where it looks."""
    if settings.becomes == "another text":
        pair = not isinstance(question.example, sentences.Example)
        row = TASKS[question.task].row(question.example) if pair else {"text": question.example.text}
        name = "text_a" if pair else "text"
        start = row.get("text_a", "")
        with st.container(horizontal=True, key="pair-edited"):
            text = sentence_box.box("Another text, with as many tokens", start, "other")
        figures.note(ALIKE)
        return settings.model_copy(update={"other": {k: row[k] for k in row if k != "label"} | {name: text}})
    if settings.becomes == "edited row":
        array = trace.sites[weights.own_sites(trace)[0]]
        rows, columns = (list(numbered(labels(array, dict(trace.texts), axis))) for axis in ("query", "key"))
        with st.container(horizontal=True, vertical_alignment="bottom", key="row-settings"):
            row = url_state.pick("The row of", rows, "row", width=180)
            key = url_state.pick("looks only at", columns, "looks", width=180)
        return settings.model_copy(update={"row": rows.index(row), "looks": (columns.index(key),)})
    return settings


def _show_result(page: PageScene) -> None:
    scene: Any = page.scene
    theme, result = style.theme(), scene.replaced
    st.html(headline(scene.finding))
    if scene.rewritten:
        st.html(f'<p class="t-outcome">{escape(scene.rewritten)}</p>')
    st.html(_answers(scene))
    if scene.draws:
        st.html(checkpoint_html.section("Against chance", "the log-odds of the answer, as it was and at random"))
        figures.show(partial(view.draws, list(result.log_odds), theme=theme), scene.chance, "against-chance")
        figures.note(scene.chance)
    moved = weights_text.describe_moved(scene.moved)
    st.html(checkpoint_html.section("Attention that moves", "bits, of each head; those that were changed are framed"))
    if not weights_text.nothing_moves(scene.moved):
        figures.show(partial(view.moved, scene.moved, theme=theme), moved, "moved", width="content")
    figures.note(moved)
    _show_maps(page, theme)
    figures.numbers("All of this as numbers", scene.table, "weights-numbers")


def _show_maps(page: PageScene, theme: str) -> None:
    scene: WeightsScene = page.scene  # type: ignore[assignment]
    every = weights.all_heads(scene.trace)
    layers = sorted({(site.layer or 0) + 1 for site, _ in every})
    st.html(checkpoint_html.section("Before and after", "query × key"))
    chosen: Any = scene.settings
    sides = weights.sides_of(every)
    with st.container(horizontal=True, vertical_alignment="bottom", key="map-settings"):
        opens = sides.index(page.scene.site.role) if sides else 0  # type: ignore[attr-defined]
        side = url_state.segments("Attention", sides, "side", default=opens) if sides else None
        layer = url_state.segments("Layer", layers, "layer", default=layers.index(chosen.layer))
        heads = list(range(1, max(head for _, head in every) + 2))
        head = url_state.pick("Head", ["mean", *heads], "head", width=84)
    updated = chosen.model_copy(update={"layer": layer, "side": side, "head": None if head == "mean" else head})
    page.choices |= {"layer": updated.layer, "side": side, "head": updated.head}
    before, after, tokens, sentence = weights.maps_at(scene, updated)
    with st.container(horizontal=True, key="maps"):
        for number in range(3):
            with st.container(width="content"):
                chart = partial(maps_view.separate_map, number, before, after, tokens, theme)
                figures.show(chart, sentence, f"map-{number}", width="content")
    figures.note(sentence)


def _answers(scene: WeightsScene) -> str:
    """HTML: the answers before and after, as bars and numbers."""
    before, after = scene.replaced.predictions[:2]
    colour, rows = style.colour(scene.explanations[0].mechanism), ""
    for i, label in enumerate(_shown(before.labels)):
        shares = (before.probabilities[i], after.probabilities[i])
        bars = "".join(
            f"<td>{style.bar(share, colour)}</td>"
            f"<td class='r t-line' style='padding-right:44px'>{probability(share)}</td>"
            for share in shares
        )
        name = f"<b>{escape(label[:90])}</b>" if i == after.best else escape(label[:90])
        rows += f"<tr><td>{name}</td>{bars}<td class='r'>{minus(f'{shares[1] - shares[0]:+.3f}')}</td></tr>"
    head = '<tr><th>answer</th><th>before</th><td></td><th>after</th><td></td><th class="r">change</th></tr>'
    return f'<table class="t-table" style="width:auto">{head}{rows}</table>'


def _shown(names: Sequence[str]) -> Sequence[str]:
    return names[:8]
