"""MTSA: one sentence, or premise and hypothesis: what the model says, and each head's maps behind it."""

from __future__ import annotations

import streamlit as st

from pages.mtsa import pickers
from pages.shared import cell_command, figures, head_strip, sentence_input, token_grouping
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene

SAYS = (
    'Each <b class="t-query">governor</b> (query, down) distributes its token2token weight over '
    '<b class="t-key">dependents</b> (keys, across); source2token is the weight of a token alone, '
    '<b class="t-feature">feature</b> by feature. The output of a head combines the two.'
)


@st.fragment
def explore(page: PageScene, link: dict[str, str]) -> None:
    """Shows the figure as a fragment: a click puts the chosen cell into the URL and into the link to the tensor."""
    query, key, panel, place = page.choose()
    page.answer()
    settings = page.scene.settings
    feature, head = page.scene.feature(panel, place), settings.heads[panel]
    opens, where = {**link, "head": str(head)}, "in tokens"
    pairs_site = settings.layer / "token2token"
    weights = page.scene.trace.site(pairs_site.with_quantity("weight"))
    if "folded" not in weights.attrs:  # what is folded there stands at no one cell
        opens, where = opens | {"cell": f"{query}.{key}.{feature}"}, "at this cell"
    st.page_link("pages/tensor/page.py", label=f"The tensor of head {head}, {where}", query_params=opens)
    # Of relevance the command prints the score before its scale and its mask.
    site, position = pairs_site.with_quantity(settings.quantity), {"head": head - 1, "query": query, "key": key}
    cell_command.command(page.entries[0].name, page.row, cell_command.cell(page.scene.trace, site, position))


top = sentence_input.open_page("MTSA", SAYS, ("mtsa",))
with top.settings:
    settings = pickers.pick(top)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
texts, grouping = top.explanation.trace.texts, settings.grouping()
token_grouping.missing(texts, grouping)
parts = (*texts.values(), str(top.layer), str(not settings.features), *grouping.parts)
with report_errors():
    page = PageScene.build("mtsa", [top.entry], top.example, settings, *parts)
with tail:
    page.save_menus(f"mtsa-{top.layer.file_name}" + token_grouping.ending(grouping))
heads = head_strip.of_layers(top.explanation.trace, lambda site: site.attention == top.layer / "token2token")
pairs = {head: pair for pair in pickers.pairs_of(top.explanation.trace) for head in pair}
first = settings.heads[0] - 1 if settings.features else None
head_strip.show(
    heads, f"{top.explanation.source} {top.layer}", (0, first), choose=lambda _, head: {"heads": pairs[head + 1]}
)
explore(page, top.link())
figures.numbers("All pairs of all heads as numbers", lambda: page.scene.table, "numbers")
