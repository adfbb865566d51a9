"""Checkpoints as text: a table of all, one as an inspector, two configs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from statistics import mean, stdev
from typing import TYPE_CHECKING

import pandas as pd

from pages.shared import seeds, style
from pages.shared.errors import without_folders
from triattn_core.checkpoint import metadata, provenance
from triattn_core.checkpoint.registry import Entry
from triattn_core.trace.axes import FUNCTION_LABELS, MECHANISM_LABELS, OTHER
from triattn_core.views.lib.number_format import half_up

if TYPE_CHECKING:
    from triattn_core.checkpoint.verify import Check
    from triattn_core.inference.device import Device


def label(entry: Entry) -> str:
    """The mechanism as it is written on every page."""
    mechanism = metadata.model_setting(entry, "mechanism")
    return MECHANISM_LABELS.get(mechanism, mechanism)


def similarity(entry: Entry) -> str:
    """The display name of the similarity; of a reader the function label of Similarity and Distributions."""
    name = metadata.model_setting(entry, "similarity")
    plain_name = name.replace("_", " ")
    return FUNCTION_LABELS.get(name, plain_name) if entry.kind.finds_spans else plain_name


def name_parts(entry: Entry) -> tuple[str, str, str, str]:
    """Name, mechanism, similarity and form, from which `panels.titles` makes short names."""
    if "source" in entry.config:
        return entry.name, OTHER, "", ""
    return entry.name, metadata.model_setting(entry, "mechanism"), similarity(entry), metadata.form(entry)


def megabytes(size: int) -> str:
    """Bytes as MB, kB or B with three digits."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"


def percent(value: float | None) -> str:
    """A metric in per cent, or a dash where it was not measured."""
    return "–" if value is None else half_up(value, 1)


def duration(seconds: float) -> str:
    """Seconds, minutes or hours and minutes: `45 s`, `7 min`, `3 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def frame(entries: Sequence[Entry]) -> pd.DataFrame:
    """The checkpoints, a row each, in the given order."""
    rows = [
        {
            "name": entry.name,
            "mechanism": label(entry),
            "similarity": similarity(entry),
            "layers": int(metadata.model_setting(entry, "layers") or 0) or None,
            "dev": metadata.main_score(entry, "dev"),
            "test": metadata.main_score(entry, "test"),
            "over seeds": seed_spread(entry),
            "parameters": entry.metrics.get("parameters"),
            "MB": entry.size / 1e6,
            "digest": entry.digest[:6],
        }
        for entry in entries
    ]
    table = pd.DataFrame(rows).dropna(axis="columns", how="all")
    return table.fillna({"over seeds": ""})  # a cell says nothing where nothing was measured


def seed_spread(entry: Entry) -> str | None:
    """Mean and standard deviation on test over seeds, where there are several: "85.1 ± 0.20 (3)"."""
    scores = seeds.scores(entry, "test")
    return f"{half_up(mean(scores), 1)} ± {stdev(scores):.2f} ({len(scores)})" if len(scores) > 1 else None


def group_head(entries: Sequence[Entry]) -> str:
    """HTML: what the checkpoints of one table share, and their encoder's pre-training data."""
    first = entries[0]
    title = f"{metadata.dataset_name(first) or 'No data set'}, {metadata.language_name(metadata.language(first))}"
    shared = [metadata.task_label(first).lower(), f"{len(entries)} checkpoint{'s' * (len(entries) > 1)}"]
    rows = (first.metrics.get("test") or {}).get("n")
    blind = next((name for name in metadata.BASELINES if metadata.metric_value(first, "test", name) is not None), "")
    shared += [f"{rows:,} test rows"] if rows else []
    if rows and blind:
        shared.append(f"{metadata.BASELINES[blind]} {percent(metadata.metric_value(first, 'test', blind))} %")
    read = {_read(entry) for entry in entries}
    shared += [read.pop() if len(read) == 1 else "several encoders"]
    return section(title, " · ".join(filter(None, shared)))


def _read(entry: Entry) -> str:
    """The encoder, and the most important source of its pre-training data."""
    name, sources = entry.config.get("encoder", ""), provenance.pretraining_sources(entry)
    if not sources:
        return f"encoder {name}" + (", not pre-trained" if sources == () else "")
    first = next((source for source in sources if source.of_test), sources[0])
    more_text = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
    return f"encoder {name}, pre-trained on {first.name}{'*' * first.of_test}{more_text}"


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """HTML: names on the left, values on the right."""
    lines = "".join(f'<tr><td class="t-muted">{escape(a)}</td><td class="r">{escape(b)}</td></tr>' for a, b in rows)
    return f'<table class="t-facts">{lines}</table>'


def section(title: str, aside: str = "") -> str:
    """HTML: a small heading with a word at its right."""
    return f'<div class="t-section"><b>{escape(title)}</b><span class="t-muted">{escape(aside)}</span></div>'


def head(entry: Entry) -> str:
    """HTML: name, what it is, and the number that stands for it."""
    colour = style.colour(metadata.model_setting(entry, "mechanism"))
    split = entry.metrics.get("test") or {}
    name = metadata.metric_name(entry)
    data = escape(metadata.dataset_name(entry))
    aside = f"test {name}<br><span class='t-muted'>{split.get('n', 0):,} rows of {data}</span>"
    number = (
        f'<div class="t-big"><b>{percent(metadata.main_score(entry))}</b><span>{aside}</span></div>' if name else ""
    )
    return (
        f'<div class="t-card" style="border-color:{colour}"><h2>{escape(entry.name)}</h2>'
        f"<p>{escape(provenance.model_card_summary(entry).replace('`', ''))}</p>{number}</div>"
    )


