"""MTSA: one sentence, premise and hypothesis, a sentence and its predicate, or a sentence to translate: what the model
says, and each head's maps behind it.  Taggers and translation models with multi-head attention are shown here too."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.mtsa import alignment_table, even_weights, pickers, predicate_table, role_spans, translations
from pages.shared import cell_command, figures, head_strip, sentence_input, token_grouping
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from triattn_core.checkpoint.registry import Entry
from triattn_core.tasks import InputForm, form
from triattn_core.views.attention_maps.maps import pair_site

FORMS = dict.fromkeys((InputForm.SENTENCES, InputForm.WORDS, InputForm.TRANSLATION), ())
PARTS = {  # what the model says, how its attention stands against what people have said, and that without a sentence
    InputForm.WORDS: (role_spans.show, predicate_table.show, predicate_table.show_measured),
    InputForm.TRANSLATION: (translations.show, alignment_table.show, alignment_table.show_measured),
}
SAYS = (
    'Each <b class="t-query">governor</b> (query, down) distributes its token2token weight over '
    '<b class="t-key">dependents</b> (keys, across); source2token is the weight of a token alone, '
    '<b class="t-feature">feature</b> by feature. The output of a head combines the two.'
)
LEADS = {
    InputForm.WORDS: (
        "Click a word: it is the predicate, and the spans are its arguments. Each "
        '<b class="t-query">governor</b> (query, down) distributes its weight over '
        '<b class="t-key">dependents</b> (keys, across).'
    ),
    InputForm.TRANSLATION: (
        'Each <b class="t-query">piece of the target</b> (query, down) distributes its weight over the '
        '<b class="t-key">pieces of the source</b> (keys, across), when the decoder is about to write it. Source and '
        "target also look at themselves."
    ),
}


@st.fragment
def explore(page: PageScene, link: dict[str, str]) -> None:
    """Shows the figure as a fragment: a click puts the chosen cell into the URL and into the link to the tensor."""
    query, key, panel, place = page.choose()
    page.answer()
    settings, trace = page.scene.settings, page.scene.trace
    feature, head = page.scene.feature(panel, place), settings.heads[panel]
    site = pair_site(trace, settings.layer, settings.quantity)
    if form(page.entries[0].config["task"]) is InputForm.SENTENCES:
        opens, where = {**link, "head": str(head)}, "in tokens"
        if "folded" not in trace.site(site).attrs:  # what is folded there stands at no one cell
            opens, where = opens | {"cell": f"{query}.{key}.{feature}"}, "at this cell"
        st.page_link("pages/tensor/page.py", label=f"The tensor of head {head}, {where}", query_params=opens)
    # Of relevance the command prints the score before its scale and its mask.
    position = {"head": head - 1, "query": query, "key": key}
    cell_command.command(page.entries[0].name, page.row, cell_command.cell(trace, site, position))


def show_measures(entry: Entry) -> None:
    """Shows what was measured of a checkpoint on rows, where its sentence cannot be read."""
    if (of_form := form(entry.config["task"])) in PARTS:
        PARTS[of_form][2](entry)
        even_weights.show(entry)


top = sentence_input.open_page("MTSA", SAYS, FORMS, LEADS, show_measures)
of_form = form(top.entry.config["task"])
if of_form in PARTS:
    PARTS[of_form][0](top)
with top.settings:
    settings = pickers.pick(top)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
texts, grouping = top.explanation.trace.texts, settings.grouping()
token_grouping.missing(texts, grouping)
parts = (*texts.values(), str(top.layer), str(not settings.features), *grouping.parts)
page = None  # of a text too long for maps
with report_errors(stop=False):
    page = PageScene.build("mtsa", [top.entry], top.example, settings, *parts)
if page:
    with tail:
        page.save_menus(f"mtsa-{top.layer.file_name}" + token_grouping.ending(grouping))
    explore(page, top.link())
layers = [replace(top.layer, layer=number) for number in range(int(top.explanation.trace.meta.get("layers", 1)))]
sites = [pair_site(top.explanation.trace, layer, "weight") for layer in layers]
heads = head_strip.of_layers(top.explanation.trace, lambda site: site in sites)
pairs = {head: pair for pair in pickers.pairs_of(top.explanation.trace, top.layer) for head in pair}
first = None if len(settings.heads) == len(pairs) else settings.heads[0] - 1
head_strip.show(
    heads,
    f"{top.explanation.source} {top.layer.module}",
    (head_strip.row_of(heads, pair_site(top.explanation.trace, top.layer, "weight")), first),
    choose=lambda layer, head: {"heads": pairs[head + 1]} | ({"layer": layer + 1} if len(layers) > 1 else {}),
)
if of_form in PARTS:
    PARTS[of_form][1](top)
    even_weights.show(top.entry)
if page:
    scene = page.scene
    figures.numbers("All pairs of all heads as numbers", lambda: scene.table, "numbers")
