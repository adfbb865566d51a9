"""`triattn studies`: measure the claims of the guided studies again."""

from __future__ import annotations

import argparse
import json
from textwrap import shorten

from triattn_core.errors import InputError, choices

SHOWN = 90  # characters of an input


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("name", nargs="*", metavar="NAME", help="studies, by name (default: all)")


def run(options: argparse.Namespace) -> int:
    """Print, for each input of each study, the number, that of untrained models, and whether the claim holds; returns 1
    if one does not."""
    from triattn_core.checkpoint.bundle import load
    from triattn_core.studies import run as measure
    from triattn_core.studies import studies

    all_studies = studies()
    for name in options.name:
        if name not in all_studies:
            raise InputError(f"no study {name!r}; {choices(name, all_studies)}")
    results, holds = [], True
    for name in options.name or all_studies:
        study = all_studies[name]
        findings = measure(study, [load(checkpoint, options.device) for checkpoint in study.checkpoints])
        holds &= all(finding.holds for finding in findings)
        results += [
            {"study": name, "input": number, "value": finding.value, "untrained": finding.untrained,
             "above": study.above, "unit": study.unit, "holds": finding.holds}
            for number, finding in enumerate(findings, 1)
        ]  # fmt: skip
        if not options.json:
            print(f"{name}: {study.title}")
            print(
                f"  {study.number}, in {study.unit}; the claim holds above {study.above:g}. "
                f"The first input is the page's."
            )
            for example, finding in zip(study.examples, findings, strict=True):
                untrained = "" if finding.untrained is None else f" (untrained {finding.untrained:.3g})"
                verdict = "holds" if finding.holds else "FAILS"
                print(f"  {verdict}: {finding.value:.3g}{untrained}  {shorten(' / '.join(study.show(example)), SHOWN)}")
    if options.json:
        print(json.dumps(results))
    return 0 if holds else 1
