"""Below the Results page's table: whether our order of the rows agrees with the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.shared import checkpoint_html
from triattn_core.results.row_order import MAX_EXACT_ROWS, MIN_ROWS, Agreement
from triattn_core.trace.listing import listing
from triattn_core.views.lib.number_format import minus

TAKES = (
    "The z-test treats the rows of two models as independent samples, although both were evaluated on the same rows, "
    "so the test is conservative; variance between seeds is not included."
)


def ranking_html(agreements: Sequence[Agreement], group: str, *, alone: bool = False) -> str:
    """HTML: one line per column of the data set; empty where it has no row of ours.

    alone: the rows are those of one table.
    """
    group_agreements = [agreement for agreement in agreements if agreement.column.group == group]
    if not group_agreements:
        return ""
    head = "".join(f'<th class="n">{name}</th>' for name in ("rows", "Spearman", "p", "Kendall", "p"))
    body = "".join(_line(agreement) for agreement in group_agreements)
    table = f'<table class="t-beside t-order" style="max-width:680px"><tr><td></td>{head}</tr>{body}</table>'
    where = "this table" if alone else "all tables of the paper whose runs here were trained alike"
    sentence = (
        f"The rows that have both numbers, in {where}. A p is two-sided: how often rows in a random "
        f"order correlate as strongly, in either direction; exact up to {MAX_EXACT_ROWS} rows."
    )
    lines = "".join(
        f"<b>{escape(head)}</b><span>{escape(text)}</span>"
        for agreement in group_agreements
        for head, text in _significance_lines(agreement)
    )
    title = checkpoint_html.section("Does our order of the rows agree with the paper's?", "rank correlation")
    return (
        f'{title}<div class="t-scroll">{table}</div><p class="t-note">{sentence}</p><div class="t-know">{lines}</div>'
    )


def _line(agreement: Agreement) -> str:
    name = f"<td>{escape(agreement.column.name)}</td>"
    counts = f"{len(agreement.rows)} of {agreement.of}"
    rows = f'<td class="n" title="rows with both numbers, of those that could have them">{counts}</td>'
    if agreement.rho is None or agreement.tau is None:
        why = f"at least {MIN_ROWS} rows are needed" if len(agreement.rows) < MIN_ROWS else "one side does not vary"
        return f'<tr>{name}{rows}<td class="why" colspan="4">{why}</td></tr>'
    numbers = "".join(
        f'<td class="n">{minus(f"{value:+.2f}")}</td><td class="n t-muted">{p:.3f}</td>'
        for value, p in (agreement.rho, agreement.tau)
    )
    return f"<tr>{name}{rows}{numbers}</tr>"


def _significance_lines(agreement: Agreement) -> list[tuple[str, str]]:
    """Whether the paper's first is ours, and which of our differences exceed the noise."""
    if agreement.rho is None:
        return []
    facts = [(f"{agreement.column.name}, first", claim_sentence(agreement))]
    if agreement.apart is not None:
        beyond = [f"{listing(better)} over {listing(worse)}" for better, worse in agreement.by_worse_rows().items()]
        ending = f": {'; '.join(beyond)}" if beyond else ""
        facts.append(
            (
                f"{agreement.column.name}, beyond noise",
                f"{_noise(agreement)}{ending}. {_reversed_rows(agreement)}{TAKES}",
            )
        )
    return facts


def claim_sentence(agreement: Agreement) -> str:
    """A sentence on the paper's claim, from our records."""
    ours = {name: value for name, _, value in agreement.rows}
    lead, candidates = (
        f"The paper has {listing(agreement.first)} first",
        [name for name in ours if name in agreement.first],
    )
    if not candidates:
        return f"{lead}; here it is not measured."
    name, best = candidates[0], agreement.rows[0][0]
    place, gap = agreement.place(name)
    other = next(row for row in ours if row != name) if place == 1 else best
    size = f"{abs(gap):.2f} {'ahead of' if place == 1 else 'behind'} {other}"
    subject, pair = "it" if len(agreement.first) == 1 else name, (name, other) if place == 1 else (other, name)
    sure = (
        ""
        if agreement.apart is None
        else f", which {'exceeds' if pair in agreement.apart else 'does not exceed'} the noise"
    )
    return f"{lead}; here {subject} ranks {place} of {len(agreement.rows)}, {size}{sure}."


def _noise(agreement: Agreement) -> str:
    return (
        f"{len(agreement.apart)} of {agreement.pairs} of our differences exceed the noise of the test rows "
        "(z-test, Holm's correction, p < 0.05)"
    )


def _reversed_rows(agreement: Agreement) -> str:
    """A sentence: the pairs that the paper ranks the other way round, all of them."""
    worse: dict[str, list[str]] = {}
    for ahead, behind in agreement.turned:
        worse.setdefault(ahead, []).append(behind)
    pairs = "; ".join(f"{ahead} behind {listing(behind)}" for ahead, behind in worse.items())
    count = len(agreement.turned)
    return f"The paper has {count} of these the other way round: {pairs}. " if count else ""
