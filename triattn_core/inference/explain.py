"""The prediction and attention trace of one example under one checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import xarray as xr

from triattn_core.attention.tap import Record, TappedTensor, recording
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.predict import predict
from triattn_core.inference.predictions import Prediction
from triattn_core.tasks import InputForm, check, require_option
from triattn_core.text.roles import Role, Roles
from triattn_core.text.texts import Texts
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import NOT_SHARED
from triattn_core.trace.site import Site


@without_compilation()
def explain(
    bundle: Bundle,
    example,
    keep_site: Callable[[Site], bool] = lambda site: True,
    option: int | None = None,
    known_scores: Sequence | None = None,
) -> tuple[Prediction, AttentionTrace]:
    """Predict one example of the bundle's task and record its trace.

    keep_site: whether to record a site.
    option: the option to trace in tasks that choose among texts (default: the predicted one), or the window to trace of
    a long passage (default: the one with the answer).
    known_scores: probabilities of the options, or answer spans, from an earlier call; only the traced option is then
    run. Raises InputError, in one line, if the input cannot be read.
    """
    check(bundle.task, example, bundle.name)
    options = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0]
    require_option(bundle.task, option, len(options))
    start, kind = time.perf_counter(), bundle.kind
    answer: Any = None
    if len(options) > 1:
        answer = list(known_scores) if known_scores else predict([bundle], [example])[0][0]
        option = kind.best_row(answer) if option is None else option
    roles = options[option or 0]
    with recording(keep_site) as record:
        outputs = bundle.logits(bundle.batch([roles]))
    if len(options) == 1:
        answer = kind.decode(bundle, options, list(outputs))
    roles, more_sites, more_texts = kind.trace_answer(bundle, roles, answer, keep_site)
    record.sites |= more_sites
    seconds = time.perf_counter() - start
    notes = (*roles.notes, *_fully_masked_notes(record, bundle.task))
    prediction = kind.prediction(bundle, example, answer, len(options), notes=notes, option=option or 0)
    meta = {
        "checkpoint": bundle.name,
        "digest": bundle.digest,
        **bundle.config.model.about,
        "device": bundle.device,
        "seconds": seconds,
    }
    texts = {**bundle.task.texts(example, prediction.option), **more_texts}
    if len(options) > 1:
        meta["option"] = prediction.option
    if marked := kind.marked_word(example):
        meta["marked"], meta["marked_at"] = marked
    return prediction, AttentionTrace(sites(record, roles, texts, bundle.attends_special), texts, meta)


def _fully_masked_notes(record: Record, task: Any) -> list[str]:
    """A note for each one-token text that its masks leave nothing to attend to."""
    names, sentences = getattr(task, "TEXTS", {}), list[str]()
    # A sentence model reads the attention's output alone; a tagger and a translation model add it to the token.
    alone = getattr(task, "FORM", None) is InputForm.SENTENCES
    then = "any other would say the same" if alone else "the model reads the token alone"
    for site, tapped in record.sites.items():
        first = site == Site(site.module, 0, "token2token", quantity="weight")
        if first and tapped.tensor.shape[-1] == 1 and not tapped.tensor.any():
            name = names.get(site.module, "The sentence")
            sentences.append(f"{name} is one token, which no mask lets attend to itself: {then}.")
    return sentences


def sites(
    record: Record, roles: Roles | Texts, texts: Mapping[str, str], attend_special: bool = True
) -> dict[Site, xr.DataArray]:
    """The recorded tensors of the first row as labelled arrays; `texts` by name, as tokens refer to them.

    attend_special: whether special tokens are context; see `TanConfig`.
    """
    arrays: dict[Site, xr.DataArray] = {}
    made: dict[tuple, tuple] = {}  # of an axis and its roles, which many sites share, by their identities
    for site, tapped in record.sites.items():
        coords, axis_roles = {}, roles.axes(site)
        for axis in axis_roles:
            if axis in tapped.axes:
                parts = [axis_roles[name] for name in tapped.roles.get(axis, (axis,))]
                key = (axis, *map(id, parts))
                if key not in made:
                    made[key] = parts, _joint_coordinates(axis, parts, texts)
                coords.update(made[key][1])
            if axis in tapped.roles:
                names = [name for name in tapped.roles[axis] for _ in axis_roles[name].runs]
                coords[f"{axis}_role"] = (axis, names)
        attrs = {"quantity": tapped.quantity, "sums_over": ",".join(tapped.sums_over)}
        attrs |= {"runs_over": ",".join(tapped.runs_over)} if tapped.runs_over else {}
        array = xr.DataArray(tapped.tensor[0].float().cpu().numpy(), coords, tapped.axes, attrs=attrs)
        arrays[site] = array if attend_special else _without_special(array)
    return arrays


def _joint_coordinates(axis: str, roles: Sequence[Role], texts: Mapping[str, str]) -> dict:
    """The coordinates of an axis that concatenates several roles."""
    coords = [coordinates(axis, role, texts) for role in roles]
    return {name: (axis, [value for part in coords for value in part[name][1]]) for name in coords[0]}


def _without_special(array: xr.DataArray) -> xr.DataArray:
    """Drop `[CLS]` and `[SEP]` from all axes but the query's, for models in which nothing attends to them."""
    for axis in map(str, array.dims):
        if axis not in NOT_SHARED:
            array = array.isel({axis: array[f"{axis}_special"].values == 0})
    return array


def shown_places(tapped: TappedTensor, axis_roles: Mapping[str, Role], attend_special: bool) -> list[Sequence[int]]:
    """Where the places of the trace's array lie in a recorded tensor, for its axes but the first; see `sites`."""
    places: list[Sequence[int]] = []
    for axis, size in zip(tapped.axes[1:], tapped.tensor.shape[2:]):
        parts = [axis_roles[name] for name in tapped.roles.get(axis, (axis,))] if axis in axis_roles else []
        special = [role.special[start] for role in parts for start, _ in role.runs]
        drops = not attend_special and axis not in NOT_SHARED
        places.append([i for i, one in enumerate(special) if not one] if drops else range(size))
    return places


def coordinates(axis: str, role: Role, texts: Mapping[str, str]) -> dict:
    """The coordinates of one axis; see `axes.COORDINATES`.  texts: the example's, by name."""
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
