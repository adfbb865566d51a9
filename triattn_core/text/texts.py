"""Texts that are encoded separately, as in self-attention models: one sentence, or premise and hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triattn_core.errors import InputError
from triattn_core.text.roles import Limits, Part, Role, joint, tokens_notes
from triattn_core.text.tokenizer import Tokenizer, Tokens

if TYPE_CHECKING:
    from triattn_core.trace.site import Site


@dataclass(frozen=True)
class Texts:
    """The tokens of each text of an example, by its name.

    Not a case of `Roles`, whose query and key are parts of one joint sequence: these texts do not meet before the
    classifier.  Both consist of `Role`.
    """

    roles: Mapping[str, Role]
    notes: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Number of tokens of the longest text: the cost of a row of a batch."""
        return max(map(len, self.roles.values()))

    @property
    def tokens(self) -> int:
        """Number of tokens of all texts."""
        return sum(map(len, self.roles.values()))

    def axes(self, site: Site) -> dict[str, Role]:
        """The role of each axis of a site: that of the text whose name the site begins with, or of the only text.

        If the site begins with no name of two texts, the first attends to the second.
        """
        first, *other_roles = self.roles.values()
        role = next((role for name, role in self.roles.items() if site.is_under(name)), None)
        return {"query": role or first, "key": role or (other_roles or [first])[0]}


def separate_texts(
    titles: Mapping[str, str], rows: Sequence[Mapping[str, str]], tokenizer: Tokenizer, limits: Limits
) -> list[tuple[Texts]]:
    """The texts of each row, at most `limits.tokens` tokens each.

    titles: names of the texts in notes, by their names in `rows`.  Raises InputError if a text has no token.
    """
    columns = {name: tokenizer.encode([row[name] for row in rows], limits.tokens) for name in titles}
    results = []
    for i, row in enumerate(rows):
        roles, notes = {}, []
        for name, title in titles.items():
            tokens = columns[name][i]
            roles[name] = text_role(name, title, row[name], tokens, tokenizer)
            notes += tokens_notes(title, row[name], tokens, tokenizer)
        results.append((Texts(roles, tuple(notes)),))
    return results


def text_role(name: str, title: str, text: str, tokens: Tokens, tokenizer: Tokenizer) -> Role:
    """The tokens of one text as a role.  Raises InputError if there is none."""
    if not tokens:
        raise InputError(f"{title} has no character that the model can read: type at least one word.")
    return joint([Part(name, text, tokens, title.removeprefix("The "))], tokenizer).take(name)
