"""One example through one checkpoint: what it says, and what its attention was."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

from triattn_core.attention.similarity.exponential import at_once
from triattn_core.attention.tap import Record, recording
from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle, probabilities
from triattn_core.models import answers
from triattn_core.spans import Span, located
from triattn_core.spans import answers as read
from triattn_core.tasks import check, chosen
from triattn_core.text.roles import Role, Roles
from triattn_core.text.texts import Texts
from triattn_core.trace import AttentionTrace


@dataclass(frozen=True)
class Prediction:
    """Labels with their probabilities; `best` and `gold` are indices; `notes` are sentences for the reader.

    `option`: of a task that chooses among texts, the one that the trace was recorded with.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    best: int
    gold: int | None = None
    notes: tuple[str, ...] = ()
    option: int = 0


@dataclass(frozen=True)
class Answer(Prediction):
    """Spans of a passage, the best first: `labels` are their texts; `option` is the window that was traced, of
    `parts`."""

    spans: tuple[Span, ...] = ()
    parts: int = 1


@at_once()
def explain(
    bundle: Bundle,
    example,
    wanted: Callable[[str], bool] = lambda site: True,
    option: int | None = None,
    known: Sequence | None = None,
) -> tuple[Prediction, AttentionTrace]:
    """The prediction for an example of the bundle's task, and a trace of the sites that are wanted.

    option: of a task that chooses among texts, which of them is traced; by default the one that is chosen.  Of a long
    passage, which window; by default the one with the answer.
    known: the probabilities of the options, or an answer's spans, where an earlier call has found them: only the one
    traced is run then.
    Raises InputError in one line where the input cannot be read.
    """
    check(bundle.task, example, bundle.name)
    options = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0]
    chosen(bundle.task, option, len(options))
    started, reads = time.perf_counter(), bundle.config.kind == "reader"
    if len(options) > 1:
        found = list(known) if known else (read if reads else probabilities)([bundle], [example])[0][0]
        if option is None:
            option = found[0].window if reads else _best(found)
    roles = options[option or 0]
    with recording(wanted) as record:
        outputs = bundle.logits(collate([roles], bundle.tokenizer))
    if len(options) == 1 and reads:
        found = located(options, [outputs[0]], bundle.config.model.longest)
    elif len(options) == 1:
        (found,) = answers.probabilities(outputs, [1])
    seconds = time.perf_counter() - started
    notes = (*roles.notes, *_unread(record, getattr(bundle.task, "TEXTS", {})))
    told = {"notes": notes, "option": option or 0}
    if reads:
        labels = tuple(example.passage[one.start : one.end] for one in found)
        chances = tuple(one.probability for one in found)
        prediction = Answer(labels, chances, best=0, spans=tuple(found), parts=len(options), **told)
    else:
        prediction = Prediction(bundle.labels(example), tuple(found), _best(found), example.label, **told)
    meta = {
        "checkpoint": bundle.name,
        "digest": bundle.digest,
        **bundle.config.model.about,
        "device": bundle.device,
        "seconds": seconds,
    }
    texts = bundle.task.texts(example, prediction.option)
    if len(options) > 1:
        meta["option"] = prediction.option
    return prediction, AttentionTrace(sites(record, roles, texts), texts, meta)


def _unread(record: Record, names: Mapping[str, str]) -> list[str]:
    """A sentence for each text of one token that its masks keep from itself.  `names`: what a text is called."""
    found = []
    for site, tapped in record.sites.items():
        of, _, rest = f"/{site}".rpartition("/layer.0/")
        if rest == "token2token/weight" and tapped.tensor.shape[-1] == 1 and not tapped.tensor.any():
            name = names.get(of.strip("/"), "The sentence")
            found.append(f"{name} is one token, which no mask lets attend to itself: any other would say the same.")
    return found


def _best(probabilities: list[float]) -> int:
    return max(range(len(probabilities)), key=probabilities.__getitem__)


def sites(record: Record, roles: Roles | Texts, texts: Mapping[str, str]) -> dict[str, xr.DataArray]:
    """The recorded tensors of the first row as labelled arrays; `texts` by the names that tokens carry."""
    found = {}
    for site, tapped in record.sites.items():
        coords: dict = {}
        for axis, role in roles.axes(site).items():
            if axis in tapped.axes:
                coords.update(coordinates(axis, role, texts))
        attrs = {"quantity": tapped.quantity, "sums_over": ",".join(tapped.sums_over)}
        found[site] = xr.DataArray(tapped.tensor[0].float().cpu().numpy(), coords, tapped.axes, attrs=attrs)
    return found


def coordinates(axis: str, role: Role, texts: Mapping[str, str]) -> dict:
    """The coords of one axis; see `axes.COORDINATES`.  `texts`: the example's, by the names that tokens carry."""
    runs = role.runs
    first, last = [start for start, _ in runs], [end - 1 for _, end in runs]
    starts, ends = [role.spans[i][0] for i in first], [role.spans[i][1] for i in last]
    tokens = [
        role.strings[i] if i == j else texts[role.texts[i]][start:end]
        for i, j, start, end in zip(first, last, starts, ends)
    ]
    return {
        f"{axis}_token": (axis, tokens),
        f"{axis}_text": (axis, [role.texts[i] for i in first]),
        f"{axis}_start": (axis, starts),
        f"{axis}_end": (axis, ends),
        f"{axis}_special": (axis, [int(role.special[i]) for i in first]),
        f"{axis}_segment": (axis, [role.segments[i] for i in first]),
        f"{axis}_tokens": (axis, [end - start for start, end in runs]),
    }
