"""Planted triple: exactly one key and one context token fit the query, and their payloads add up to the answer.

The witness is that of Match3 (Sanford, Hsu, Telgarsky 2023, arXiv 2306.02896), unique in each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from triattn_core.tasks.laboratory.example import ROLES, Cell, Example
from triattn_core.tasks.laboratory.statements import COUNTING, SMALL
from triattn_core.tasks.laboratory.task import LaboratoryTask

PAYLOADS = 4
SIDE = 6  # keys, and context tokens, unless another size is asked for


class Planted(LaboratoryTask):
    """One query code, `size` keys and contexts `code:payload`; codes are distinct within keys and within contexts.

    complete(q, k, codes): the one context code that fits query code q and key code k, of `codes` from 0.
    """

    SIZES = (2, 8)
    FIELDS = ("Query", "Keys, code:payload", "Contexts, code:payload")
    SIZE = "keys (as many contexts)"
    PROVED, OBSERVED = COUNTING, SMALL
    LABELS = tuple(map(str, range(PAYLOADS)))

    def __init__(
        self, name: str, label: str, rule: str, codes: int, complete: Callable[[int, int, int], int], size: int = SIDE
    ):
        self.NAME, self.LABEL, self.rule = name, label, rule
        self.codes, self._complete, self.size = codes, complete, size

    def complete(self, query: int, key: int) -> int:
        """The context code that fits."""
        return self._complete(query, key, self.codes)

    def with_size(self, size: int) -> Planted:
        """So many keys and contexts; of sums, modulo 2 · size + 1, so that codes are as scarce as at size 6."""
        codes = self.codes if self.NAME == "planted-xor" else 2 * size + 1
        rule = self.rule.replace(f"mod {self.codes}", f"mod {codes}")
        return Planted(self.NAME, self.LABEL, rule, codes, self._complete, size)

    def draw(self, random: Random) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Exactly one context code is among those that fit a key; all such rows are equally likely."""
        query, key_codes = random.randrange(self.codes), random.sample(range(self.codes), self.size)
        fitting = [self.complete(query, code) for code in key_codes]
        unfitting = [code for code in range(self.codes) if code not in fitting]
        context_codes = [random.choice(fitting), *random.sample(unfitting, self.size - 1)]
        random.shuffle(context_codes)
        keys, context = (
            tuple(f"{code}:{random.randrange(PAYLOADS)}" for code in codes) for codes in (key_codes, context_codes)
        )
        return str(query), keys, context

    def truth(self, query: str, keys: Sequence[str], context: Sequence[str]) -> tuple[Cell, ...]:
        """The cells whose codes fit the query."""
        codes = [_parts(text)[0] for text in context]
        completions = [self.complete(int(query), _parts(text)[0]) for text in keys]
        return tuple((i, j) for i, code in enumerate(completions) for j, other in enumerate(codes) if code == other)

    def answer(self, query: str, keys: Sequence[str], context: Sequence[str]) -> int | None:
        """The sum of the two payloads modulo 4, where exactly one triple fits."""
        truth = self.truth(query, keys, context)
        if len(truth) != 1:
            return None
        ((i, j),) = truth
        return (_parts(keys[i])[1] + _parts(context[j])[1]) % PAYLOADS

    def tokens(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """A query is a code; keys and contexts are a code and a payload."""
        for code in range(self.codes):
            yield "query", str(code), (str(code),)
        for role in ROLES[1:]:
            for code in range(self.codes):
                for payload in range(PAYLOADS):
                    yield role, f"{code}:{payload}", (str(code), f":{payload}")

    def say(self, example: Example) -> str:
        """The row in words."""
        keys, context = ", ".join(example.keys), ", ".join(example.context)
        return (
            f"Query {example.query}. Keys (code:payload) {keys}. Contexts {context}. Which key and context fit: "
            f"{self.rule}? Add their payloads modulo 4."
        )


def _parts(text: str) -> tuple[int, int]:
    code, payload = text.split(":")
    return int(code), int(payload)


SUM = "(query + key + context) mod 13 = 0"
PLANTED_SUM = Planted("planted-sum", "Planted sum", SUM, 13, lambda q, k, codes: -(q + k) % codes)
PLANTED_XOR = Planted("planted-xor", "Planted XOR", "query xor key xor context = 0", 16, lambda q, k, codes: q ^ k)
PLANTED_SUM.OPENING_ROW = 3
PLANTED_SUM.OBSERVED = f"{SMALL} At 8 keys Tri does not find the sum in these steps either (“Against size” below)."
