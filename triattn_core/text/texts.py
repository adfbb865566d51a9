"""Texts that are each encoded on their own, as self-attention models do: one sentence, or premise and hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triattn_core.errors import InputError
from triattn_core.text.roles import Limits, Part, Role, joint, tokens_notes
from triattn_core.text.tokenizer import Tokenizer, Tokens


@dataclass(frozen=True)
class Texts:
    """The tokens of each text of an example, by its name.

    A type beside `Roles`, not a case of it: Roles promises a joint sequence that query and key are cut from, and every
    reader of Roles counts on it.  These texts never meet before the classifier; what both share is `Role`.
    """

    roles: Mapping[str, Role]
    notes: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Tokens of the longest text: what a row of a batch costs."""
        return max(map(len, self.roles.values()))

    @property
    def tokens(self) -> int:
        """Tokens of all texts."""
        return sum(map(len, self.roles.values()))

    def axes(self, site: str) -> dict[str, Role]:
        """Whose tokens stand along the axes of a site: those of the text that its name begins with, or of the only.

        Where it begins with none of two, the first attends to the second.
        """
        first, *rest = self.roles.values()
        role = self.roles.get(site.partition("/")[0])
        return {"query": role or first, "key": role or (rest or [first])[0]}


def alone(
    titles: Mapping[str, str], rows: Sequence[Mapping[str, str]], tokenizer: Tokenizer, limits: Limits
) -> list[tuple[Texts]]:
    """The texts of each row, at most `limits.tokens` tokens each.

    titles: what a note calls each text, by the names of the texts in `rows`.  Raises InputError where a text has no
    token that can be read.
    """
    columns = {name: tokenizer.encode([row[name] for row in rows], limits.tokens) for name in titles}
    found = []
    for i, row in enumerate(rows):
        roles, notes = {}, []
        for name, title in titles.items():
            tokens = columns[name][i]
            roles[name] = text_role(name, title, row[name], tokens, tokenizer)
            notes += tokens_notes(title, row[name], tokens, tokenizer)
        found.append((Texts(roles, tuple(notes)),))
    return found


def text_role(name: str, title: str, text: str, tokens: Tokens, tokenizer: Tokenizer) -> Role:
    """The tokens of one text.  Raises InputError where there is none."""
    if not tokens:
        raise InputError(f"{title} has no character that the model can read: type at least one word.")
    return joint([Part(name, text, tokens, title.removeprefix("The "))], tokenizer).take(name)
