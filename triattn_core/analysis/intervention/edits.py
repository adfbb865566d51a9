"""Edits of the joint sequence: replaced tokens, reordered units, another example's context.

Query and key keep their tokens; only their places in the joint sequence (C-Bi-Attention's own context) move along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from triattn_core.errors import InputError, choices
from triattn_core.text.roles import Limits, Role, Roles
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.trace.text_units import segment_units

UNITS = ("turns", "sentences", "tokens")
NEW = "replacement"  # the name of a text that takes the place of others
OTHER = "other."  # before the names of another example's texts


def unit_names(role: Role, texts: Mapping[str, str], unit: str) -> list[str]:
    """The unit of each token of a context, "" of special ones: `turns` (segments: a turn, a sentence of a passage, a
    sentence of a pair), `sentences` of these, or `tokens`, by their places: "token 5".  Raises InputError for another
    way."""
    if unit not in UNITS:
        raise InputError(f"cannot take {unit!r} of the context; {choices(unit, UNITS)}")
    if unit == "tokens":
        return ["" if special else f"token {i}" for i, special in enumerate(role.special)]
    return segment_units(role.segments, role.texts, (start for start, _ in role.spans), texts, unit)


def unit_positions(names: Sequence[str], units: Sequence[str]) -> list[int]:
    """The positions of the wanted units.  Raises InputError for a unit that does not exist."""
    existing = set(names) - {""}
    for name in units:
        if name not in existing:
            raise InputError(f"There is no {name!r} in the context; {choices(name, existing)}")
    return [i for i, name in enumerate(names) if name and name in units]


def matching_positions(role: Role, positions: Sequence[int], other: Role, but: str) -> list[int]:
    """The positions in another context of the tokens at `positions`, except those of the text `but`."""
    removed_tokens = {(role.texts[i], role.spans[i]) for i in positions if role.texts[i] != but}
    return [i for i, token in enumerate(zip(other.texts, other.spans)) if token in removed_tokens]


def mask_tokens(roles: Roles, positions: Sequence[int], tokenizer: Tokenizer) -> Roles:
    """The roles with `[MASK]` in place of the tokens at `positions`."""
    context, masked = roles.context, set(positions)
    ids = [tokenizer.special["mask"] if i in masked else token_id for i, token_id in enumerate(context.ids)]
    strings = ["[MASK]" if i in masked else string for i, string in enumerate(context.strings)]
    return replace(roles, context=replace(context, ids=tuple(ids), strings=tuple(strings)))


def replace_tokens(roles: Roles, positions: Sequence[int], text: str, tokenizer: Tokenizer, limits: Limits) -> Roles:
    """The roles with a text in place of the tokens at `positions`, inserted at the first of them.

    A query or key token that stood there takes the place of the new token at the same offset, or of the last.  Raises
    InputError where the text has no token, or is too long for what is left of the context.
    """
    context, room = roles.context, max_context_tokens(roles, limits) - len(roles.context) + len(positions)
    (tokens,) = tokenizer.encode([text], max(1, room) + 1)
    if not tokens:
        raise InputError("The replacement has no character that the model can read: type at least one word.")
    if len(tokens) > room:
        raise InputError(f"The replacement is too long: at most {room} tokens fit here.")
    size, first, removed = len(tokens), positions[0], set(positions)
    pieces = [("##" if s.startswith("##") else "") + text[a:b] for s, (a, b) in zip(tokens.strings, tokens.spans)]
    kind = context.types[first] % 2  # of an exact match nobody knows here: see `segment_ids`
    new = (tokens.ids, pieces, [NEW] * size, tokens.spans, [False] * size, [0] * size, [kind] * size)
    columns: Any = (*map(tuple, new), (context.segments[first],) * size)
    piece = Role(*columns)
    before = _take_positions(context, list(range(first)))
    after = _take_positions(context, [i for i in range(first, len(context)) if i not in removed])
    old_positions = [i for i in range(len(context)) if i not in removed]
    new_positions = {i: number + (size if i > first else 0) for number, i in enumerate(old_positions)}
    new_positions |= {i: first + min(offset, size - 1) for offset, i in enumerate(positions)}
    return _with_context(roles, _concatenate(before, piece, after), new_positions, limits)


def max_context_tokens(roles: Roles, limits: Limits) -> int:
    """The maximum length of an edited context: the model's limit, or its present length if that is more."""
    return max(limits.tokens, len(roles.context))


