"""The panels of similarity: each function's sites and answers, what it is called, and its scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from triattn_core.errors import InputError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import FUNCTION_LABELS, MECHANISM_LABELS
from triattn_core.trace.relevance import centred
from triattn_core.trace.site import Site
from triattn_core.views.lib.palette import LogScale, Scale, SignedScale

OWN_FUNCTIONS = {"bidaf": "trilinear", "dcn": "dot", "qanet": "trilinear"}  # of the published systems
SYSTEMS = {name: MECHANISM_LABELS[name] for name in OWN_FUNCTIONS}
SCALES = {
    "relevance": "relevance, before softmax",
    "centred": "relevance, centred per row",
    "weight": "weight, over question, log scale",
    "over passage": "weight, over passage, log scale",
}
NO_PRODUCT = "no product"  # of a baseline's answer layer that reads [h; u~] alone, the paper's O_1
ATTENTION = Site(role="attention")
OVER_PASSAGE_SITE = (ATTENTION / "over_passage").with_quantity("weight")
OVER_PASSAGE = "over passage"  # how a question word attends to the passage: BiDAF, DCN and QANet alone


@dataclass(frozen=True)
class FunctionPanel:
    """One function: its sites in a trace of a window of the passage, and what its reader answers.

    spans: (first character, the one after the last, probability), the best first.  right: exact match with a known
    answer, None where none is known.  elsewhere: the window (from 1) that the best answer is in, where it is not drawn.
    """

    title: str
    trace: AttentionTrace = field(repr=False)
    spans: tuple[tuple[int, int, float], ...] = ()
    right: bool | None = None
    elsewhere: int | None = None

    def site(self, site: Site) -> xr.DataArray:
        """The array of a site, its passage words first."""
        array = self.trace.site(site)
        return array.transpose("query", "key") if "key" in array.dims else array

    @property
    def weights(self) -> xr.DataArray:
        """[query, key]: what passage words give question words."""
        return self.site(ATTENTION.with_quantity("weight"))

    @property
    def scores(self) -> xr.DataArray:
        """[query, key]: before the softmax."""
        return self.site(ATTENTION.with_quantity("relevance"))

    def end(self, name: str) -> xr.DataArray:
        """[query]: the probability that the answer has its `start` or `end` here."""
        return self.site(Site(role=name, quantity="weight"))

    def values_of(self, quantity: str) -> xr.DataArray:
        """[query, key] of a quantity of `SCALES`.  BiDAF's weights over the passage are alike for all question words.

        Raises InputError where the reader has no weights over the passage.
        """
        if quantity == "weight":
            return self.weights
        if quantity == OVER_PASSAGE:
            return self._over_passage()
        return centred(self.scores) if quantity == "centred" else self.scores

    @property
    def has_over_passage(self) -> bool:
        """Whether its question words attend to the passage."""
        return OVER_PASSAGE_SITE in self.trace.sites

    @property
    def is_one_for_all(self) -> bool:
        """Whether all its question words share one distribution over the passage, as in BiDAF."""
        return self.has_over_passage and "key" not in self.site(OVER_PASSAGE_SITE).dims

    @property
    def has_sentinel(self) -> bool:
        """Whether its weights over the question lack what a sentinel takes, as in DCN."""
        return not self.weights.attrs.get("sums_over")

    def _over_passage(self) -> xr.DataArray:
        if not self.has_over_passage:
            raise InputError(
                f"{self.title}: its question words do not attend to the passage; BiDAF, DCN and QANet's do."
            )
        weights = self.site(OVER_PASSAGE_SITE)
        if "key" in weights.dims:
            return weights
        like = self.weights
        attrs = {**weights.attrs, "sums_over": "query"}
        return like.copy(data=np.broadcast_to(weights.values[:, None], like.shape)).assign_attrs(attrs)


def title(mechanism: str, similarity: str) -> str:
    """A reader's function, after its system where that is not the baseline."""
    function = FUNCTION_LABELS.get(similarity, similarity.replace("_", " "))
    return f"{SYSTEMS[mechanism]} {function}" if mechanism in SYSTEMS else function


def _is_system(setting: Mapping) -> bool:
    """Whether a reader is BiDAF, DCN or QANet, whose answer layers are their own."""
    return setting.get("mechanism") in SYSTEMS


def titles(settings: Mapping[str, Mapping]) -> dict[str, str]:
    """Titles of readers by name from their `model` settings: the function, the system where it is not the baseline,
    NO_PRODUCT where that holds; the name itself where that is not enough."""
    texts = {}
    for name, setting in settings.items():
        function = title(str(setting.get("mechanism", "")), str(setting.get("similarity", "")))
        lacks_product = not _is_system(setting) and setting.get("output") == "O_1"
        texts[name] = function + (f", {NO_PRODUCT}" if lacks_product else "")
    counts = Counter(texts.values())
    return {name: text if counts[text] == 1 else f"{text} ({name})" for name, text in texts.items()}


def scales(panels: Sequence[FunctionPanel], quantity: str, shared: bool) -> list[Scale]:
    """The scale of each panel: one for all, or each its own."""
    arrays = [panel.values_of(quantity).values for panel in panels]

    def fit(values: np.ndarray) -> Scale:
        if quantity in ("weight", OVER_PASSAGE):
            count = panels[0].weights.sizes["key" if quantity == "weight" else "query"]
            return LogScale.fit(values, count)
        return SignedScale.of(values, title="")

    if shared:
        return [fit(np.concatenate([array.ravel() for array in arrays]))] * len(panels)
    return [fit(array) for array in arrays]


def answer_words(panel: FunctionPanel) -> list[int]:
    """The passage words of the best answer; none where it is in another window."""
    start, end = panel.spans[0][:2] if panel.spans else (0, 0)
    array = panel.end("start")
    spans = zip(array["query_start"].values.tolist(), array["query_end"].values.tolist())
    return [i for i, (a, b) in enumerate(spans) if a < end and b > start]


def first_cell(panels: Sequence[FunctionPanel]) -> tuple[int, int, int]:
    """Where to look first: of the last panel, at the first word of its answer, the question word it weighs most."""
    last = len(panels) - 1
    row = (answer_words(panels[last]) or [int(panels[last].end("start").values.argmax())])[0]
    return row, int(panels[last].weights.values[row].argmax()), last


def joined(panels: Sequence[FunctionPanel]) -> AttentionTrace:
    """The traces of all panels as one: sites begin with the function's name."""
    sites = {site.under(panel.title): array for panel in panels for site, array in panel.trace.sites.items()}
    names = ", ".join(str(panel.trace.meta.get("checkpoint", "")) for panel in panels)
    return AttentionTrace(sites, panels[0].trace.texts, {"checkpoints": names})
