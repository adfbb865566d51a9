"""Where a score of three things together pays, and where it does not, in docs/results.md, from the records:
`python -m docs.tables.third_order`.

A test holds it against the page.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from statistics import mean

from docs.tables.repeat import STORIES, arguments_of
from triattn_core.checkpoint.registry import laboratory_checkpoints, list_checkpoints
from triattn_core.results.laboratory import laboratory_records
from triattn_core.results.where_it_pays import (
    AFTER,
    NATURAL,
    NEEDED,
    ROLES,
    STORY_FORMS,
    STRASSEN,
    Scores,
    is_single,
    lead,
    leader,
    rows,
    stories,
    story_form,
)
from triattn_core.tasks.laboratory import LABORATORY
from triattn_core.views.lib.number_format import half_up

LONGER = "10 times the steps"
PAIRS = (  # of numbers: the rows of the map
    "Tri", "pairwise scores", "two-way, two layers", AFTER, f"Tri, {LONGER}", f"{AFTER}, {LONGER}",
)  # fmt: skip


def verdict(task: str, scores: Scores) -> str:
    """Whether Tri, or what stands in its place, is ahead, see `where_it_pays.lead`."""
    if (points := lead(scores)) is None:
        return "no lead"
    return f"{leader(task)} ahead by {half_up(points, 1)}" + (" with one seed: not shown" if is_single(scores) else "")


def table() -> Iterator[str]:
    """A row a task."""
    roles = " | ".join(f"{role}, %" for role in ROLES)
    yield f"| Task | Must a score read three to single out the true cell? | {roles} | Seeds | Verdict |"
    yield "|---|---|---:|---:|---:|---|---|"
    for task, needed, scores in rows():
        means = [half_up(mean(scores[role]), 1) if scores.get(role) else "" for role in ROLES]
        seeds = ", ".join(str(len(scores[role])) for role in ROLES if scores.get(role))
        yield f"| {task} | {needed} | {' | '.join(means)} | {seeds} | {verdict(task, scores)} |"


def commands() -> Iterator[str]:
    """A row a task: the commands that repeat its numbers, whether there is a lead or not."""
    yield "| Task | Repeated by |"
    yield "|---|---|"
    for name in NEEDED:
        models = [entry.name for entry in laboratory_checkpoints() if entry.config["task"] == name]
        further = [
            f"; `triattn {shlex.join(arguments_of(record.entry))}`"
            for record in laboratory_records()
            if record.changed == STRASSEN and record.entry.config["task"] == name
        ]
        evaluated = f"`triattn evaluate {' '.join(models)} laboratory:{name}`"
        yield f"| {LABORATORY[name].LABEL} | {evaluated}{''.join(further)} |"
    for label, prefix, names in (("GSM8K", "", PAIRS), ("CLUTRR", STORIES, STORY_FORMS.values())):
        rows = "; ".join(f'`python -m docs.tables.repeat "{prefix}{name}" --data DATA`' for name in names)
        yield f"| {label} | {rows} |"
    for name, task in NATURAL.items():
        models = [f"{name}-{mechanism}-living" for mechanism in ("tri", "bi", "bi-joint", "cbi")]
        rows = next(entry.config["data"]["test"] for entry in list_checkpoints() if entry.name == models[0])
        repeated = f'`python -m docs.tables.repeat "{name}, pairwise scores" --data DATA`'
        yield f"| {task} | `triattn evaluate {' '.join(models)} DATA/{rows}.jsonl.gz`; {repeated} |"


def stories_table() -> Iterator[str]:
    """A row a model of CLUTRR's stories."""
    yield (
        "| Model | Parameters | Stories held out by seed, % | official test, % | of 2 and 3 facts, % | of 4 to 10, % |"
    )
    yield "|---|---:|---|---:|---:|---:|"
    for entry in sorted(stories(), key=lambda entry: list(STORY_FORMS).index(story_form(entry))):
        seeds = sorted(entry.metrics["each_seed"], key=lambda seed: seed["seed"])
        held_out = ", ".join(half_up(seed["dev"]["accuracy"], 1) for seed in seeds)
        names = ("accuracy", "accuracy_as_trained", "accuracy_longer")
        means = " | ".join(half_up(mean(seed["test"][name] for seed in seeds), 1) for name in names)
        yield f"| {STORY_FORMS[story_form(entry)]} | {entry.metrics['parameters']:,} | {held_out} | {means} |"


if __name__ == "__main__":
    for made in (table, commands, stories_table):
        print("\n".join(made()), end="\n\n")
