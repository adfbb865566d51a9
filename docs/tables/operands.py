"""The tables of *Which two numbers make this one?* in docs/results.md, from the records.

`python -m docs.tables.operands` prints them; a test holds them against the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.operand_runs import READ, form, runs
from triattn_core.results.run_records import read_records, record_files
from triattn_core.studies.which_two_numbers import STUDY, measure_lead, problem
from triattn_core.tasks.operands.example import Example
from triattn_core.tasks.operands.typed_problem import show
from triattn_core.views.lib.number_format import half_up

MEASURES = {
    "right_pair": "Right pair by seed, %",
    "fits": "makes the number, %",
    "right_one_fits": "right, all that fit are right, %",
    "right_words_decide": "right, words decide, %",
    "weight": "weight on the right pairs, %",
}


def table(told: str) -> Iterator[str]:
    """A row a model that was trained with this loss, in the order of FORMS; means over seeds but for the first."""
    yield f"| Model | Parameters | {' | '.join(MEASURES.values())} |"
    yield "|---|---:|---|" + "---:|" * (len(MEASURES) - 1)
    for entry in _runs_told(told):
        tests = [seed["test"] for seed in _seeds(entry)]
        yield f"| {form(entry.config)} | {entry.metrics['parameters']:,} | {' | '.join(_cells(tests))} |"


BY_OPERATION = {
    "right_sum": "sum",
    "right_difference": "difference",
    "right_product": "product",
    "right_quotient": "quotient",
}


def by_operation() -> Iterator[str]:
    """Right pairs by the operation of the step, of the models that read both and were told the pair."""
    yield f"| Right pair, % | {' | '.join(BY_OPERATION.values())} |"
    yield "|---|" + "---:|" * len(BY_OPERATION)
    for entry in _runs_told("pair"):
        if entry.config["model"]["inputs"] == "both":
            tests = [seed["test"] for seed in _seeds(entry)]
            yield f"| {form(entry.config)} | {' | '.join(half_up(_mean(tests, name), 1) for name in BY_OPERATION)} |"


def answers() -> Iterator[str]:
    """What was learnt from the operation alone: a row a model and a way of reading it."""
    yield (
        "| The operation is read from | Told the pair at first | Model | Right pair by seed, % | makes the number, % | "
        "weight on the right pairs, % | right operation, % |"
    )
    yield "|---|---|---|---|---:|---:|---:|"
    order = list(READ)
    runs_told = sorted(_runs_told("operation"), key=lambda entry: (order.index(_read(entry)), _pointed(entry)))
    for entry in runs_told:
        tests = [seed["test"] for seed in _seeds(entry)]
        pointed = f"{100 * _pointed(entry):.0f} % of the steps" if _pointed(entry) else "no"
        means = (half_up(_mean(tests, name), 1) for name in ("fits", "weight", "operation"))
        seeds = ", ".join(half_up(test["right_pair"], 1) for test in tests)
        yield f"| {READ[_read(entry)]} | {pointed} | {form(entry.config)} | {seeds} | {' | '.join(means)} |"


def curves() -> Iterator[str]:
    """Right pairs on dev after each fifth of the steps, mean over seeds, of what `answers` has."""
    yield "| Right pair on dev, %, after | 20 % | 40 % | 60 % | 80 % | all steps |"
    yield "|---|" + "---:|" * 5
    order = list(READ)
    for entry in sorted(_runs_told("operation"), key=lambda entry: (order.index(_read(entry)), _pointed(entry))):
        rows = zip(*(seed["curve"] for seed in _seeds(entry)))
        points = [half_up(100 * mean(row["dev_accuracy"] for row in at), 1) for at in rows][1::2]
        first = f", told the pair for {100 * _pointed(entry):.0f} %" if _pointed(entry) else ""
        yield f"| {READ[_read(entry)]}{first}: {form(entry.config)} | {' | '.join(points)} |"


def rates() -> Iterator[str]:
    """Right pairs on dev, seed 0, by learning rate; the rate that a form's runs on test have."""
    others = [record.entry for file in record_files("operands-rates.jsonl") for record in read_records(file)[0]]
    tried = {form(entry.config) for entry in others}
    own = [entry for entry in _runs_told("pair") if form(entry.config) in tried]
    scores = {(form(entry.config), _rate(entry)): _seeds(entry)[0]["dev"]["right_pair"] for entry in (*own, *others)}
    columns = sorted({rate for _, rate in scores})
    yield f"| Right pair on dev, %, seed 0 | {' | '.join(map(str, columns))} | Rate taken |"
    yield "|---|" + "---:|" * (len(columns) + 1)
    for entry in own:
        found = [scores.get((form(entry.config), rate)) for rate in columns]
        cells = ["" if score is None else half_up(score, 1) for score in found]
        yield f"| {form(entry.config)} | {' | '.join(cells)} | {_rate(entry)} |"


def by_question() -> Iterator[str]:
    """Tri's lead in weight on the pairs that make the number, in the study's problems, a sum or a product asked for."""
    yield "| Numbers of the problem | Sum asked for | Lead, points | Product of the first two | Lead, points |"
    yield "|---|---:|---:|---:|---:|"
    for example, total, made, product in question_leads():
        numbers = ", ".join(show(number.value) for number in example.numbers)
        yield f"| {numbers} | {show(example.result)} | {half_up(total, 1)} | {show(made)} | {half_up(product, 1)} |"


def question_leads() -> Iterator[tuple[Example, float, float, float]]:
    """Of each problem of the study: itself, the lead at its sum, its first two numbers' product, the lead there."""
    bundles = [load(name) for name in STUDY.checkpoints]
    for example in STUDY.examples:
        made = example.numbers[0].value * example.numbers[1].value
        yield example, measure_lead(bundles, example), made, measure_lead(bundles, problem(example.text, made))


def _seeds(entry: Entry) -> list[Mapping]:
    return sorted(entry.metrics["each_seed"], key=lambda seed: seed["seed"])


def _runs_told(what: str) -> list[Entry]:
    return [entry for entry in runs() if entry.config["training"]["told"] == what]


def _rate(entry: Entry) -> float:
    return entry.config["training"]["rate"]


def _read(entry: Entry) -> str:
    return entry.config["model"]["operation"]


def _pointed(entry: Entry) -> float:
    return entry.config["training"].get("pointed", 0.0)


def _mean(tests: Sequence[Mapping], name: str) -> float:
    return mean(test[name] for test in tests)


def _cells(tests: Sequence[Mapping]) -> Iterator[str]:
    first, *others = MEASURES
    yield ", ".join(half_up(test[first], 1) for test in tests)
    for name in others:
        yield half_up(_mean(tests, name), 1)


if __name__ == "__main__":
    for told in ("pair", "arithmetic"):
        print("\n".join(table(told)), end="\n\n")
    for further in (by_operation, by_question, answers, curves, rates):
        print("\n".join(further()), end="\n\n")
