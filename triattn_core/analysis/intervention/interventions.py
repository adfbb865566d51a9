"""Interventions on the context, compared with the original: units removed, masked, replaced, reordered or swapped.

    remove    nobody reads the tokens: neither BERT_n nor attention
    mask      attention does not see them; BERT_n has read them, and all other vectors are what they were
    replace   `[MASK]` or another text in their place
    reorder   the units in another order
    swap      another example's context around the same query and key

Query and key stay the same, so that maps can be subtracted cell by cell.  A context that is emptied: Tri-Attention
falls back to Bi-Attention (section IV-A), and the notes say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
import xarray as xr
from torch import Tensor

from triattn_core.analysis.intervention import edits
from triattn_core.analysis.intervention.batched_variants import (
    Query,
    log_odds,
    outputs_without,
    removal_masks,
    run_query,
    word_positions,
)
from triattn_core.attention.tap import Record, recording
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.tan import TanConfig
from triattn_core.errors import InputError
from triattn_core.inference.explain import sites
from triattn_core.inference.predictions import Prediction
from triattn_core.models import answers
from triattn_core.text.roles import Roles
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import MECHANISM_LABELS


@dataclass(frozen=True)
class Outcome:
    """A prediction with its trace; `log_odds`: log p - log(1 - p) of the original's answer."""

    prediction: Prediction
    trace: AttentionTrace
    log_odds: float


@dataclass(frozen=True)
class InterventionResult:
    """The outcomes before and after an intervention; `notes` are sentences for the user."""

    before: Outcome
    after: Outcome
    notes: tuple[str, ...] = ()

    @property
    def change(self) -> float:
        """The change of the log-odds of the original's answer."""
        return self.after.log_odds - self.before.log_odds

    @property
    def flipped(self) -> bool:
        """Whether the predicted answer changes."""
        return self.after.prediction.best != self.before.prediction.best


@dataclass(frozen=True)
class Edit:
    """An edit of one option: new roles, and the removed positions of the context; `read`, `own_context`: see
    `batched_variants.outputs_without`."""

    roles: Roles
    removed: Sequence[int] = ()
    read: bool = False
    own_context: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def remove(
    bundle: Bundle, example, names: Sequence[str], unit: str = "turns", option: int | None = None
) -> InterventionResult:
    """Removes units of the context; for names and ways see `edits.unit_names`.

    In each of several options the same units are gone; of an option's own text, tokens in the traced one alone.
    Raises InputError for a unit that is not there, ConfigError for a model that reads no context.
    """
    return _edit_units(bundle, example, names, unit, option, lambda roles, positions: Edit(roles, positions))


def mask(
    bundle: Bundle, example, names: Sequence[str], unit: str = "turns", option: int | None = None
) -> InterventionResult:
    """Masks units of the context from attention only; see `remove`.  Bi-Attention reads no context: nothing changes."""
    return _edit_units(bundle, example, names, unit, option, lambda roles, positions: Edit(roles, positions, read=True))


def replace(
    bundle: Bundle, example, names: Sequence[str], unit: str = "turns", text: str = "", option: int | None = None
) -> InterventionResult:
    """Replaces each token of the units with `[MASK]`, or all of them with a text; see `remove`.

    Raises InputError too for a text that has no token or does not fit.
    """

    tokenizer = cast(Tokenizer, bundle.tokenizer)

    def change(roles: Roles, positions: Sequence[int]) -> Edit:
        if not positions:
            return Edit(roles)
        if not text.strip():
            return Edit(edits.mask_tokens(roles, positions, tokenizer))
        new = edits.replace_tokens(roles, positions, text, tokenizer, bundle.config.limits)
        return Edit(new, texts={edits.NEW: text})

    return _edit_units(bundle, example, names, unit, option, change)


def reorder(
    bundle: Bundle, example, order: Sequence[str], unit: str = "turns", option: int | None = None
) -> InterventionResult:
    """Reorders all units; see `edits.reorder_units`.  In other options the units that only they have keep their order,
    after the shared ones."""
    query = run_query(bundle, example, option)
    traced = _units(query, query.roles, unit)

    def change(roles: Roles, is_traced: bool) -> Edit:
        names = traced if is_traced else _units(query, roles, unit)
        present = list(dict.fromkeys(filter(None, names)))
        new_order = order if is_traced else [name for name in order if name in present]
        new_order = [*new_order, *(name for name in present if name not in new_order)] if not is_traced else new_order
        return Edit(edits.reorder_units(roles, names, new_order, bundle.config.limits))

    return _compare(query, change)


