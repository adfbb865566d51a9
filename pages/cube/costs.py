"""What matters: of the strongest cells of the cube and of the chosen one, what the answer loses without each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from pages.shared.page_scene import PageScene
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference import stored_traces
from triattn_core.scenes.cube import Settings
from triattn_core.sources.explanation import Explanation
from triattn_core.trace.site import Site
from triattn_core.views.cube import NEEDS
from triattn_core.views.lib.strongest import strongest

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle

Cell = tuple[int, ...]
LISTED = 8  # as many as the inspector lists
MOST = 150_000  # cells of a cube, up to which any chosen cell is taken out, and not only those that are listed


def opening(entry: Entry, example: Any, settings: Settings) -> Settings:
    """Settings that open on the stored cell whose removal moves the answer most, where costs are stored."""
    plain = settings.cell is None and not settings.hide and not settings.grouping().folds
    if not plain or settings.sinks is not None or settings.site.quantity != "weight":
        return settings
    known = stored_traces.find_costs(
        entry, example, settings.site, None if settings.head is None else settings.head - 1
    )
    return settings.model_copy(update={"cell": max(known, key=lambda cell: abs(known[cell]))}) if known else settings


def can_measure(page: PageScene) -> bool:
    """Whether the cube shows single weights of its model: those of a group of tokens cannot be taken out as one."""
    settings, shown = page.scene.settings, page.scene.shown
    return shown is not None and not settings.grouping().folds and settings.site.quantity == "weight"


def measure(entry: Entry, page: PageScene, explanation: Explanation) -> Callable[[Sequence[int]], Mapping[Cell, float]]:
    """Returns what gives the costs of the listed cells and of a chosen one; see `cell_costs`.

    Both come from one batch each, and of the text that the page opens on from its stored trace.
    """
    settings, shown = page.scene.settings, page.scene.shown
    assert shown is not None
    head = None if settings.head is None else settings.head - 1
    option = explanation.prediction.option if "option" in explanation.trace.meta else None

    def costs(chosen: Sequence[int]) -> Mapping[Cell, float]:
        lists = [strongest(shown, LISTED, hide_special=True), strongest(shown, LISTED, hide_special=settings.hide)]
        listed = [tuple(int(row[f"{axis}_at"]) for axis in NEEDS) for rows in lists for _, row in rows.iterrows()]
        known = dict(stored_traces.find_costs(entry, page.example, settings.site, head))
        cells, cell = list(dict.fromkeys(listed)), tuple(chosen)
        wanted = [cells, [cell]] if cell not in cells and shown.array.size <= MOST else [cells]
        for some in wanted:
            if missing := [one for one in some if one not in known]:
                with report_errors(stop=False):
                    known |= dict(zip(missing, _costs(entry, page.example, settings.site, missing, head, option)))
        return {one: known[one] for some in wanted for one in some if one in known}

    return costs


def _costs(
    entry: Entry, example: Any, site: Site, cells: Sequence[Cell], head: int | None, option: int | None
) -> list[float]:
    def measure_costs(bundle: Bundle) -> list[float]:
        from triattn_core.analysis.intervention.cell_removal import cell_costs

        return cell_costs(bundle, example, site, cells, head, option).tolist()

    return MODELS.answer(entry, "Taking weights out", measure_costs, example, str(site), tuple(cells), head, option)
