"""What if the context were another?  Units of it removed, masked, replaced, reordered or swapped, beside the original.

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

import torch
import xarray as xr
from torch import Tensor

from triattn_core.analysis import edits
from triattn_core.analysis.asked import Asked, ask, gone, log_odds, without, words
from triattn_core.attention.tap import Record, recording
from triattn_core.checkpoint import Bundle
from triattn_core.errors import InputError
from triattn_core.explain import Prediction, sites
from triattn_core.models import answers
from triattn_core.text.roles import Roles
from triattn_core.trace import AttentionTrace


@dataclass(frozen=True)
class Outcome:
    """What was said and where it looked; `log_odds`: log p - log(1 - p) of the original's answer."""

    prediction: Prediction
    trace: AttentionTrace
    log_odds: float


@dataclass(frozen=True)
class Beside:
    """An intervention beside the original; `notes` are sentences for the reader."""

    before: Outcome
    after: Outcome
    notes: tuple[str, ...] = ()

    @property
    def change(self) -> float:
        """Of the log-odds of the original's answer."""
        return self.after.log_odds - self.before.log_odds

    @property
    def flipped(self) -> bool:
        """Whether the answer is another."""
        return self.after.prediction.best != self.before.prediction.best


@dataclass(frozen=True)
class Edit:
    """What becomes of the roles of one option: new roles, and the places of the context that are gone; `read`, `own`:
    see `asked.without`."""

    roles: Roles
    at: Sequence[int] = ()
    read: bool = False
    own: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def remove(bundle: Bundle, example, names: Sequence[str], way: str = "turns", option: int | None = None) -> Beside:
    """Without these units of the context; for names and ways see `edits.units`.

    In each of several options the same units are gone; of an option's own text, tokens in the traced one alone.
    Raises InputError for a unit that is not there, ConfigError for a model that reads no context.
    """
    return _at(bundle, example, names, way, option, lambda roles, at: Edit(roles, at))


def mask(bundle: Bundle, example, names: Sequence[str], way: str = "turns", option: int | None = None) -> Beside:
    """With these units hidden from attention alone; see `remove`.  Bi-Attention reads no context: nothing changes."""
    return _at(bundle, example, names, way, option, lambda roles, at: Edit(roles, at, read=True))


def replace(
    bundle: Bundle, example, names: Sequence[str], way: str = "turns", text: str = "", option: int | None = None
) -> Beside:
    """With `[MASK]` in place of each token of these units, or a text in place of all; see `remove`.

    Raises InputError too for a text that has no token or does not fit.
    """

    def change(roles: Roles, at: Sequence[int]) -> Edit:
        if not at:
            return Edit(roles)
        if not text.strip():
            return Edit(edits.masked(roles, at, bundle.tokenizer))
        new = edits.replaced(roles, at, text, bundle.tokenizer, bundle.config.limits)
        return Edit(new, texts={edits.NEW: text})

    return _at(bundle, example, names, way, option, change)


def reorder(bundle: Bundle, example, order: Sequence[str], way: str = "turns", option: int | None = None) -> Beside:
    """With all units in another order; see `edits.reordered`.  In other options what only they have keeps its order,
    after the units that the traced one has too."""
    asked = ask(bundle, example, option)
    traced = _units(asked, asked.roles, way)

    def change(roles: Roles, is_traced: bool) -> Edit:
        names = traced if is_traced else _units(asked, roles, way)
        there = list(dict.fromkeys(filter(None, names)))
        wanted = order if is_traced else [name for name in order if name in there]
        wanted = [*wanted, *(name for name in there if name not in wanted)] if not is_traced else wanted
        return Edit(edits.reordered(roles, names, wanted, bundle.config.limits))

    return _beside(asked, change)


def swap(bundle: Bundle, example, other, option: int | None = None) -> Beside:
    """With another example's context: all that is neither query nor key, or of a pair the whole joint sequence."""
    asked = ask(bundle, example, option)
    other.check()
    theirs = bundle.task.roles([other], bundle.tokenizer, bundle.config.limits)[0][0]
    texts = {edits.OTHER + name: text for name, text in bundle.task.texts(other, 0).items()}
    alone = "Query and key do not stand in the other's context: C-Bi-Attention falls back to Bi-Attention."
    cbi = bundle.config.model.mechanism == "cbi"

    def change(roles: Roles, is_traced: bool) -> Edit:
        new = edits.swapped(roles, theirs, bundle.config.limits)
        if new is None:
            return Edit(edits.borrowed(roles, theirs), own=False, texts=texts, notes=(alone,) if cbi else ())
        return Edit(new, texts=texts)

    return _beside(asked, change)


