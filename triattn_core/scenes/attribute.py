"""Which tokens made the model say this, as its page draws it: methods on one scale, how far they agree, and a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import Field

from triattn_core.analysis.catalogue import METHODS
from triattn_core.checkpoint.registry import Card
from triattn_core.errors import ConfigError, choices
from triattn_core.scenes import scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.runner import Models, Question
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.views.charts import attribution as view
from triattn_core.views.charts import perturbation

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions

DRAWS = 20  # random rankings of one example


class Settings(ViewSettings):
    """steps: of the path of integrated gradients.  fold: tokens as they are shown.  ranks: whose tokens are ranked;
    None is the context where there is one.  method: the one that stands out in the test, None the first; draws: random
    rankings beside it, from `seed`; 0 leaves the test out.  option: of a task that chooses among texts, from 1."""

    steps: int = Field(32, ge=1)
    fold: Literal["words", "word pieces"] = "words"
    ranks: Literal["all", "query", "key", "context"] | None = None
    method: str | None = None
    draws: int = Field(DRAWS, ge=0)
    seed: int = 0
    option: int | None = Field(None, ge=1)


def build(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> Scene:
    """The scene of the page.  Raises ConfigError for another method, or a model that is not asked so."""
    question = Question.put(models, cards[0], example, settings.option and settings.option - 1)
    method = settings.method or next(iter(METHODS))
    if method not in METHODS:
        raise ConfigError(f"attribute: no method {method!r}; {choices(method, METHODS)}")
    pieces, odds = attributions(question, settings.steps)
    found = fold_pieces(pieces, settings.fold)
    shares, role = found.shares(), settings.ranks or first_role(found)
    caption, texts = f"{cards[0].name}, {settings.steps} steps", scene.input_line(question.found)
    added = view.completeness(found.table["integrated gradients"], found.gap, odds)
    told = "; ".join(f"{name} {number}" for name, number in added)
    said = f"{view.said(found.table, shares, question.names)} Integrated gradients: {told}."
    marks = view.strips(found.table, shares, question.names)
    ranked, of = select_role(found, role), view.plays(role, question.names)
    ranks, agree = ranked.correlations(), describe_agreement(ranked, role)
    short = [METHODS[name].short for name in ranks]
    charts = {
        "attribute": (marks, "Which tokens", said, caption + texts),
        "agreement": (view.ranks(ranks, short), f"Do they agree? Tokens of {of}", agree, caption + texts),
    }
    pairs = [(a, b, ranks.loc[a, b]) for a, b in combinations(ranks, 2)]
    tables = {"agreement": pd.DataFrame(pairs, columns=["method", "other", "Spearman"])}
    tables = {"attribute": rows(found, question.names), **tables}
    if settings.draws:
        curves, areas, band = perturbation_curves(question, settings.steps, settings.draws, settings.seed)
        told = perturbation.describe(method, areas, band, settings.draws)
        look = {"width": 520, "height": perturbation.PLOT, "title": ""}
        for measure, title in perturbation.TITLES.items():
            chart = perturbation.figure(curves, measure, method)
            charts[measure] = chart.properties(**look), title, told, f"{caption}, seed {settings.seed}{texts}"
        tables["faithful"] = curves
    option = None if question.option is None else question.option + 1
    return Scene(
        settings=settings.model_copy(update={"ranks": role, "method": method, "option": option}),
        draw=lambda: {name: Chart.of(*one) for name, one in charts.items()},
        tabulate=lambda: scene.stack_tables(**tables),
        trace=question.found.trace,
        found=(question.found,),
    )


def stream_attributions(question: Question, steps: int) -> Iterator[tuple[Attributions, float]]:
    """What the methods give each token, and the log-odds of the answer: first what the quick ones give, then with each
    of the others, at last all of METHODS."""
    columns, gap = {}, None
    for name in sorted(METHODS, key=lambda one: METHODS[one].cost):
        found, odds = _attribute_by(question, name, steps)
        columns[name], gap = found.table[name], found.gap if found.gap is not None else gap
        names = tuple(one for one in METHODS if one in columns)
        table = found.table.drop(columns=name).assign(**{one: columns[one] for one in names})
        yield replace(found, table=table, methods=names, gap=gap), odds


def _attribute_by(question: Question, method: str, steps: int) -> tuple[Attributions, float]:
    def run(bundle):
        from triattn_core.analysis.attribution import methods
        from triattn_core.analysis.intervention.batched_variants import log_odds, run_query

        one = run_query(bundle, question.example, question.option)
        return methods.attribute(one, [method], steps), float(log_odds(one.scores[None], one.answer))

    steps = steps if METHODS[method].follows_path else 1
    says = method.capitalize() + (f" in {steps} steps" if METHODS[method].follows_path else "")
    return question.answer(says, run, method, steps)


def attributions(question: Question, steps: int) -> tuple[Attributions, float]:
    """The same with all methods."""
    return list(stream_attributions(question, steps))[-1]


def perturbation_curves(question: Question, steps: int, draws: int = DRAWS, seed: int = 0) -> tuple[pd.DataFrame, ...]:
    """The perturbation curves of the methods and of random rankings, their areas, and the control's band."""
    found, _ = attributions(question, steps)

    def run(bundle):
        from triattn_core.analysis.attribution import faithfulness
        from triattn_core.analysis.intervention.batched_variants import run_query

        asked = run_query(bundle, question.example, question.option)
        curves = faithfulness.example_curves(asked, draws=draws, seed=seed, found=found)
        return curves, faithfulness.aopc(curves), faithfulness.control_band(curves)

    return question.answer("Taking tokens out", run, steps, draws, seed)


def fold_pieces(pieces: Attributions, fold: str) -> Attributions:
    """Words, or word pieces."""
    return pieces.words() if fold == "words" else pieces


def rows(found: Attributions, names: Mapping[str, str]) -> pd.DataFrame:
    """A row for each token: where it stands, the share of each method, and what that is a share of.  names: what plays
    query and key."""
    where = found.table.drop(columns=list(found.methods))
    where.insert(1, "as", where["role"].map(lambda role: view.plays(role, names)))
    return pd.concat([where, found.shares().add_suffix(", share"), found.table[list(found.methods)]], axis=1)


def first_role(found: Attributions) -> str:
    """The role whose tokens are ranked first."""
    return "context" if (found.table["role"] == "context").any() else "query"


def select_role(found: Attributions, role: str) -> Attributions:
    """The tokens of one role, or all."""
    return found if role == "all" else replace(found, table=found.table[found.table["role"] == role])


def describe_agreement(ranked: Attributions, role: str) -> str:
    """How far the methods agree on these tokens."""
    return view.agreement(ranked.correlations(), ranked.compared_cells(), ranked.critical_correlation(), role == "all")
