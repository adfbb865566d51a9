"""The tables of *Which two numbers make this one?* in docs/results.md, from the records.

`python -m docs.tables.operands` prints them; a test holds them against the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triattn_core.results.operand_runs import form, runs
from triattn_core.views.lib.number_format import half_up

MEASURES = {
    "right_pair": "Right pair by seed, %",
    "fits": "makes the number, %",
    "right_one_fits": "right, one pair fits, %",
    "right_words_decide": "right, words decide, %",
    "weight": "weight on the right pairs, %",
}


def table(told: str) -> Iterator[str]:
    """A row a model that was trained with this loss, in the order of FORMS; means over seeds but for the first."""
    yield f"| Model | Parameters | {' | '.join(MEASURES.values())} |"
    yield "|---|---:|---|" + "---:|" * (len(MEASURES) - 1)
    for entry in (run for run in runs() if run.config["training"]["told"] == told):
        tests = [seed["test"] for seed in entry.metrics["each_seed"]]
        yield f"| {form(entry.config)} | {entry.metrics['parameters']:,} | {' | '.join(_cells(tests))} |"


def _cells(tests: Sequence[Mapping]) -> Iterator[str]:
    first, *others = MEASURES
    yield ", ".join(half_up(test[first], 1) for test in tests)
    for name in others:
        yield half_up(sum(test[name] for test in tests) / len(tests), 1)


if __name__ == "__main__":
    for told in ("pair", "arithmetic"):
        print("\n".join(table(told)), end="\n\n")
