"""The joint sequence edited: tokens replaced, units put in another order, the context of another example.

Query and key keep their tokens; only their places in the joint sequence (C-Bi-Attention's own context) move along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from triattn_core.analysis.folds import named
from triattn_core.errors import InputError, choices
from triattn_core.text.roles import Limits, Role, Roles
from triattn_core.text.tokenizer import Tokenizer

WAYS = ("turns", "sentences", "tokens")
NEW = "replacement"  # the name of a text that takes the place of others
OTHER = "other."  # before the names of another example's texts


def units(role: Role, texts: Mapping[str, str], way: str) -> list[str]:
    """The unit of each token of a context, "" of special ones: `turns` (segments: a turn, a sentence of a passage, a
    sentence of a pair), `sentences` of these, or `tokens`, by their places: "token 5".  Raises InputError for another
    way."""
    if way not in WAYS:
        raise InputError(f"cannot take {way!r} of the context; {choices(way, WAYS)}")
    if way == "tokens":
        return ["" if special else f"token {i}" for i, special in enumerate(role.special)]
    return named(role.segments, role.texts, (start for start, _ in role.spans), texts, way)


def places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted units stand.  Raises InputError for a unit that is not there."""
    known = set(names) - {""}
    for name in wanted:
        if name not in known:
            raise InputError(f"There is no {name!r} in the context; {choices(name, known)}")
    return [i for i, name in enumerate(names) if name and name in wanted]


def same(role: Role, at: Sequence[int], other: Role, but: str) -> list[int]:
    """Where the tokens at some places of one context stand in another, those of the text `but` left out."""
    wanted = {(role.texts[i], role.spans[i]) for i in at if role.texts[i] != but}
    return [i for i, one in enumerate(zip(other.texts, other.spans)) if one in wanted]


def masked(roles: Roles, at: Sequence[int], tokenizer: Tokenizer) -> Roles:
    """`[MASK]` in place of each token."""
    context, some = roles.context, set(at)
    ids = [tokenizer.special["mask"] if i in some else one for i, one in enumerate(context.ids)]
    strings = ["[MASK]" if i in some else one for i, one in enumerate(context.strings)]
    return replace(roles, context=replace(context, ids=tuple(ids), strings=tuple(strings)))


def replaced(roles: Roles, at: Sequence[int], text: str, tokenizer: Tokenizer, limits: Limits) -> Roles:
    """A text in place of the tokens, all of it where the first of them stood.

    A query or key token that stood there takes the place of the new token at the same offset, or of the last.  Raises
    InputError where the text has no token, or is too long for what is left of the context.
    """
    context, room = roles.context, most(roles, limits) - len(roles.context) + len(at)
    (tokens,) = tokenizer.encode([text], max(1, room) + 1)
    if not tokens:
        raise InputError("The replacement has no character that the model can read: type at least one word.")
    if len(tokens) > room:
        raise InputError(f"The replacement is too long: at most {room} tokens fit here.")
    size, first, gone = len(tokens), at[0], set(at)
    shown = [("##" if s.startswith("##") else "") + text[a:b] for s, (a, b) in zip(tokens.strings, tokens.spans)]
    kind = context.types[first] % 2  # of an exact match nobody knows here: see `segment_ids`
    new = (tokens.ids, shown, [NEW] * size, tokens.spans, [False] * size, [0] * size, [kind] * size)
    piece = Role(*map(tuple, new), (context.segments[first],) * size)
    before = _taken(context, list(range(first)))
    after = _taken(context, [i for i in range(first, len(context)) if i not in gone])
    kept = [i for i in range(len(context)) if i not in gone]
    moved = {i: number + (size if i > first else 0) for number, i in enumerate(kept)}
    moved |= {i: first + min(offset, size - 1) for offset, i in enumerate(at)}
    return _around(roles, _joined(before, piece, after), moved, limits)


def most(roles: Roles, limits: Limits) -> int:
    """Tokens that an edited context may have: as many as the model reads of a text, or as many as it has."""
    return max(limits.tokens, len(roles.context))


def reordered(roles: Roles, names: Sequence[str], order: Sequence[str], limits: Limits) -> Roles:
    """The units in another order; `names`: the unit of each token.  A `[SEP]` goes with the unit before it; where units
    are single tokens it stays.  Raises InputError where `order` does not name each unit once."""
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
    return _around(roles, _taken(roles.context, row), {old: new for new, old in enumerate(row)}, limits)


def swapped(roles: Roles, other: Roles, limits: Limits) -> Roles | None:
    """Another example's context around the same query and key; its texts are named with OTHER before.

    Query and key stay in the joint sequence, and all else in it is the other's, of which the oldest tokens are left out
    where it does not fit.  None where there is nothing else (a pair of sentences): see `borrowed`.
    """
    rest, theirs = _rest(roles), _rest(other)
    if not rest or not theirs:
        return None
    mine = [i for i in range(len(roles.context)) if i not in set(rest)]
    room = max(1, most(roles, limits) - len(mine))
    piece = _of_other(_taken(other.context, theirs[-room:]))
    before = [i for i in mine if i < rest[0]]
    after = [i for i in mine if i > rest[0]]
    moved = {i: number + (len(piece) if i > rest[0] else 0) for number, i in enumerate(mine)}
    whole = _joined(_taken(roles.context, before), piece, _taken(roles.context, after))
    return _around(roles, whole, moved, limits)


def borrowed(roles: Roles, other: Roles) -> Roles:
    """The other example's whole joint sequence as context, in which query and key do not stand."""
    query, key = (replace(one, positions=(0,) * len(one)) for one in (roles.query, roles.key))
    return Roles(query, key, _of_other(other.context), roles.notes)


def _rest(roles: Roles) -> list[int]:
    """The places of what is neither query nor key, with the `[SEP]` after each."""
    known, found, inside = {roles.query.texts[0], roles.key.texts[0]}, [], False
    for i, (text, special) in enumerate(zip(roles.context.texts, roles.context.special)):
        inside = inside if special and i else bool(text) and text not in known
        if inside:
            found.append(i)
    return found


def _of_other(role: Role) -> Role:
    texts = tuple(OTHER + text if text else "" for text in role.texts)
    return replace(role, texts=texts, segments=tuple(f"other {name}" if name else "" for name in role.segments))


def _around(roles: Roles, context: Role, moved: Mapping[int, int], limits: Limits) -> Roles:
    """Query and key with their new places in a new context, which is filtered anew."""
    context = replace(context, positions=tuple(range(len(context))), cells=())
    query, key = (
        replace(one, positions=tuple(moved[i] for i in one.positions)) for one in (roles.query, roles.key)
    )
    return Roles(query, key, context.pooled(limits.cells[2]) if limits.cells else context, roles.notes)


def _taken(role: Role, row: Sequence[int]) -> Role:
    return Role(*(tuple(column[i] for i in row) for column in _columns(role)))


def _joined(*roles: Role) -> Role:
    return Role(*(sum(columns, ()) for columns in zip(*map(_columns, roles))))


def _columns(role: Role) -> list[tuple]:
    return [getattr(role, field.name) for field in fields(role) if field.name != "cells"]
