"""Who runs models: what runs, what is kept, and who waits for it, in one class for notebook, command line and pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import InputError
from triattn_core.inference import stored_traces
from triattn_core.inference.result_cache import ResultCache
from triattn_core.sources import open_source
from triattn_core.sources.explanation import Explanation, read_tokens
from triattn_core.sources.source import Ability, lacks
from triattn_core.sources.weight_change import Replaced, WeightChange
from triattn_core.tasks import CHOICES
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle
    from triattn_core.trace.token_grouping import TokenGrouping

LOADED = 24  # models kept: all that is shipped; each is some 8 MB beside its encoder
RESULT_BYTES = 400_000_000  # kept; the trace of two sentences of 20 tokens takes 7 MB, of 64 tokens 200 MB
_NOTHING = object()


# wait(device, key, title, run, keep) returns what is kept under the key, else runs the job, and `keep`, or else the
# cache, stores its result.  title: what is being done.
Wait = Callable[..., Any]


class Models:
    """Loads and runs checkpoints and models of other sources; each is loaded once, and results are kept.

    device: by default the best that is here.  wait: who runs a job, by default this thread.  cache: of the results, by
    default one of its own.  stored: whether the traces that are stored with the package are taken where they fit.
    Results are shared: never write to them.
    """

    def __init__(
        self,
        device: str | None = None,
        wait: Wait | None = None,
        cache: Callable[[], ResultCache] | None = None,
        stored: bool = False,
    ):
        own = ResultCache(RESULT_BYTES)
        self.device, self.wait, self.cache, self.stored = device, wait or self._at_once, cache or (lambda: own), stored
        self._loaded: OrderedDict[tuple, Any] = OrderedDict()
        self._lock, self._locks = Lock(), dict[tuple, Lock]()

    def load(self, entry: Entry) -> Any:
        """Returns the model of a checkpoint, from memory or disk.  Raises TriattnError in one line: damaged, unknown
        device, no memory."""
        from triattn_core.inference.device import choose_device, memory_guard
        from triattn_core.inference.memory import freeze_modules

        device = choose_device(self.device)
        key = (entry.name, entry.digest, str(entry.path), device)
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            model = self._loaded.get(key)
            if model is None:
                try:
                    with memory_guard(f"{entry.name} on {device}"):
                        model = open_source(entry, device).load()
                finally:
                    freeze_modules()
            with self._lock:
                self._loaded[key] = model
                self._loaded.move_to_end(key)
                while len(self._loaded) > LOADED:
                    self._loaded.popitem(last=False)
        return model

    def _at_once(self, device: str, key: Hashable, title: str, run: Callable[[], Any], keep: Any = None) -> Any:
        kept = self.cache().get(key, _NOTHING)
        if kept is not _NOTHING:
            return kept
        result = run()
        (keep or (lambda value: self.cache().put(key, value)))(result)
        return result

    def explain(
        self, entry: Entry, example: Any, option: int | None = None, known_scores: Sequence | None = None
    ) -> Explanation:
        """Returns prediction and trace of an example: kept, stored with the package, or computed.

        option: the option to trace, for tasks that choose among texts; by default the predicted one.  known_scores: of
        the options, or the windows, if the caller has them.  Raises TriattnError.
        """
        from triattn_core.inference.device import choose_device

        example.check()
        device = choose_device(self.device)
        key, cache = (entry.name, entry.digest, device, example), self.cache()

        def keep(explanation: Explanation) -> None:
            for part in {option, explanation.prediction.option}:
                cache.put((*key, part), explanation)

        def run() -> Explanation:
            model = self.load(entry)
            scores = known_scores or self._known_scores(key, model, example)
            ours = {"known_scores": scores} if scores else {}
            prediction, trace = open_source(entry, device).explain(example, option, model=model, **ours)
            return Explanation(entry, prediction, trace, (*key, prediction.option))

        if self.stored and cache.get((*key, option)) is None and (read := stored_traces.find(entry, example, option)):
            keep(Explanation(entry, *read, (*key, read[0].option)))
        return self.wait(device, (*key, option), f"Loading and running {entry.name}", run, keep)

    def _known_scores(self, key: tuple, model: Any, example: Any) -> Sequence | None:
        """The kept scores of the options, or of the windows of a passage, from the trace of another one."""
        options = (None, *range(len(model.task.labels(example)))) if hasattr(model, "task") else ()  # ours
        kept = (self.cache().get((*key, option)) for option in options)
        prediction = next((explanation.prediction for explanation in kept if explanation), None)
        return prediction and getattr(prediction, "spans", prediction.probabilities)

    def answer(self, entry: Entry, title: str, then: Callable[[Any], Any], *arguments: Any) -> Any:
        """Returns what `then` makes of the model, kept by function and `arguments`.  title: of the job.  Raises
        TriattnError."""
        from triattn_core.inference.device import choose_device

        device, function = choose_device(self.device), (then.__module__, then.__qualname__)
        key = ("answer", repr((*function, entry.name, entry.digest, device, *arguments)))
        return self.wait(device, key, title, lambda: then(self.load(entry)), None)

    def replace(
        self, entry: Entry, example: Any, changes: Sequence[WeightChange], option: int | None = None
    ) -> Replaced:
        """Returns what a source says of an example with other attention weights, kept; see `CanReplace.replace`.
        Raises InputError where it cannot."""
        source = open_source(entry, self.device)
        if reason := lacks(source, (), [Ability.REPLACE]):
            raise InputError(reason)

        def run(model: Any) -> Replaced:
            return source.replace(example, changes, option, model)

        return self.answer(entry, f"{entry.name} with other weights", run, tuple(changes), example, option)

    def read(self, explanation: Explanation, reading: TokenGrouping, site: Site = Site()) -> Explanation:
        """Returns the same with its tokens grouped and hidden, kept; see `read_tokens`."""
        if not reading.sinks and not reading.folds:
            return explanation
        key = (*explanation.source, reading, site.attention if reading.sinks else "")
        grouped = self.cache().get(key)
        if grouped is None:
            grouped = read_tokens(explanation, reading, site)
            self.cache().put(key, grouped)
        return grouped

    def without(self, entry: Entry, example: Any) -> dict[str, Explanation]:
        """Returns COIN by what is ablated: "" (nothing), `layer.0`, …, `context`.  Raises ConfigError for another."""
        unablated = self.explain(entry, example)

        def run(bundle: Bundle) -> dict[str, Explanation]:
            return explain_ablations(bundle, unablated, example)

        return self.answer(entry, f"{entry.name} with each part ablated", run, unablated.source)


@dataclass(frozen=True)
class Question:
    """An example with the prediction and trace of a checkpoint on it; `option`: the inspected option, from 0, in tasks
    that choose among texts."""

    models: Models
    explanation: Explanation
    example: Any
    option: int | None

    @classmethod
    def put(cls, models: Models, entry: Entry, example: Any, option: int | None = None) -> Question:
        """Runs the checkpoint on the example.  Raises TriattnError where that fails."""
        explanation = models.explain(entry, example, option)
        return cls(
            models, explanation, example, explanation.prediction.option if "option" in explanation.trace.meta else None
        )

    @property
    def entry(self) -> Entry:
        return self.explanation.entry

    @property
    def names(self) -> dict[str, str]:
        """What plays query and key: "A", "candidate"."""
        task = self.entry.config["task"]
        return dict(zip(("query", "key"), CHOICES[task].WORDS.sides if task in CHOICES else "AB"))

    def answer(self, says: str, then: Callable[[Any], Any], *arguments: Any) -> Any:
        """See `Models.answer`; the example and the option are arguments too."""
        return self.models.answer(self.entry, says, then, *arguments, self.example, self.option)


def explain_ablations(bundle: Bundle, unablated: Explanation, example: Any) -> dict[str, Explanation]:
    """Returns COIN as it is and with each of its parts ablated, by what is ablated."""
    from triattn_core.analysis.intervention.coin_ablation import ablatable_parts, explain_ablated

    by_ablation = {"": unablated}
    for part in ablatable_parts(bundle):
        prediction, trace = explain_ablated(bundle, example, (part,))
        by_ablation[part] = replace(unablated, prediction=prediction, trace=trace, source=(*unablated.source, part))
    return by_ablation
