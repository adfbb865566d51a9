"""The library by names: what `import triattn_core` offers, of a checkpoint, a folder, a file or what is loaded already.

Everywhere in it, what people choose counts from 1, as on the pages: heads, layers and options in the settings of
`draw`.  What is an index counts from 0, as in NumPy and xarray: positions of cells and tokens, `option=` of `explain`,
layers in the names of sites, and whatever is asked of an array.  An axis is named with what it folds to
(`query="words"`), in `draw` as in `TokenGrouping` and after `--group-by`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.errors import ConfigError, DataError, InputError, choices
from triattn_core.sources import open_source
from triattn_core.sources.source import Ability
from triattn_core.tasks import TASKS, as_example, text_task
from triattn_core.trace.axes import CUBE

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions
    from triattn_core.analysis.intervention.interventions import InterventionResult
    from triattn_core.inference.predictions import Prediction
    from triattn_core.trace import AttentionTrace

INTERVENTIONS = ("remove", "mask", "replace", "reorder", "swap")


def example(task: str, row: Mapping[str, Any] | None = None, /, **fields: Any) -> Any:
    """Returns an example of a task from the fields of its row, as a file of the task has them (data formats: docs).

    >>> example("pairs", text_a="Is it red?", text_b="Is it blue?").text_b
    'Is it blue?'

    Raises ConfigError: no such task; DataError in one line, which names the field.
    """
    return as_example(task, {**(row or {}), **fields})


def load(what: Any, device: str | None = None) -> Any:
    """Loads a model, by the name or folder of a checkpoint of ours or the folder of a Hugging Face model; or the trace
    that a file holds.  What is loaded already is returned.

    device: by default CUDA, then MPS, then CPU.

    >>> load("quora-tri-living", "cpu").config.model.heads
    6

    Raises CheckpointError or ConfigError in one line that names the file and what to do.
    """
    return what if _is_model(what) else open_source(what, device).load()


def explain(
    what: Any, example: Any = None, *, option: int | None = None, device: str | None = None
) -> tuple[Prediction, AttentionTrace]:
    """Returns the prediction of a model for an example, and the trace of its attention.

    what: as in `load`.  example: of the task of the checkpoint, its fields as a dict, or its text or texts; of a
    Hugging Face model a text, or two, or {"text"} or {"text_a", "text_b"}; of a file None.  option: the option to
    trace, from 0, in tasks that choose among texts; by default the predicted one.

    >>> prediction, trace = explain("quora-tri-living", {"text_a": "Is it red?", "text_b": "Is it blue?"}, device="cpu")
    >>> prediction.labels
    ('not a paraphrase', 'paraphrase')
    >>> dict(trace["layer.0/a_over_b/weight"].sizes)
    {'head': 6, 'query': 4, 'key': 4, 'context': 8}

    Raises InputError in one line where the example cannot be read, and what `load` raises.
    """
    if _is_model(what):
        if hasattr(what, "logits"):
            from triattn_core.inference.explain import explain as run

            return run(what, _of_task(what.task.NAME, example), option=option)
        from triattn_core.sources.hugging_face import explain_transformer

        return explain_transformer(what, example)
    source = open_source(what, device)
    return source.explain(_of_source(source, example), option)


def evaluate(what: Any, rows: Any, device: str | None = None) -> Any:
    """Returns `{"task", "n", "metrics"}` over the labelled rows: of one checkpoint a dict, of several a list of dicts.

    what: a checkpoint as in `load`, or several that share an encoder; or Hugging Face models, which are asked for
    labels or for next words.  rows: a file of rows of their task; or examples, or dicts.  Metrics are in per cent.

    >>> rows = [{"text_a": "Is it red?", "text_b": "Is it red?", "label": 1}]
    >>> evaluate("quora-tri-living", rows, "cpu")["n"]
    1

    Raises DataError, which names the line, InputError where `rows` are none, and what `load` raises.
    """
    from triattn_core.inference.evaluate import evaluate as run

    several = isinstance(what, Sequence) and not isinstance(what, str | bytes)
    bundles = [load(part, device) for part in (what if several else [what])]
    if not bundles:
        raise ConfigError("no checkpoint given: expected its name, its folder, or several")
    if any(hasattr(bundle, "sites") for bundle in bundles):
        raise ConfigError("evaluate takes models, which it runs on rows: a trace cannot be run")
    rows = Path(rows) if isinstance(rows, PathLike) else rows
    if isinstance(rows, Mapping) or not isinstance(rows, Iterable | Path):
        raise InputError(f"rows: expected a file, or a list of examples or dicts, got {type(rows).__name__}")
    if not all(hasattr(bundle, "task") for bundle in bundles):
        scores = [_score_of(bundle, rows) for bundle in bundles]
        return scores if several else scores[0]
    task = bundles[0].task
    examples = task.read(Path(rows)) if isinstance(rows, str | Path) else (_of_task(task.NAME, row) for row in rows)
    results = run(bundles, examples)
    return results if several else results[0]


def _score_of(model: Any, rows: Any) -> dict[str, Any]:
    """`evaluate` of a model of others.  Raises ConfigError for a checkpoint of ours among them."""
    from triattn_core.analysis.mining.sources import file_source
    from triattn_core.importers.text_rows import read_texts, text_row
    from triattn_core.sources.transformer_worth import measure_score

    if hasattr(model, "task"):
        raise ConfigError("checkpoints of ours and models of others are evaluated apart")
    if isinstance(rows, str | Path):
        report = measure_score(model, read_texts(file_source(Path(rows))))
    else:
        report = measure_score(model, ((number, text_row(row, f"row {number}")) for number, row in enumerate(rows)))
    if report.get("aside"):
        raise DataError(report["aside"][0])
    return {"task": "texts", "n": report["n"], "metrics": {report["metric"]: report["score"]}}


def attribute(
    what: Any,
    example: Any,
    methods: Sequence[str] = (),
    *,
    option: int | None = None,
    steps: int = 32,
    device: str | None = None,
) -> Attributions:
    """Returns which tokens the answer rests on, in log-odds, by several methods: `table` has a row for each token of
    query, key and context, and a column for each method.

    what, example, option: as in `explain`; a checkpoint of Bi, C-Bi, Bi-joint or Tri, or a Hugging Face model that
    predicts labels, the next word or a masked one, whose texts A and B stand in the rows of query and key.  methods: by
    default all of `analysis.catalogue.METHODS`, of a Hugging Face model those of `JOINT_METHODS` there.  steps: of
    integrated gradients (Sundararajan et al., 2017).

    >>> pair = {"text_a": "Is it red?", "text_b": "Is it blue?"}
    >>> attribute("quora-tri-living", pair, ["occlusion"], device="cpu").methods
    ('occlusion',)

    Raises ConfigError for another model, InputError for an unknown method.
    """
    from triattn_core.analysis.attribution.methods import attribute as run
    from triattn_core.analysis.intervention.batched_variants import run_query

    bundle, methods = load(what, device), [methods] if isinstance(methods, str) else methods
    if not _is_model(bundle):
        raise ConfigError("attribute takes a model, which it runs: a trace alone cannot give gradients")
    if not hasattr(bundle, "logits"):
        from triattn_core.sources.hugging_face import attribute_transformer

        return attribute_transformer(bundle, example, methods, steps)[0]
    return run(run_query(bundle, _of_task(bundle.task.NAME, example), option), methods, steps)


def intervene(
    what: Any, example: Any, how: str, *arguments: Any, device: str | None = None, **options: Any
) -> InterventionResult:
    """Returns what becomes of prediction and trace where the context is edited: `before`, `after`, and the `change` of
    the log-odds of the answer.

    what, example: as in `attribute`.  how: one of `remove`, `mask`, `replace`, `reorder`, `swap`.  arguments, options:
    of the function of that name in `analysis.intervention.interventions`, such as the units by name and `unit`.

    >>> pair = {"text_a": "Is it red?", "text_b": "Is it blue?"}
    >>> result = intervene("quora-tri-living", pair, "mask", ["token 2"], unit="tokens", device="cpu")
    >>> result.flipped
    False

    Raises ConfigError for another `how` or its arguments, InputError for a unit that is not there.
    """
    from triattn_core.analysis.intervention import interventions

    if how not in INTERVENTIONS:
        raise ConfigError(f"no intervention {how!r}; {choices(how, INTERVENTIONS)}")
    bundle = load(what, device)
    if not hasattr(bundle, "task"):
        raise ConfigError("intervene takes a checkpoint of ours: only these have a text that is context and no more")
    if how == "swap":
        arguments = (_of_task(bundle.task.NAME, arguments[0]), *arguments[1:])
    elif arguments and isinstance(arguments[0], str):
        arguments = ([arguments[0]], *arguments[1:])
    run = getattr(interventions, how)
    try:
        signature(run).bind(bundle, example, *arguments, **options)
    except TypeError as error:
        raise ConfigError(f"intervene by {how}: {error}") from None
    return run(bundle, _of_task(bundle.task.NAME, example), *arguments, **options)


def checkpoints(task: str | None = None) -> list[str]:
    """Returns the names of the checkpoints that are here, of one task where asked.

    >>> "quora-tri-living" in checkpoints("pairs")
    True

    Raises ConfigError: no such task.
    """
    from triattn_core.checkpoint.registry import list_checkpoints

    if task is not None and task not in TASKS:
        raise ConfigError(f"no task {task!r}; {choices(task, TASKS)}")
    entries = (entry for entry in list_checkpoints() if entry.problem is None)
    return [entry.name for entry in entries if task is None or entry.config.get("task") == task]


def _is_model(what: Any) -> bool:
    """Whether it is loaded: a bundle of ours, or a Hugging Face model with its tokenizer."""
    return hasattr(what, "model") and hasattr(what, "tokenizer")


def _of_task(task: str, example: Any) -> Any:
    return as_example(task, example) if task in TASKS else example


def _of_source(source: Any, example: Any) -> Any:
    """An example as a source takes it: of its task, unless it reads rows itself or holds what it shows."""
    entry = getattr(source, "entry", None)
    if entry is None or source.reads_rows or Ability.RUN not in source.abilities:
        return example
    task = str(entry.config.get("task"))
    return _of_task(text_task(task, example) if "source" in entry.config else task, example)


def html_of(trace: AttentionTrace) -> str:
    """Returns the figure of a trace for a notebook: its first cube, or all its heads where it has none."""
    from triattn_core.case_card import draw

    view = "cube" if any(set(CUBE) <= set(site.dims) for site in trace.sites.values()) else "heads"
    return draw(view, trace)._repr_html_()