def metrics_html(entry: Entry) -> str:
    """HTML: the recorded numbers of metrics.json, one line each."""
    metrics = entry.metrics
    took = duration(metrics["seconds"]) if metrics.get("seconds") else ""
    epochs = f"{metrics['epochs']} epoch{'s' * (metrics['epochs'] > 1)}" if metrics.get("epochs") else ""
    majority = metadata.metric_value(entry, "test", "majority") or metrics.get("majority")
    beside_encoder = " beside the encoder" * bool(entry.config.get("encoder"))
    rows = [
        (f"dev {metadata.metric_name(entry)}", percent(metadata.main_score(entry, "dev"))),
        ("F1 on test", percent(metadata.metric_value(entry, "test", "f1"))),
        ("majority class on test", percent(majority)),
        ("test over seeds", seed_spread(entry) or ""),
        ("trained", ", ".join(part for part in (epochs, took) if part)),
        ("on", str(metrics.get("machine", ""))),
        ("seed", str(metrics.get("seed", ""))),
        (f"parameters{beside_encoder}", f"{metrics['parameters']:,}" if metrics.get("parameters") else ""),
        ("digest of its tensors", entry.digest[:12]),
    ]
    return facts([(name, text) for name, text in rows if text and text != "–"])


def sources(entry: Entry) -> str:
    """HTML: the encoder's pre-training data, the source of the test set marked."""
    had = provenance.pretraining_sources(entry) or ()
    lines = "".join(
        f'<tr class="{"t-mark" if source.of_test else ""}"><td>{escape(source.name)}</td>'
        f'<td class="t-muted">{escape(source.what)}</td></tr>'
        for source in had
    )
    recorded = provenance.pretraining_sources(entry) is not None
    note = "Not recorded." if not recorded else "" if had else "None: the weights were initialised at random."
    if any(source.of_test for source in had):
        note = (
            "Its pre-training data include the source of the test set: the score may be inflated by contamination. "
            "Models that start from the same weights may be compared."
        )
    taught = provenance.encoder_datasets(entry)
    note += f" The encoder was then trained, with labels, on {', '.join(taught)}." if taught else ""
    table = f'<table class="t-facts t-sources">{lines}</table>'
    return section("Pre-training data") + table + f'<p class="t-note">{note}</p>'


def contents(entry: Entry) -> str:
    """HTML: the files of the folder, and the encoder it shares."""
    own_files, encoder_folder = provenance.files(entry.path), provenance.encoder_folder(entry)
    rows = "".join(
        f'<tr><td class="t-code">{escape(name)}</td><td class="r t-muted">{megabytes(size)}</td></tr>'
        for name, size in own_files.items()
    )
    aside = megabytes(sum(own_files.values()))
    if encoder_folder is not None:
        aside += f" and a shared {megabytes(sum(provenance.files(encoder_folder).values()))}"
    return section("Files", aside) + f'<table class="t-facts">{rows}</table>'


def checks(name: str, when: datetime, results: Sequence[Check]) -> str:
    """HTML: what a verification found, line by line."""
    rows = "".join(
        f'<tr class="{"" if check.good else "t-mark"}"><td class="t-muted">{escape(check.name)}</td>'
        f'<td>{escape(without_folders(check.actual))}</td><td class="r"><b>{_verdict(check)}</b></td></tr>'
        for check in results
    )
    title = "is as recorded" if all(check.good for check in results) else "is not as recorded"
    return section(f"{name} {title}", f"{when:%d %b, %H:%M}") + f'<table class="t-facts">{rows}</table>'


def _verdict(check: Check) -> str:
    if not check.good:
        return f"expected {escape(check.expected)}"
    return "as recorded" if check.actual == check.expected else escape(check.expected)


def machine(device: Device, cache_sizes: tuple[int, int]) -> str:
    """HTML: the device and the memory.  cache_sizes: bytes of cached results, and their limit."""
    gib = f"{device.free / 2**30:.3g} of {device.total / 2**30:.3g} GiB"
    rows = [
        ("models run on", f"{device.title} ({device.name})" if device.name != "cpu" else f"CPU, {device.cores} cores"),
        ("chosen", {"found": "auto-detected"}.get(device.chosen_by, f"by {device.chosen_by}")),
        ("memory left", gib),
        ("results kept", f"{cache_sizes[0] / 1e6:.0f} of at most {cache_sizes[1] / 1e6:.0f} MB"),
        *((name, number) for name, number in device.versions),
    ]
    return section("This machine") + facts(rows) + '<p class="t-note">Nothing leaves this machine.</p>'


def footnote(rows: Sequence[Entry], all_entries: Sequence[Entry]) -> str:
    """HTML: how to read the table."""
    encoder_folders = {provenance.encoder_folder(entry) for entry in rows} - {None}
    size = sum(sum(provenance.files(folder).values()) for folder in encoder_folders)
    metrics = sorted({metadata.metric_name(entry) for entry in rows if metadata.main_metric(entry)})
    text = f"{len(rows)} of {len(all_entries)}. Best on dev first; a click on a heading sorts. "
    text += f"MB: without the shared encoder ({megabytes(size)}). " if size else ""
    text += f"Dev and test: {', '.join(metrics)} in per cent." if metrics else ""
    starred = any(source.of_test for entry in rows for source in provenance.pretraining_sources(entry) or ())
    star = (
        "<br><b class='t-query'>*</b> its pre-training data include the source of the test set: the score may be "
        "inflated by contamination."
    )
    return f'<p class="t-note">{escape(text)}{star if starred else ""}</p>'