def _at(
    bundle: Bundle, example, names: Sequence[str], way: str, option: int | None, change: Callable[..., Edit]
) -> Beside:
    if not names:
        raise InputError("Nothing is chosen: name at least one unit of the context.")
    asked = ask(bundle, example, option)
    at = edits.places(_units(asked, asked.roles, way), names)

    def there(roles: Roles, is_traced: bool) -> Edit:
        if is_traced:
            return change(roles, at)
        if way == "tokens":
            return change(roles, edits.same(asked.roles.context, at, roles.context, roles.key.texts[0]))
        return change(roles, [i for i, name in enumerate(_units(asked, roles, way)) if name in names])

    return _beside(asked, there)


def _units(asked: Asked, roles: Roles, way: str) -> list[str]:
    number = next(i for i, one in enumerate(asked.options) if one is roles)
    return edits.units(roles.context, asked.bundle.task.texts(asked.example, number), way)


def _beside(asked: Asked, change: Callable[[Roles, bool], Edit]) -> Beside:
    """The original and the changed one; each option is changed, the traced one is recorded."""
    outputs, mine, after = [], Edit(asked.roles), Record(lambda site: True)
    for number, roles in enumerate(asked.options):
        edit = change(roles, number == asked.option)
        with recording(lambda site, traced=number == asked.option: traced) as record:
            outputs.append(_outputs(asked, edit))
        if number == asked.option:
            mine, after = edit, record
    with recording() as before:
        _outputs(asked, Edit(asked.roles))
    scores = answers.scores(torch.cat(outputs), [len(outputs)])[0]
    empty = set(words(mine.roles.context)) <= set(mine.at)
    notes = list(mine.notes)
    if empty:
        notes.append(_empty(asked.bundle.config.model.mechanism))
    original = outcome(asked, asked.scores, before, Edit(asked.roles))
    return Beside(original, outcome(asked, scores, after, mine, empty), tuple(notes))


def _outputs(asked: Asked, edit: Edit) -> Tensor:
    return without(asked.bundle, edit.roles, gone(edit.roles, [edit.at], everywhere=False), edit.read, edit.own)


def _empty(mechanism: str) -> str:
    falls = "Bi-Attention reads none" if mechanism == "bi" else (
        f"{'Tri' if mechanism == 'tri' else 'C-Bi'}-Attention falls back to Bi-Attention"
    )
    return f"The context is empty: {falls}."


def outcome(asked: Asked, scores: Tensor, record: Record, edit: Edit, empty: bool = False) -> Outcome:
    """From scores [answers] and what was recorded; of an empty context the cubes are two-way again."""
    bundle, example = asked.bundle, asked.example
    found = scores.double().softmax(-1).tolist()
    prediction = Prediction(
        labels=bundle.labels(example),
        probabilities=tuple(found),
        best=int(scores.argmax()),
        gold=example.label,
        notes=asked.roles.notes,
        option=asked.option,
    )
    texts = {**bundle.task.texts(example, asked.option), **edit.texts}
    shown = sites(record, edit.roles, texts)
    if empty:
        shown = {name: _two_way(site) for name, site in shown.items()}
    meta = {"checkpoint": bundle.name, "digest": bundle.digest, **bundle.config.model.about, "device": bundle.device}
    if len(asked.options) > 1:
        meta["option"] = asked.option
    odds = float(log_odds(scores[None], asked.answer))
    return Outcome(prediction, AttentionTrace(shown, texts, meta), odds)


def _two_way(site: xr.DataArray) -> xr.DataArray:
    """The neutral element stands in the first place of an empty context, and all weight with it."""
    if "context" not in site.dims:
        return site
    over = site.attrs.get("sums_over", "").replace("key,context", "key")
    left = [name for name in site.coords if str(name).startswith("context_")]
    return site.isel(context=0).drop_vars(left).assign_attrs(sums_over=over)
