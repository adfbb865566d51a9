"""Where a score of three things together pays, and where it does not: scores by task and seed, from the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry, laboratory_checkpoints, list_checkpoints
from triattn_core.results.laboratory import laboratory_records, seed_tests
from triattn_core.results.operand_runs import form, runs
from triattn_core.results.run_records import read_records, record_files
from triattn_core.results.third_order import RELATIVES
from triattn_core.tasks.laboratory import LABORATORY

STRASSEN, TWO_WAY = {"model.similarity": "strassen"}, ("bi_joint", "cbi")
NEEDED = {  # a score of three tokens, for one head to single out the true cell
    "false-friends": "yes, by counting",
    "planted-sum": "yes, by counting",
    "planted-xor": "yes, by counting",
    "match2": "no: pairs are enough",
    "match3": "not known: heads of pairs may share it",
    "two-facts": "no: pairs are enough",
    "function-composition": "no: pairs are enough",
    "relation-composition": "no: pairs are enough",
}
NATURAL = {  # by data set
    "quora": "Do two questions ask the same? (Quora)",
    "lcqmc": "Do two questions ask the same? (LCQMC)",
    "ubuntu": "Which response is the true one? (Ubuntu IRC, R10@1)",
}
STORIES = "How are two people of a story related? (CLUTRR, {})"
STORY_FORMS = {  # by mechanism, similarity and layers
    ("tri", "scaled_dot", 1): "Tri",
    ("tri", "strassen", 1): "pairwise scores",
    ("bi_joint", "scaled_dot", 1): "two-way, one layer",
    ("bi_joint", "scaled_dot", 2): "two-way, two layers",
    ("triangle", "scaled_dot", 2): "triangle attention over people, two layers, half of the passes",
}
ROLES = ("Tri", "pairwise scores", "best two-way attention")
IN_PLACE = "triangle attention over people in Tri's place"
AFTER = "pairwise scores after a two-way layer"
Scores = Mapping[str, Sequence[float]]  # by role, of each seed


def laboratory_rows() -> Iterator[tuple[str, str, Scores]]:
    """(task, whether three are needed, scores) of each laboratory task."""
    records = laboratory_records()
    for name, needed in NEEDED.items():
        entries = [entry for entry in laboratory_checkpoints() if entry.config["task"] == name]
        scores = [(entry, _accuracies(seed_tests(entry, records).values())) for entry in entries]
        pairwise = [values for entry, values in scores if _similarity(entry) == "strassen"] or [
            _accuracies([seed["test"] for seed in record.entry.metrics["each_seed"]])
            for record in records
            if record.changed == STRASSEN and record.entry.config["task"] == name
        ]
        tri = [values for entry, values in scores if _similarity(entry) not in (None, *RELATIVES)]
        two_way = [values for entry, values in scores if entry.config["model"]["mechanism"] in TWO_WAY]
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
    if not {"Tri", "pairwise scores", AFTER} <= set(by_form):
        return
    two_way = _best(
        [by_form.get(name, []) for name in ("two-way, one layer", "two-way, two layers", "C-Bi, one layer")]
    )
    task = "Which two numbers make this one? (GSM8K)"
    yield task, needed, {ROLES[0]: by_form["Tri"], ROLES[1]: by_form["pairwise scores"], ROLES[2]: two_way}
    yield f"{task}, against {AFTER}", needed, {ROLES[0]: by_form["Tri"], ROLES[1]: by_form[AFTER]}
    for name in [name for name in by_form if name.startswith(AFTER) and name.endswith("times the steps")]:
        yield f"{task}, against {name}", needed, {ROLES[0]: by_form["Tri"], ROLES[1]: by_form[name]}
        steps = name.removeprefix(f"{AFTER}, ")
        if tri := by_form.get(f"Tri, {steps}"):
            yield f"{task}, against {AFTER}, both {steps}", needed, {ROLES[0]: tri, ROLES[1]: by_form[name]}


def story_rows() -> Iterator[tuple[str, str, Scores]]:
    """The same of CLUTRR's stories: those held out of its pool, and its official test, by the number of facts."""
    by_form = {story_form(entry): entry.metrics["each_seed"] for entry in stories()}
    parts = {
        "stories held out": ("dev", "accuracy"),
        "official test, 2 and 3 facts": ("test", "accuracy_as_trained"),
        "official test, 4 to 10 facts": ("test", "accuracy_longer"),
    }
    for name, (split, metric) in parts.items():
        scores = {key: [seed[split][metric] for seed in seeds] for key, seeds in by_form.items()}
        two_way = _best([scores[key] for key in scores if key[0] == "bi_joint"])
        tri, pairwise = (scores.get(("tri", similarity, 1), []) for similarity in ("scaled_dot", "strassen"))
        needed = "no: a chain is pairs that match"
        yield STORIES.format(name), needed, dict(zip(ROLES, (tri, pairwise, two_way)))
        if triangle := scores.get(("triangle", "scaled_dot", 2)):
            yield f"{STORIES.format(name)}, {IN_PLACE}", needed, {ROLES[0]: triangle, ROLES[2]: two_way}


