"""Translation of a sentence, scored by BLEU (Papineni et al. 2002) as `sacrebleu` measures it (Post 2018)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from triattn_core.errors import DataError, InputError
from triattn_core.tasks import classes
from triattn_core.tasks.task import InputForm
from triattn_core.text.roles import Limits
from triattn_core.text.row_fields import field, texts_field
from triattn_core.text.rows import read_examples
from triattn_core.text.texts import Texts, separate_texts
from triattn_core.text.tokenizer import Tokenizer

NAME, LABEL, FORM = "translation", "Translation", InputForm.TRANSLATION
KINDS = ("translation",)
TEXTS = {"source": "The sentence"}
OUTPUTS = None  # the sub-words of the checkpoint's vocabulary
LANGUAGES = ("en",)
SCORE = "bleu"
SMOOTHING = "exp"  # sacrebleu's default


@dataclass(frozen=True)
class Example:
    """A sentence and its translations, if any is known: `label`, of which the first is trained on.

    sure, possible: alignments, pairs of words of the source and of the first translation, which white space separates.
    """

    source: str
    label: tuple[str, ...] | None = None
    sure: tuple[tuple[int, int], ...] = ()
    possible: tuple[tuple[int, int], ...] = ()
    id: str = ""

    @classmethod
    def from_row(cls, row: dict, where: str = "input") -> Example:
        """From `{"source", "target"?, "references"?, "sure"?, "possible"?, "id"?}`.  Raises DataError that names the
        field."""
        known = (field(row, "target", where),) if row.get("target") is not None else ()
        if row.get("references") is not None:
            known = tuple(dict.fromkeys((*known, *texts_field(row, "references", where))))
        sure, possible = (_links(row, name, where) for name in ("sure", "possible"))
        return cls(field(row, "source", where), known or None, sure, possible, str(row.get("id", "")))

    def check(self) -> None:
        """Raises InputError if the sentence has no letter and no digit."""
        classes.check({"The sentence": self.source})
        if not any(map(str.isalnum, self.source)):
            raise InputError("The sentence has no word: there is nothing to translate.")


def _links(row: dict, name: str, where: str) -> tuple[tuple[int, int], ...]:
    links = row.get(name, [])
    if not isinstance(links, list) or not all(
        isinstance(link, list) and len(link) == 2 and all(type(word) is int and word >= 0 for word in link)
        for link in links
    ):
        raise DataError(f"{where}: field {name!r} must be a list of pairs of words, from 0, got {links!r:.40}")
    return tuple((source, target) for source, target in links)


def read(path: Path, training: bool = False, where: Mapping[str, str] | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup`.  Raises DataError with the line."""
    return read_examples(path, from_file, training, where)


def turned(examples: Iterable[Example]) -> Iterator[Example]:
    """The examples in the other direction: each first translation is a source, of which the old source is one."""
    for example in examples:
        if example.label:
            yield Example(example.label[0], (example.source,), id=example.id)


def from_file(row: dict, where: str) -> Example:
    """The example of a data set row.  Raises DataError that names the field."""
    return Example.from_row(row, where)


def roles(batch: Sequence[Example], tokenizer: Tokenizer, limits: Limits) -> list[tuple[Texts]]:
    """The sentence, at most `limits.tokens` sub-words.  Raises InputError if it has none."""
    return separate_texts(TEXTS, [texts(example) for example in batch], tokenizer, limits)


@cache
def examples(language: str = "en") -> tuple[Example, ...]:
    """Sentences written for this project; `id` is the kind and a number."""
    return tuple(read(Path(__file__).with_name("translation.en.jsonl")))


def texts(example: Example, option: int = 0) -> dict[str, str]:
    """The example's source by name."""
    return {"source": example.source}


def labels(example: Example) -> tuple[str, ...]:
    """Empty: a model's candidates are the names of its probabilities."""
    return ()


Verdict = tuple[bool, str, Sequence[str]]


def verdict(example: Example, answer: Sequence[Any]) -> Verdict:
    """As `compare`; answer: `predictions.Candidate`s, best first."""
    return compare(example, answer[0].text)


def compare(example: Example, text: str) -> Verdict:
    """(exact, translation, references): a translation, and whether it is one of the references.

    Raises DataError for a row without a translation.
    """
    if not example.label:
        raise DataError("a row has no translation: only rows with one can be scored")
    return text in example.label, text, list(example.label)


def metrics(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """BLEU of the whole file, and the share of translations that equal a reference, in per cent."""
    return {
        "bleu": round(corpus_bleu([row[1] for row in verdicts], [row[2] for row in verdicts]), 2),
        "exact": round(100 * sum(row[0] for row in verdicts) / len(verdicts), 2),
    }


def corpus_bleu(translations: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """BLEU in per cent, by sacrebleu's defaults; references: of each sentence, one or more.

    Raises InputError if sacrebleu is not installed.
    """
    bleu = require_bleu()
    columns = list(zip_longest(*references))  # sacrebleu takes one list for each reference, None where there is none
    return float(bleu().corpus_score(list(translations), [list(column) for column in columns]).score)


def counts(verdict: Verdict) -> tuple[int, ...]:
    """The words of a translation and of its nearest reference; its n-grams in a reference, then all of them, n = 1 to
    4."""
    found = require_bleu()().corpus_score([verdict[1]], [[reference] for reference in verdict[2]])
    return found.sys_len, found.ref_len, *found.counts, *found.totals


def score(sums: Sequence[float]) -> float:
    """BLEU of a file, in per cent, from sums of `counts`."""
    words, reference, *ngrams = map(int, sums)
    bleu = require_bleu().compute_bleu
    return float(bleu(ngrams[:4], ngrams[4:], words, reference, smooth_method=SMOOTHING).score)


def require_bleu() -> Any:
    """The class of sacrebleu that measures BLEU.  Raises InputError if it is not installed."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise InputError("BLEU is measured by sacrebleu: pip install 'sacrebleu>=2.6,<3'") from None
    return BLEU


def baseline(examples: Iterable[Example]) -> dict[str, float]:
    """`chance`: BLEU, in per cent, of the source itself as its translation."""
    rows = [(example.source, example.label) for example in examples if example.label]
    return {"chance": round(corpus_bleu([source for source, _ in rows], [label or () for _, label in rows]), 2)}


def row(example: Example) -> dict:
    """The example as a row of its file format."""
    known = {"target": example.label[0], "references": list(example.label)} if example.label else {}
    links = {name: list(map(list, getattr(example, name))) for name in ("sure", "possible") if getattr(example, name)}
    return {"source": example.source, **known, **links}
