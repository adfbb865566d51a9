"""Chooses the pair that pages open on: `python -m triattn_core.analysis.default_example [LANGUAGE…]`.

A page should open on something that happens.  A pair is fit if Tri answers it rightly and not by a hair, if right and
wrong answers are both among the mechanisms of its data set, and if three changes move the log-odds of an answer: one
word taken out of Tri's input by EFFECT at least, one attention weight of Tri's set to zero and COIN's context taken out
by SMALLER.  Of those it is the one with the largest product of how far the word moves the probability of Tri's answer
and of how evenly the models are split.  Of a pair that is ruled out by what is measured first, in this order, nothing
more is measured.  Other seeds of these checkpoints are not shipped, so that agreement over seeds cannot be asked for.
Of the chosen pair it also measures how many steps integrated gradients take until they can be trusted: see
`choose_steps`.

With `--write` it moves the pair before the task's other examples and writes the numbers of all of them beside the
records.  Stored traces must be computed again afterwards.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from triattn_core.analysis.attribution.methods import attribute
from triattn_core.analysis.catalogue import STEPS
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.intervention.cell_removal import costs_of_strongest
from triattn_core.analysis.intervention.leave_one_out import score_units
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.inference.explain import explain
from triattn_core.inference.predictions import Prediction
from triattn_core.sources.models import Models
from triattn_core.tasks import pairs

CHECKPOINTS = {
    language: tuple(f"{data}-{name}" for name in ("tri-living", "bi-living", "bi-joint-living", "cbi-living", "coin"))
    for language, data in (("en", "quora"), ("zh", "lcqmc"))
}  # Tri first, COIN last
SURE = 0.5  # log-odds of Tri's answer, from which on it is no toss of a coin
EFFECT, SMALLER = 0.5, 0.25  # changes of the log-odds, see above
TRUSTED = 10.0  # per cent that integrated gradients may miss of what they are to add up to
MODELS = Models("cpu")
RECORDS = Path(__file__).parents[1] / "results" / "records"


def score(bundles: Sequence[Bundle], example: Any) -> dict[str, Any]:
    """Which models are right and how sure the first is; of a pair that may be fit also the largest change of its
    log-odds by one word taken out and the change of the last without its context, and where these are large the
    largest cost of one of its strongest cells."""
    predictions = [explain(bundle, example, lambda site: False)[0] for bundle in bundles]
    right = {bundle.name: prediction.best == example.label for bundle, prediction in zip(bundles, predictions)}
    answers = {
        "id": example.id,
        "right": {name: bool(is_right) for name, is_right in right.items()},
        "log_odds": round(_log_odds(predictions[0], predictions[0].best), 2),
    }
    if not may_be_fit(answers):
        return answers
    coin = next(entry for entry in list_checkpoints() if entry.name == bundles[-1].name)
    ablated = list(MODELS.without(coin, example).values())[-1].prediction  # the last is its context
    units = score_units(bundles[0], example, unit="tokens")
    largest = units.loc[units["change"].abs().idxmax()]
    changes = answers | {
        "unit": str(largest["unit"]),
        "change": round(float(largest["change"]), 2),
        "flips": bool(units["flips"].any()),
        "without_context": round(
            _log_odds(ablated, predictions[-1].best) - _log_odds(predictions[-1], predictions[-1].best), 2
        ),
    }
    if not moves(changes):
        return changes
    costs = costs_of_strongest(bundles[0], example, explain(bundles[0], example)[1])
    cost, place, cell = max(((cost, at, cell) for at, cells in costs.items() for cell, cost in cells), key=_size)
    return changes | {"cost": round(cost, 2), "cell": f"{place} {'.'.join(map(str, cell))}"}


def _log_odds(prediction: Prediction, label: int) -> float:
    chance = prediction.probabilities[label]
    return float(np.log(chance / (1 - chance)))


def _size(cost: tuple[float, str, Sequence[int]]) -> float:
    return abs(cost[0])


def may_be_fit(row: Mapping[str, Any]) -> bool:
    """Whether the first model is right and not by a hair, and another one is wrong."""
    answers = list(row["right"].values())
    return answers[0] and not all(answers) and row["log_odds"] >= SURE


def moves(row: Mapping[str, Any]) -> bool:
    """Whether a word taken out moves Tri's answer, and the context taken out COIN's."""
    return abs(row["change"]) >= EFFECT and abs(row["without_context"]) >= SMALLER


def is_fit(row: Mapping[str, Any]) -> bool:
    """Whether something happens in a pair."""
    return may_be_fit(row) and moves(row) and abs(row["cost"]) >= SMALLER


def appeal(row: Mapping[str, Any]) -> float:
    """How far one word moves the probability of the answer, times how many models are on the smaller side of right and
    wrong."""
    right, before = sum(row["right"].values()), np.array([row["log_odds"], row["log_odds"] + row["change"]])
    first, second = 1 / (1 + np.exp(-before))
    return float(abs(first - second)) * min(right, len(row["right"]) - right)


def choose(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The fit pair with the largest `appeal`; None where none is fit."""
    return max(filter(is_fit, rows), key=appeal, default=None)


