"""What every view keeps: those of a trace below the cube, and those of an example as scenes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import pytest
import xarray as xr

from tests.support.card_checkpoints import ASKED, COIN, READ, cases, use_checkpoints
from triattn_core.errors import TraceError, TriattnError
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import validate_settings
from triattn_core.sources import find_entries
from triattn_core.sources.models import Models
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axes import AXES, QUANTITIES
from triattn_core.trace.distribution import Distribution
from triattn_core.views import JOINS, TRACE_VIEWS, TraceView, fitting_views, quantities, reduce_to
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.strongest import strongest

SITE = "layer.0/a_over_b/weight"
SIZES = {"head": 2, "query": 2, "key": 3, "context": 5, "feature": 7}
# Of each kind of checkpoint one, and an example of its task.
ASKS = {
    "tan": ("pairs-tri", cases()["cube"][2]),
    "sentence": ("trec-mtsa", ASKED),
    "coin": ("quora-coin", COIN),
    "reader": ("squad-dot", READ),
}


def trace_of_axes(axes: Sequence[str]) -> AttentionTrace:
    """Weights with these axes, each row a distribution over all but the first; a word of each text stands twice."""
    sizes = [SIZES[axis] for axis in axes]
    weights = np.random.default_rng(7).dirichlet(np.ones(int(np.prod(sizes[1:]))), sizes[0]).reshape(sizes)
    coords = {}
    for axis, size in zip(axes, sizes):
        starts = list(range(0, 4 * size, 4))
        words = [f"<b{i % 2}>" for i in range(size)]
        columns = {"token": words, "text": ["a"] * size, "start": starts, "end": [at + 3 for at in starts]}
        columns |= {"segment": ["a"] * size, "special": [0] * size}
        coords |= {f"{axis}_{name}": (axis, values) for name, values in columns.items()}
    attrs = {"quantity": "weight", "sums_over": ",".join(axis for axis in axes[1:] if axis in ("key", "context"))}
    return AttentionTrace({SITE: xr.DataArray(weights, coords, axes, attrs=attrs)}, {"a": "word " * 40}, {})


def shown_of_axes(axes: Sequence[str]) -> Distribution:
    return Distribution(trace_of_axes(axes), Choice(SITE))


def breaches(view: TraceView) -> list[str]:
    """What a view of a trace lacks of its contract."""
    lacks = [name for name in ("TITLE", "NEEDS", "figure", "describe") if not getattr(view, name, None)]
    if lacks:
        return [f"no {name}" for name in lacks]
    shown, problems = shown_of_axes(view.NEEDS), []
    problems += [f"{axis} is no axis" for axis in view.NEEDS if axis not in AXES]
    problems += [f"{quantity} is no quantity" for quantity in quantities(view) if quantity not in QUANTITIES]
    for name in ("figure", "describe"):
        for parameter, of in inspect.signature(getattr(TraceView, name)).parameters.items():
            own = inspect.signature(getattr(view, name)).parameters.get(parameter)
            if parameter != "self" and (own is None or own.kind is not of.kind):
                problems.append(f"{name} has no parameter {parameter}")
    if not problems:
        drawn = [view.figure(shown, hide_special=hide, theme="dark").to_json() for hide in (False, True)]
        problems += ["a token is read as HTML"] * any("<b0>" in text.replace("\\u003cb0", "<b0") for text in drawn)
        sentence = view.describe(shown, hide_special=False)
        problems += ["describe gives no sentence with a number"] * (not any(letter.isdigit() for letter in sentence))
        with pytest.raises(TraceError):
            view.figure(shown_of_axes(view.NEEDS[:-1]), hide_special=False, theme="light")
    return problems


@pytest.mark.parametrize("name", TRACE_VIEWS)
def test_a_view_of_a_trace_is_complete(name: str) -> None:
    view = TRACE_VIEWS[name]
    assert breaches(view) == []
    assert name in fitting_views(shown_of_axes(view.NEEDS))
    assert name not in fitting_views(shown_of_axes(view.NEEDS[:-1]))


class PairView:
    """A view of query × key, which takes an array with these axes and no other."""

    TITLE, NEEDS = "Query × key", ("query", "key")

    def figure(self, shown: Distribution, *, hide_special: bool = False, theme: str = "light"):
        return shown.array.transpose(*self.NEEDS)

    def describe(self, shown: Distribution, *, hide_special: bool = False) -> str:
        return f"{len(strongest(shown, hide_special=hide_special))} cells"


@pytest.mark.parametrize("axis", ("head", "context", "feature"))
def test_a_view_is_offered_with_one_axis_more_only_where_it_draws(axis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast(dict, TRACE_VIEWS), "pair", PairView())
    for view in TRACE_VIEWS.values():
        if axis not in view.NEEDS:
            shown = shown_of_axes((*view.NEEDS, axis))
            for offered in fitting_views(shown).values():
                fitted = reduce_to(shown, offered.NEEDS)
                assert set(fitted.array.dims) == set(offered.NEEDS)
                offered.figure(fitted, hide_special=True, theme="light")
                assert offered.describe(fitted, hide_special=True)
    assert ("pair" in fitting_views(shown_of_axes(("query", "key", axis)))) is (axis == "context")


def test_a_view_is_offered_only_for_its_quantities(monkeypatch: pytest.MonkeyPatch) -> None:
    class RelevanceView(PairView):
        QUANTITIES = ("relevance",)

    monkeypatch.setitem(cast(dict, TRACE_VIEWS), "pair", PairView())
    monkeypatch.setitem(cast(dict, TRACE_VIEWS), "scores", RelevanceView())
    weights, base = trace_of_axes(("query", "key", "context")).site(SITE), SITE.removesuffix("/weight")
    scores = np.log(weights).assign_attrs(quantity="relevance")
    trace = AttentionTrace({SITE: weights, f"{base}/relevance": scores}, {"a": "word " * 40}, {})
    offered = {quantity: set(fitting_views(Distribution(trace, Choice(f"{base}/{quantity}")))) for quantity in JOINS}
    assert {"points", "pair"} <= offered["weight"] and "scores" not in offered["weight"]
    assert {"points", "pair", "scores"} <= offered["relevance"]


def test_a_cube_is_joined_over_context_in_weights_and_in_relevances() -> None:
    weights = trace_of_axes(("query", "key", "context")).site(SITE)
    base = SITE.removesuffix("/weight")
    scores = np.log(weights).assign_attrs(quantity="relevance")
    masked = scores.where(scores.key_start > 0, -np.inf)  # the first key is masked, in every context
    trace = AttentionTrace({SITE: weights, f"{base}/relevance": masked}, {"a": "word " * 40}, {})
    for quantity, expected in (("weight", weights.sum("context")), ("relevance", np.log(weights.sum("context")))):
        pairs = reduce_to(Distribution(trace, Choice(f"{base}/{quantity}")), PairView.NEEDS)
        array = pairs.array
        assert array.dims == ("query", "key")
        np.testing.assert_allclose(array[:, 1:], expected[:, 1:])
        assert len(strongest(pairs)) == array.size
    assert np.isneginf(array[:, 0]).all()


def test_an_incomplete_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twin: without a title, and with a description that is asked otherwise."""
    name, view = next(iter(TRACE_VIEWS.items()))
    monkeypatch.setattr(view, "TITLE", "")
    assert breaches(TRACE_VIEWS[name]) == ["no TITLE"]
    monkeypatch.undo()
    monkeypatch.setattr(view, "describe", lambda shown: "A sentence.")
    assert breaches(TRACE_VIEWS[name]) == ["describe has no parameter hide_special"]
    monkeypatch.undo()
    monkeypatch.setattr(view, "QUANTITIES", ("weights",), raising=False)
    assert "weights is no quantity" in breaches(TRACE_VIEWS[name])


