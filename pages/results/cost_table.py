"""What each block costs at one length of text, as a table beside the paper's, and how that was measured."""

from __future__ import annotations

from html import escape

from triattn_core.results import efficiency


def costs_html(measured: efficiency.Measurement, tokens: int) -> str:
    """HTML: a row per block with its cost at a length, and the ratio to multi-head, here and in the paper."""
    titles = {"training": ("training, ms", 1e3), "inference": ("inference, ms", 1e3), "memory": ("memory, MB", 1e-6)}
    heads = "".join(f'<th class="r">{t}</th><th class="r">× multi-head</th><th class="r">paper</th>'
                    for t, _ in titles.values())  # fmt: skip
    body = ""
    for row in efficiency.cost_rows(measured, tokens):
        cells = f"<td>{escape(row['name'])}</td>"
        for name, (_, unit) in titles.items():
            value, *ratios = row[name], row[f"{name} ratio"], row[f"{name} printed"]
            ratio, paper_ratio = ("–" if number is None else f"{number:.2f}" for number in ratios)
            text = "–" if value is None else f"{value * unit:,.1f}"
            cells += f'<td class="r" title="{escape(row["reason"], quote=True)}">{text}</td>'
            cells += f'<td class="r">{ratio}</td><td class="r t-muted">{paper_ratio}</td>'
        body += f"<tr>{cells}</tr>"
    return f'<div class="t-scroll"><table class="t-table t-costs"><tr><td></td>{heads}</tr>{body}</table></div>'


def method_html(measured: efficiency.Measurement) -> str:
    """HTML: what was measured, how, and what was left out."""
    names = efficiency.block_names(measured)
    load = "unknown" if measured.load is None else f"{measured.load:g}"
    omissions = dict.fromkeys(f"{names[point.block]}: {point.reason}." for point in measured.points if point.reason)
    method = (
        f"One block alone on random vectors: batch {measured.batch}, {measured.width} features in, {measured.out} out "
        f"(Hrchy-CNN: 300). Time is the median of repeats, or the single run of a pass of many seconds; memory (in the "
        f"table, of training) is the {measured.memory}. Load before it: {load}. The paper's ratios (Table 1) are "
        f"of whole networks on a GPU: times on SNLI, memory on synthetic texts. {' '.join(omissions)}"
    )
    return f'<p class="t-note">{escape(method)}</p>'