def reorder_units(roles: Roles, names: Sequence[str], order: Sequence[str], limits: Limits) -> Roles:
    """The roles with the context's units in another order; `names`: the unit of each token.  A `[SEP]` moves with the
    unit before it; if units are single tokens it stays.  Raises InputError unless `order` names each unit once."""
    blocks: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        if name:
            blocks.setdefault(name, []).append(i)
    if sorted(order) != sorted(blocks):
        raise InputError(f"An order names each of the {len(blocks)} units once: {', '.join(blocks)}.")
    if all(len(block) == 1 for block in blocks.values()):
        ordered = (blocks[name][0] for name in order)
        row = [next(ordered) if name else i for i, name in enumerate(names)]
    else:
        last = ""
        for i, name in enumerate(names):
            last = name or last
            if last and not name:
                blocks[last].append(i)
        row = [0] + [i for name in order for i in blocks[name]]
    return _with_context(roles, _take_positions(roles.context, row), {old: new for new, old in enumerate(row)}, limits)


def swap_context(roles: Roles, other: Roles, limits: Limits) -> Roles | None:
    """The roles with another example's context around the same query and key; its texts get the prefix OTHER.

    Query and key stay in the joint sequence; the rest comes from the other example, without its oldest tokens if it
    does not fit.  None if there is nothing else (a pair of sentences): see `borrow_context`.
    """
    replaceable, theirs = _other_positions(roles), _other_positions(other)
    if not replaceable or not theirs:
        return None
    mine = [i for i in range(len(roles.context)) if i not in set(replaceable)]
    room = max(1, max_context_tokens(roles, limits) - len(mine))
    piece = _mark_other(_take_positions(other.context, theirs[-room:]))
    before = [i for i in mine if i < replaceable[0]]
    after = [i for i in mine if i > replaceable[0]]
    new_positions = {i: number + (len(piece) if i > replaceable[0] else 0) for number, i in enumerate(mine)}
    context = _concatenate(_take_positions(roles.context, before), piece, _take_positions(roles.context, after))
    return _with_context(roles, context, new_positions, limits)


def borrow_context(roles: Roles, other: Roles) -> Roles:
    """The roles with the other example's whole joint sequence as context, without query and key in it."""
    query, key = (replace(role, positions=(0,) * len(role)) for role in (roles.query, roles.key))
    return Roles(query, key, _mark_other(other.context), roles.notes)


def _other_positions(roles: Roles) -> list[int]:
    """The positions of all that is neither query nor key, with the `[SEP]` after each."""
    pair_texts, positions, inside = {roles.query.texts[0], roles.key.texts[0]}, [], False
    for i, (text, special) in enumerate(zip(roles.context.texts, roles.context.special)):
        inside = inside if special and i else bool(text) and text not in pair_texts
        if inside:
            positions.append(i)
    return positions


def _mark_other(role: Role) -> Role:
    texts = tuple(OTHER + text if text else "" for text in role.texts)
    return replace(role, texts=texts, segments=tuple(f"other {name}" if name else "" for name in role.segments))


def _with_context(roles: Roles, context: Role, new_positions: Mapping[int, int], limits: Limits) -> Roles:
    """The roles with a new context, filtered anew, and query and key at their new positions in it."""
    context = replace(context, positions=tuple(range(len(context))), cells=())
    query, key = (
        replace(role, positions=tuple(-1 if i < 0 else new_positions[i] for i in role.positions))
        for role in (roles.query, roles.key)
    )
    return Roles(query, key, context.pool(limits.cells[2]) if limits.cells else context, roles.notes)


def _take_positions(role: Role, row: Sequence[int]) -> Role:
    return Role(*(tuple(column[i] for i in row) for column in _columns(role)))


def _concatenate(*roles: Role) -> Role:
    return Role(*(sum(columns, ()) for columns in zip(*map(_columns, roles))))


def _columns(role: Role) -> list[tuple]:
    return [getattr(role, field.name) for field in fields(role) if field.name != "cells"]