def swap(bundle: Bundle, example, other, option: int | None = None) -> InterventionResult:
    """Swaps in another example's context: all that is neither query nor key, or for a pair the whole joint sequence."""
    query = run_query(bundle, example, option)
    other.check()
    theirs = bundle.task.roles([other], bundle.tokenizer, bundle.config.limits)[0][0]
    texts = {edits.OTHER + name: text for name, text in bundle.task.texts(other, 0).items()}
    note = "Query and key do not stand in the other's context: C-Bi-Attention falls back to Bi-Attention."
    model = bundle.config.model
    cbi = isinstance(model, TanConfig) and model.mechanism == "cbi" and model.context == "joint"

    def change(roles: Roles, is_traced: bool) -> Edit:
        new = edits.swap_context(roles, theirs, bundle.config.limits)
        if new is None:
            return Edit(
                edits.borrow_context(roles, theirs), own_context=False, texts=texts, notes=(note,) if cbi else ()
            )
        return Edit(new, texts=texts)

    return _compare(query, change)


def _edit_units(
    bundle: Bundle, example, names: Sequence[str], unit: str, option: int | None, change: Callable[..., Edit]
) -> InterventionResult:
    if not names:
        raise InputError("Nothing is chosen: name at least one unit of the context.")
    query = run_query(bundle, example, option)
    positions = edits.unit_positions(_units(query, query.roles, unit), names)

    def edit(roles: Roles, is_traced: bool) -> Edit:
        if is_traced:
            return change(roles, positions)
        if unit == "tokens":
            own_text = roles.key.texts[0]
            return change(roles, edits.matching_positions(query.roles.context, positions, roles.context, own_text))
        return change(roles, [i for i, name in enumerate(_units(query, roles, unit)) if name in names])

    return _compare(query, edit)


def _units(query: Query, roles: Roles, unit: str) -> list[str]:
    number = next(i for i, option in enumerate(query.options) if option is roles)
    return edits.unit_names(roles.context, query.bundle.task.texts(query.example, number), unit)


def _compare(query: Query, change: Callable[[Roles, bool], Edit]) -> InterventionResult:
    """Compares the original with the edited example; each option is edited, the traced one is recorded."""
    outputs, mine, after = [], Edit(query.roles), Record(lambda site: True)
    for number, roles in enumerate(query.options):
        edit = change(roles, number == query.option)
        keep_site = (lambda site: True) if number == query.option else (lambda site: False)
        with recording(keep_site) as record:
            outputs.append(_outputs(query, edit))
        if number == query.option:
            mine, after = edit, record
    with recording() as before:
        _outputs(query, Edit(query.roles))
    scores = answers.scores(torch.cat(outputs), [len(outputs)])[0]
    empty = set(word_positions(mine.roles.context)) <= set(mine.removed)
    notes = list(mine.notes)
    if empty:
        notes.append(_empty_context_note(query.bundle.config.model.mechanism))
    original = make_outcome(query, query.scores, before, Edit(query.roles))
    return InterventionResult(original, make_outcome(query, scores, after, mine, empty), tuple(notes))


def _outputs(query: Query, edit: Edit) -> Tensor:
    masks = removal_masks(edit.roles, [edit.removed], everywhere=False)
    return outputs_without(query.bundle, edit.roles, masks, edit.read, edit.own_context)


def _empty_context_note(mechanism: str) -> str:
    falls = {"bi": "Bi-Attention reads none", "bi_joint": "Bi-joint attends to the key sequence alone"}
    label = MECHANISM_LABELS[mechanism]
    return f"The context is empty: {falls.get(mechanism, f'{label}-Attention falls back to Bi-Attention')}."


def make_outcome(query: Query, scores: Tensor, record: Record, edit: Edit, empty: bool = False) -> Outcome:
    """The outcome from scores [answers] and recorded sites; with an empty context the cubes become two-way."""
    bundle, example = query.bundle, query.example
    probabilities = scores.double().softmax(-1).tolist()
    prediction = Prediction(
        labels=bundle.labels(example),
        probabilities=tuple(probabilities),
        best=int(scores.argmax()),
        gold=example.label,
        notes=query.roles.notes,
        option=query.option,
    )
    texts = {**bundle.task.texts(example, query.option), **edit.texts}
    arrays = sites(record, edit.roles, texts, bundle.attends_special or empty)
    if empty:
        arrays = {name: _two_way(site) for name, site in arrays.items()}
    meta = {"checkpoint": bundle.name, "digest": bundle.digest, **bundle.config.model.about, "device": bundle.device}
    if len(query.options) > 1:
        meta["option"] = query.option
    odds = float(log_odds(scores[None], query.answer))
    return Outcome(prediction, AttentionTrace(arrays, texts, meta), odds)


def _two_way(site: xr.DataArray) -> xr.DataArray:
    """The neutral element stands in the first place of an empty context, and all weight with it."""
    if "context" not in site.dims:
        return site
    sums_over = site.attrs.get("sums_over", "").replace("key,context", "key")
    context_coords = [name for name in site.coords if str(name).startswith("context_")]
    return site.isel(context=0).drop_vars(context_coords).assign_attrs(sums_over=sums_over)