def stories() -> list[Entry]:
    """The models of CLUTRR's stories."""
    return [record.entry for file in record_files("clutrr.jsonl") for record in read_records(file)[0]]


def story_form(entry: Entry) -> tuple[str, str, int]:
    """Its key in STORY_FORMS."""
    model = entry.config["model"]
    return model["mechanism"], model["similarity"], model["layers"]


def natural_rows() -> Iterator[tuple[str, str, Scores]]:
    """The same of natural text, where answers go through the attention; the best two-way attention is so on dev."""
    from triattn_core.results.worth import seed_scores  # loads torch

    entries = {entry.name: entry for entry in list_checkpoints()}
    for name, task in NATURAL.items():
        names = [f"{name}-{mechanism}-living" for mechanism in ("tri", "bi", "bi-joint", "cbi")]
        if not set(names) <= set(entries):
            continue
        two_way = [entries[each] for each in names[1:]]
        best = max(two_way, key=lambda entry: mean(seed_scores(entry, "dev")))
        metric = metadata.main_metric(best)
        pairwise = [
            [seed["test"][metric] for seed in record.entry.metrics["each_seed"]]
            for file in record_files(f"{name}-strassen.jsonl")
            for record in read_records(file)[0]
        ]
        tri, others = seed_scores(entries[names[0]], "test"), seed_scores(best, "test")
        yield task, "not known", {ROLES[0]: tri, ROLES[1]: _best(pairwise), ROLES[2]: others}


def _similarity(entry: Entry) -> str | None:
    """Of Tri-Attention; None of two-way attention."""
    model = entry.config["model"]
    return model["similarity"] if model["mechanism"] == "tri" else None


def _accuracies(tests) -> list[float]:
    return [test["accuracy"] for test in tests]


def _best(forms: Sequence[Sequence[float]]) -> Sequence[float]:
    return max(forms, key=mean) if (forms := [form for form in forms if form]) else []


def rows() -> Iterator[tuple[str, str, Scores]]:
    """(task, whether three are needed, scores) of all tasks of which there are records."""
    for task, needed, scores in (*laboratory_rows(), *operands_rows(), *story_rows(), *natural_rows()):
        if scores.get(ROLES[0]) and any(scores.get(role) for role in ROLES[1:]):
            yield task, needed, scores


def leader(task: str) -> str:
    """Whose scores stand in the column of Tri: Tri's, but in the rows of another third order, which has more parameters
    and is told which links share a person."""
    return "triangle attention" if task.endswith(IN_PLACE) else "Tri"


def is_single(scores: Scores) -> bool:
    """Whether Tri, or all others together, have one seed, which shows no lead."""
    return min(len(scores[ROLES[0]]), sum(len(scores.get(role, ())) for role in ROLES[1:])) < 2


def lead(scores: Scores) -> float | None:
    """By how many points the mean of Tri is above the largest of the others', where every seed of Tri is above every
    seed of the others; else None."""
    tri, others = scores[ROLES[0]], [scores[role] for role in ROLES[1:] if scores.get(role)]
    ahead = min(tri) > max(max(values) for values in others)
    return mean(tri) - max(map(mean, others)) if ahead else None
