"""What matters: of the strongest cells of the cube, what the answer loses without each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.shared import figures
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from pages.shared.page_scene import PageScene
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.site import Site
from triattn_core.views.cube import NEEDS
from triattn_core.views.lib.strongest import strongest

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle

LISTED = 12
ABOUT = (
    "Cost: the log-odds of the answer, less those with this one weight at zero and the rest of its query scaled up. "
    "Above zero, the weight speaks for the answer; the strongest is often not what matters."
)


def show(entry: Entry, page: PageScene, option: int | None) -> None:
    """A fold with the strongest cells of words and their costs; it runs the model once it is open."""
    settings, shown = page.scene.settings, page.scene.shown
    if shown is None or settings.grouping().folds or settings.site.quantity != "weight":
        return
    with st.expander("Cost if removed", key="costs", bind="query-params") as box, report_errors(stop=False):
        if not box.open:
            return
        rows = strongest(shown, hide_special=True)
        sinks = 1 - rows["share"].sum()
        rows = rows.head(LISTED)
        cells = [tuple(int(row[f"{axis}_at"]) for axis in NEEDS) for _, row in rows.iterrows()]
        head = None if settings.head is None else settings.head - 1
        costs = _costs(entry, page.example, settings.site, cells, head, option)
        table = rows[[*NEEDS, "weight", "share"]].assign(cost=costs).sort_values("cost", key=abs, ascending=False)
        exact = st.column_config.NumberColumn(format="%.3g")
        names = {
            "weight": exact,
            "share": exact,
            "cost": st.column_config.NumberColumn("cost if removed", format="%+.3f"),
        }
        st.dataframe(table, hide_index=True, column_config=names, alt="The strongest cells, the costliest first")
        figures.note(f"{ABOUT} Cells with a special token, not listed, hold {sinks:.0%} of the mass.")


def _costs(
    entry: Entry, example: Any, site: Site, cells: Sequence[tuple[int, ...]], head: int | None, option: int | None
) -> list[float]:
    def measure(bundle: Bundle) -> list[float]:
        from triattn_core.analysis.intervention.cell_removal import cell_costs

        return cell_costs(bundle, example, site, cells, head, option).tolist()

    return MODELS.answer(entry, "Taking weights out", measure, example, str(site), tuple(cells), head, option)
