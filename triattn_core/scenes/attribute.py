"""Which tokens drive a prediction: attribution methods on one scale, how far they agree, and their faithfulness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import Field

from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.cached import cached_property
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError, choices
from triattn_core.scenes import scene
from triattn_core.scenes.attribute_runs import Faithfulness, measure_faithfulness, source_of, stream_attributions
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Models, Question
from triattn_core.views.charts import attribution as view
from triattn_core.views.charts import perturbation

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions

DRAWS = 20  # random rankings of one example


class Settings(ViewSettings):
    """steps: of the path of integrated gradients.  fold: tokens as they are shown.  ranks: whose tokens are ranked;
    None is the context where there is one.  method: the one that stands out in the test, None the first; draws: random
    rankings beside it, from `seed`; 0 leaves the test out.  option: of a task that chooses among texts, from 1."""

    steps: int = Field(128, ge=1)  # see `analysis.default_example.choose_steps`
    fold: Literal["words", "word pieces"] = "words"
    ranks: Literal["all", "query", "key", "context"] | None = None
    method: str | None = None
    draws: int = Field(DRAWS, ge=0)
    seed: int = 0
    option: int | None = Field(None, ge=1)


@dataclass(frozen=True)
class TokenShares:
    """What is drawn of the attributions of one example, at the settings of a scene.

    names: what plays query and key.  attributions: of tokens as they are shown; odds: the log-odds of the answer.
    methods: all that are computed, some perhaps later.
    faithfulness: None where it is not asked for, or not measured yet.
    """

    settings: Settings
    explanation: Explanation
    names: Mapping[str, str]
    attributions: Attributions
    odds: float
    methods: tuple[str, ...]
    faithfulness: Faithfulness | None = None

    @property
    def complete(self) -> bool:
        """Whether all methods are there."""
        return len(self.attributions.methods) == len(self.methods)

    @property
    def role(self) -> str:
        """Whose tokens are ranked."""
        assert self.settings.ranks  # `stream` fills it
        return self.settings.ranks

    @property
    def method(self) -> str:
        """The method that stands out in the test."""
        assert self.settings.method  # `stream` fills it
        return self.settings.method

    @property
    def table(self) -> pd.DataFrame:
        """A row for each token: where it stands, and what each method gives it."""
        return self.attributions.table

    @cached_property
    def shares(self) -> pd.DataFrame:
        return self.attributions.shares()

    @property
    def sentence(self) -> str:
        return view.describe_strongest(self.table, self.shares, self.names)

    @property
    def completeness(self) -> list[tuple[str, str]]:
        """Names and numbers of what integrated gradients add up to."""
        return view.completeness(self.table["integrated gradients"], self.attributions.gap or 0.0, self.odds)

    @property
    def completeness_warning(self) -> str:
        """A sentence where integrated gradients miss much of what they are to add up to; otherwise empty."""
        return view.completeness_warning(self.table["integrated gradients"], self.attributions.gap or 0.0)

    def ranked(self, role: str) -> Attributions:
        """The tokens of one role, or all."""
        return select_role(self.attributions, role)

    def describe_faithfulness(self, method: str) -> str:
        assert self.faithfulness  # is asked where it was measured
        curves, areas, band = self.faithfulness
        return perturbation.describe(method, areas, band, self.settings.draws)

    def rows(self) -> pd.DataFrame:
        """A row for each token: where it stands, the share of each method, and what that is a share of."""
        methods = list(self.attributions.methods)
        where = self.table.drop(columns=methods)
        where.insert(1, "as", where["role"].map(lambda role: view.plays(role, self.names)))
        return pd.concat([where, self.shares.add_suffix(", share"), self.table[methods]], axis=1)

    def charts(self) -> dict[str, Chart]:
        """The figures of the page, as they are exported."""
        role, method, texts = self.role, self.method, scene.input_line(self.explanation)
        caption = f"{self.explanation.entry.name}, {self.settings.steps} steps"
        added = "; ".join(f"{name} {number}" for name, number in self.completeness)
        sentence = f"{self.sentence} Integrated gradients: {added}."
        ranked = self.ranked(role)
        ranks = ranked.correlations()
        title = f"Do they agree? Tokens of {view.plays(role, self.names)}"
        strips = view.strips(self.table, self.shares, self.names)
        short = {name: JOINT_METHODS[name].short for name in self.shares}
        maps = view.map_marks(self.table, self.shares, self.names, short)
        agreement = view.ranks(ranks, [JOINT_METHODS[name].short for name in ranks])
        charts = {
            "attribute": Chart.of(strips, "Which tokens", sentence, f"{caption}{_meanings(short)}{texts}", maps),
            "agreement": Chart.of(agreement, title, describe_agreement(ranked, role), caption + texts),
        }
        if self.faithfulness is not None:
            sentence, shading = (
                self.describe_faithfulness(method),
                {"width": 520, "height": perturbation.PLOT, "title": ""},
            )
            for measure, title in perturbation.TITLES.items():
                chart = perturbation.figure(self.faithfulness.curves, measure, method).properties(**shading)
                charts[measure] = Chart.of(chart, title, sentence, f"{caption}, seed {self.settings.seed}{texts}")
        return charts

    def tables(self) -> pd.DataFrame:
        """The numbers of all figures."""
        ranks = self.ranked(self.role).correlations()
        pairs = [(a, b, ranks.loc[a, b]) for a, b in combinations(ranks, 2)]
        tables = {"attribute": self.rows(), "agreement": pd.DataFrame(pairs, columns=["method", "other", "Spearman"])}
        if self.faithfulness is not None:
            tables["faithful"] = self.faithfulness.curves
        return scene.stack_tables(**tables)


@dataclass(frozen=True)
class AttributeScene(Scene):
    """tokens: what its figures and sentences are made of."""

    tokens: TokenShares = field(kw_only=True, repr=False)


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> AttributeScene:
    """The whole scene.  Raises ConfigError for another method, or a model that is not asked so."""
    return list(stream(models, entries, example, settings))[-1]


def stream(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> Iterator[AttributeScene]:
    """The scene in parts: first with what attention gives, then with each of the other methods, at last with their
    faithfulness, where random rankings are asked for.  Raises as `build` does."""
    question = Question.put(models, entries[0], example, settings.option and settings.option - 1)
    methods = tuple(source_of(question).methods)
    method = settings.method or methods[0]
    if method not in methods:
        raise ConfigError(f"attribute: no method {method!r}; {choices(method, methods)}")
    option = None if question.option is None else question.option + 1
    tokens: TokenShares | None = None
    for pieces, odds in stream_attributions(question, settings.steps):
        folded = pieces.words() if settings.fold == "words" else pieces
        resolved = {"ranks": settings.ranks or first_role(folded), "method": method, "option": option}
        names = text_names(question, folded)
        chosen = settings.model_copy(update=resolved)
        tokens = TokenShares(chosen, question.explanation, names, folded, odds, methods)
        yield _scene(tokens)
    if settings.draws and tokens is not None:
        measured = measure_faithfulness(question, pieces, settings.steps, settings.draws, settings.seed)
        yield _scene(replace(tokens, faithfulness=measured))


def _scene(tokens: TokenShares) -> AttributeScene:
    explanation = tokens.explanation
    return AttributeScene(
        tokens.settings, tokens.charts, tokens.tables, explanation.trace, (explanation,), tokens=tokens
    )


def _meanings(short: Mapping[str, str]) -> str:
    """What the short names of methods stand for."""
    return "".join(f", {name} is {method}" for method, name in short.items() if name != method)


def text_names(question: Question, attributions: Attributions) -> Mapping[str, str]:
    """What plays the roles that have tokens: one text that is read alone is called so."""
    roles = set(attributions.table["role"])
    if roles == {"query"}:
        return {"query": "text"}
    return {role: name for role, name in question.names.items() if role in roles}


def first_role(attributions: Attributions) -> str:
    """The role that opens: the context where there is one."""
    return "context" if (attributions.table["role"] == "context").any() else "query"


def select_role(attributions: Attributions, role: str) -> Attributions:
    """The tokens of one role, or all."""
    return (
        attributions
        if role == "all"
        else replace(attributions, table=attributions.table[attributions.table["role"] == role])
    )


def describe_agreement(ranked: Attributions, role: str) -> str:
    """How far the methods agree on these tokens."""
    return view.agreement(ranked.correlations(), ranked.compared_cells(), ranked.critical_correlation(), role == "all")
