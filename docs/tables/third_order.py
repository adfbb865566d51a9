"""Where a score of three things together pays, and where it does not, in docs/results.md, from the records:
`python -m docs.tables.third_order`.

A test holds it against the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from docs.tables import laboratory
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry, list_checkpoints
from triattn_core.results.laboratory import laboratory_records, seed_tests
from triattn_core.results.operand_runs import form, runs
from triattn_core.results.run_records import read_records, record_files
from triattn_core.results.third_order import RELATIVES
from triattn_core.results.worth import seed_scores
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up

NEEDED = {  # a relation of three, by task
    "false-friends": "yes, by construction",
    "planted-sum": "yes, by construction",
    "planted-xor": "yes, by construction",
    "match2": "no: pairs are enough",
    "match3": "yes, by construction",
    "two-facts": "no: pairs are enough",
    "function-composition": "no: pairs are enough",
    "relation-composition": "no: pairs are enough",
}
NATURAL = {  # by data set
    "quora": "Do two questions ask the same? (Quora)",
    "lcqmc": "Do two questions ask the same? (LCQMC)",
    "ubuntu": "Which response is the true one? (Ubuntu IRC, R10@1)",
}
ROLES = ("Tri", "pairwise scores", "best two-way attention")
Scores = Mapping[str, Sequence[float]]  # by role, of each seed


def laboratory_rows() -> Iterator[tuple[str, str, Scores]]:
    """(task, whether three are needed, scores) of each laboratory task."""
    records = laboratory_records()
    for name, needed in NEEDED.items():
        entries = [entry for entry in laboratory.models() if entry.config["task"] == name]
        scores = [(entry, _accuracies(seed_tests(entry, records).values())) for entry in entries]
        pairwise = [values for entry, values in scores if _similarity(entry) == "pairwise"] or [
            _accuracies([seed["test"] for seed in record.entry.metrics["each_seed"]])
            for record in records
            if record.changed == laboratory.PAIRWISE and record.entry.config["task"] == name
        ]
        tri = [values for entry, values in scores if _similarity(entry) not in (None, *RELATIVES)]
        two_way = [values for entry, values in scores if _similarity(entry) is None]
        yield (
            LABORATORY[name].LABEL,
            needed,
            {ROLES[0]: _best(tri), ROLES[1]: _best(pairwise), ROLES[2]: _best(two_way)},
        )


def operands_rows() -> Iterator[tuple[str, str, Scores]]:
    """The same of the pairs of numbers: at equal steps, and where the others have more."""
    needed = "not known; over plain numbers no"
    by_form = {
        form(run.config): [seed["test"]["right_pair"] for seed in run.metrics["each_seed"]]
        for run in runs()
        if run.config["training"]["told"] == "pair"
    }
    two_way = _best(
        [by_form.get(name, []) for name in ("two-way, one layer", "two-way, two layers", "C-Bi, one layer")]
    )
    task = "Which two numbers make this one? (GSM8K)"
    yield task, needed, {ROLES[0]: by_form["Tri"], ROLES[1]: by_form["pairwise scores"], ROLES[2]: two_way}
    after = "pairwise scores after a two-way layer"
    yield f"{task}, against {after}", needed, {ROLES[0]: by_form["Tri"], ROLES[1]: by_form[after]}
    for name in [name for name in by_form if name.startswith(after) and name.endswith("times the steps")]:
        yield f"{task}, against {name}", needed, {ROLES[0]: by_form["Tri"], ROLES[1]: by_form[name]}
        steps = name.removeprefix(f"{after}, ")
        if tri := by_form.get(f"Tri, {steps}"):
            yield f"{task}, against {after}, both {steps}", needed, {ROLES[0]: tri, ROLES[1]: by_form[name]}


def natural_rows() -> Iterator[tuple[str, str, Scores]]:
    """The same of natural text, where answers go through the attention; the best two-way attention is so on dev."""
    entries = {entry.name: entry for entry in list_checkpoints()}
    for name, task in NATURAL.items():
        two_way = [entries[f"{name}-{form}-living"] for form in ("bi", "bi-joint", "cbi")]
        best = max(two_way, key=lambda entry: mean(seed_scores(entry, "dev")))
        metric = metadata.main_metric(best)
        pairwise = [
            [seed["test"][metric] for seed in record.entry.metrics["each_seed"]]
            for file in record_files(f"{name}-pairwise.jsonl")
            for record in read_records(file)[0]
        ]
        tri, others = seed_scores(entries[f"{name}-tri-living"], "test"), seed_scores(best, "test")
        yield task, "not known", {ROLES[0]: tri, ROLES[1]: _best(pairwise), ROLES[2]: others}


def _similarity(entry: Entry) -> str | None:
    """Of Tri-Attention; None of two-way attention."""
    model = entry.config["model"]
    return model["similarity"] if model["mechanism"] == "tri" else None


def _accuracies(tests) -> list[float]:
    return [test["accuracy"] for test in tests]


def _best(forms: Sequence[Sequence[float]]) -> Sequence[float]:
    return max(forms, key=mean) if (forms := [form for form in forms if form]) else []


def verdict(scores: Scores) -> str:
    """Ahead: every seed of Tri is above every seed of the others."""
    tri, others = scores[ROLES[0]], [value for role in ROLES[1:] for value in scores.get(role, ())]
    if min(tri) > max(others):
        best = max(mean(scores[role]) for role in ROLES[1:] if scores.get(role))
        lead = f"Tri ahead by {half_up(mean(tri) - best, 1)}"
        return lead if min(len(tri), len(others)) > 1 else f"{lead} with one seed: not shown"
    return "no lead"


def table() -> Iterator[str]:
    """A row a task."""
    yield f"| Task | Is a relation of three needed? | {' | '.join(f'{role}, %' for role in ROLES)} | Seeds | Verdict |"
    yield "|---|---|---:|---:|---:|---|---|"
    for task, needed, scores in (*laboratory_rows(), *operands_rows(), *natural_rows()):
        means = [half_up(mean(scores[role]), 1) if scores.get(role) else "" for role in ROLES]
        seeds = ", ".join(str(len(scores[role])) for role in ROLES if scores.get(role))
        yield f"| {task} | {needed} | {' | '.join(means)} | {seeds} | {verdict(scores)} |"


if __name__ == "__main__":
    print("\n".join(table()))
