"""Readers side by side: which of them are chosen, and what each answers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mode

from streamlit.delta_generator import DeltaGenerator

from pages.shared import languages, model_jobs, models, url_state
from pages.shared.models import MODELS
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference import stored_traces
from triattn_core.inference.device import choose_device
from triattn_core.scenes import similarity
from triattn_core.sources.explanation import Explanation
from triattn_core.tasks import InputForm, first_task, questions
from triattn_core.trace.axes import FUNCTION_LABELS
from triattn_core.views import similarity as view

TASK = first_task(InputForm.PASSAGE).NAME
OUTPUTS = (  # h: a passage word's state, u~: the sum of the question's states by its weights (attention/qa.py)
    "The answer layer reads a passage word's state h, its weighted sum u~ of the question and their product: "
    "[h; u~; h * u~]. Readers with “no product” have [h; u~] alone; "
    "BiDAF, DCN and QANet have answer layers of their own."
)
KEY = "functions"  # of the widget, and in the URL
OPENS = ("dot", "trilinear", "general3", "t_trilinear")
BEST = "the answer"  # the part of a long passage in which the last function's answer stands


def readers() -> list[Entry]:
    """The readers, in the order of the paper's tables: the baseline's, O_2, by which it chose, before O_1; then system
    by system, its own function before others."""
    order = {name: i for i, name in enumerate(FUNCTION_LABELS)}
    systems = {name: i for i, name in enumerate(["baseline", *view.OWN_FUNCTIONS])}
    entries = [entry for entry in models.entries(TASK) if entry.kind.finds_spans]
    return sorted(
        entries,
        key=lambda entry: (
            systems.get(metadata.model_setting(entry, "mechanism"), 99),
            metadata.model_setting(entry, "output") != "O_2",
            not has_own_function(entry),
            order.get(metadata.model_setting(entry, "similarity"), 99),
            entry.name,
        ),
    )


def has_own_function(entry: Entry) -> bool:
    """Whether a system reads with the function that it was published with."""
    own = view.OWN_FUNCTIONS.get(metadata.model_setting(entry, "mechanism"))
    return own is not None and metadata.model_setting(entry, "similarity") == own


def titles_by_checkpoint(entries: Sequence[Entry]) -> dict[str, str]:
    """Titles by checkpoint: the function, with whatever else tells the readers apart."""
    return view.titles({entry.name: dict(entry.config["model"]) for entry in entries})


def current_readers(entries: Sequence[Entry]) -> list[Entry]:
    """The chosen readers, before their picker exists."""
    linked, opens = languages.requested_checkpoints(KEY), opening(entries, OPENS)
    names = [name for name in linked if name in {entry.name for entry in entries}] or opens
    return [entry for entry in entries if entry.name in names][: view.MOST]


def best_answers(entries: Sequence[Entry], examples: Sequence[questions.Example]) -> list[list[str]]:
    """The best answer of each reader to each example: [readers][examples].  Raises TriattnError."""
    device, digests = choose_device(), tuple(entry.digest for entry in entries)

    def run() -> list[list[str]]:
        spans = _spans([MODELS.load(entry) for entry in entries], examples)
        return [
            [row.passage[slice(*best[0][:2])] for row, best in zip(examples, reader_spans)] for reader_spans in spans
        ]

    return model_jobs.result(device, ("answers", device, digests, tuple(examples)), "Answering the examples", run)


def opening(entries: Sequence[Entry], opens: Sequence[str] = OPENS) -> list[str]:
    """The default readers: those of `opens`, else the first, among readers with the most common window size."""
    windows = [entry.config["max_tokens"] for entry in entries]
    entries = [entry for entry, size in zip(entries, windows) if size == mode(windows)]
    by_similarity = {metadata.model_setting(entry, "similarity"): entry.name for entry in reversed(entries)}
    names = [by_similarity[name] for name in opens if name in by_similarity]
    return names if len(names) > 1 else [entry.name for entry in entries[: view.MOST]]


def explain_readers(
    entries: Sequence[Entry], example: questions.Example, place: DeltaGenerator, limit: int = view.MOST
) -> list[Explanation]:
    """The results of each QA reader on one part of the passage; for a long passage a picker at `place` chooses it.

    Raises TriattnError on invalid input, and for readers with different windows.
    """
    example.check()
    similarity.require_readers(entries, limit)
    if _are_stored(entries, example):
        return [MODELS.explain(entry, example) for entry in entries]
    device, digests = choose_device(), tuple(entry.digest for entry in entries)
    bundles = model_jobs.result(
        device, ("readers", digests), "Loading the readers", lambda: [MODELS.load(entry) for entry in entries]
    )
    parts, part, known_spans = _parts(bundles[0], example), None, [None] * len(entries)
    if parts > 1:
        title, key = f"Reading the passage in {parts} parts", ("spans", device, digests, example)
        run = lambda: [reader_spans[0] for reader_spans in _spans(bundles, [example])]  # noqa: E731
        known_spans = model_jobs.result(device, key, title, run, why="this passage")
        with place:
            part_choice = url_state.pick("Part of the passage", [BEST, *range(1, parts + 1)], "part", width=150)
        part = known_spans[-1][0].window if part_choice == BEST else part_choice - 1
    return [MODELS.explain(entry, example, part, spans) for entry, spans in zip(entries, known_spans)]


def _are_stored(entries: Sequence[Entry], example: questions.Example) -> bool:
    """Whether the traces of all readers are stored, of passages in one part: then no model is needed."""
    return all(stored_traces.path(entry, example).is_file() for entry in entries)


def _parts(bundle, example: questions.Example) -> int:
    return len(bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0])


def _spans(bundles: Sequence, examples: Sequence[questions.Example]) -> list:
    """The best spans of each reader, [readers][examples]; those that read the same vectors read them together."""
    from triattn_core.inference.predict import predict

    spans: dict[int, list] = {}
    for first in bundles:
        alike = [i for i, bundle in enumerate(bundles) if bundle.encoder == first.encoder and i not in spans]
        if alike:
            spans |= dict(zip(alike, predict([bundles[i] for i in alike], examples, size=16)))
    return [spans[i] for i in range(len(bundles))]