@pytest.fixture(scope="module", autouse=True)
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with use_checkpoints(tmp_path_factory.mktemp("views")):
        yield


def build(view: str, kind: str, **settings) -> Scene:
    """The scene of a view as it opens, under a checkpoint of a kind."""
    name, example = ASKS[kind]
    chosen = validate_settings(SCENES[view].settings, settings, view)
    return SCENES[view].build(Models("cpu"), find_entries([name]), example, chosen)


@pytest.mark.parametrize("view", SCENES)
def test_a_view_draws_a_checkpoint_or_says_in_one_line_why_not(view: str) -> None:
    scenes = {}
    more = (
        {"compare": "inputs", "edited": {"text_a": "a red car", "text_b": "a big movie"}}
        if view == "side_by_side"
        else {}
    )
    for kind in ASKS:
        try:
            scenes[kind] = build(view, kind, **more)
        except TriattnError as error:
            assert "\n" not in str(error) and str(error), (view, kind)
    assert scenes, "no kind of checkpoint is drawn"
    for kind, scene in scenes.items():
        for name, figure in scene.figures.items():
            assert figure.title and any(letter.isdigit() for letter in figure.alt), (kind, name)
        assert len(scene.table) > (view != "heads") and scene.trace.sites and scene.explanations
        again = json.loads(scene.settings.model_dump_json())
        assert validate_settings(SCENES[view].settings, again, view) == scene.settings
        first = next(iter(scene.figures.values()))
        if isinstance(first, Canvas):
            cell = scene.settings.cell  # of a figure of one map without that map's row and column
            assert first.cell == tuple(first.payload["cell"]) == scene.screen.cell and first.cell[: len(cell)] == cell
            assert first.extents[: len(cell)] == tuple(scene.axes) and scene.screen.alt == first.alt
            assert first.maps and all(one.levels.shape == (len(one.rows), len(one.columns)) for one in first.maps)
            assert all(at in axis for at, axis in zip(scene.settings.cell, scene.axes))