def missing_shares(bundle: Bundle, example: Any) -> dict[str, float]:
    """By number of steps how many per cent integrated gradients miss of what they are to add up to."""
    query, shares = run_query(bundle, example), {}
    for steps in STEPS:
        found = attribute(query, ["integrated gradients"], steps)
        total, gap = float(found.table["integrated gradients"].sum()), cast(float, found.gap)
        shares[str(steps)] = round(100 * abs(gap / (total - gap)), 1)
    return shares


def choose_steps(missing: Sequence[Mapping[str, float]]) -> int:
    """The smallest number of steps from which on none misses more than TRUSTED, the largest where there is none: a
    number that is within by luck, before a larger one that is not, does not count.  missing: for each example."""
    within = [
        steps for steps in STEPS if max(shares[str(n)] for shares in missing for n in STEPS if n >= steps) <= TRUSTED
    ]
    return min(within, default=STEPS[-1])


def main() -> int:
    """Prints the score of each pair and why one was chosen, for each language whose checkpoints are here."""
    entries = {entry.name: entry for entry in list_checkpoints()}
    chosen = [word for word in sys.argv[1:] if word in CHECKPOINTS] or list(CHECKPOINTS)
    for language, names in ((language, CHECKPOINTS[language]) for language in chosen):
        here = [name for name in names if name in entries]
        bundles = [load(entries[name].path, "cpu") for name in here]
        rows = [score(bundles, example) for example in pairs.examples(language)]
        best = choose(rows)
        for row in rows:
            flips = "flips" if row.get("flips") else ""
            measured = [row.get(name, "") for name in ("change", "unit", "cost", "without_context")]
            print(row["id"], row["log_odds"], *measured, flips, *map(int, row["right"].values()))
        if best is None:
            print(f"{language}: no pair is fit; the examples stay as they are.", file=sys.stderr)
            continue
        wrong = [name for name, right in best["right"].items() if not right]
        why = (
            f"{best['id']}: {here[0]} is right (log-odds {best['log_odds']}), {', '.join(wrong)} wrong; without "
            f"{best['unit']} they change by {best['change']}, without the weight {best['cell']} by {-best['cost']}; "
            f"those of {here[-1]} without its context by {best['without_context']}. "
            f"{sum(map(is_fit, rows))} of {len(rows)} pairs are fit."
        )
        print(why)
        if "--write" in sys.argv:
            example = next(example for example in pairs.examples(language) if example.id == best["id"])
            record(pairs.NAME, language, best["id"], why, rows, missing=missing_shares(bundles[0], example))
    return 0


def record(task: str, language: str, name: str, why: str, rows: Sequence[Mapping[str, Any]], **more: Any) -> None:
    """Moves an example before the others of its task, and writes the scores of all beside the records.  more: of the
    chosen one."""
    file = Path(pairs.__file__).with_name(f"{task}.{language}.jsonl")
    lines = file.read_text("utf-8").splitlines()
    lines.sort(key=lambda line: json.loads(line)["id"] != name)
    file.write_text("\n".join(lines) + "\n", "utf-8")
    told = json.dumps({"why": why, **more, "rows": rows}, ensure_ascii=False, indent=1)
    (RECORDS / f"default_example.{task}.{language}.json").write_text(told + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
