"""`triattn studies`: the claims of the guided studies, measured anew."""

from __future__ import annotations

import argparse
import json

from triattn_core.errors import InputError, choices


def arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("name", nargs="*", help="studies by name; by default all")


def run(options: argparse.Namespace) -> int:
    """Prints for each input of each study the number, that of untrained models, and whether the claim holds; 1 where
    one does not."""
    from triattn_core.checkpoint.bundle import load
    from triattn_core.studies import run as measure
    from triattn_core.studies import studies

    every = studies()
    for name in options.name:
        if name not in every:
            raise InputError(f"no study {name!r}; {choices(name, every)}")
    told, holds = [], True
    for name in options.name or every:
        study = every[name]
        findings = measure(study, [load(checkpoint, options.device) for checkpoint in study.checkpoints])
        holds &= all(finding.holds for finding in findings)
        told += [
            {"study": name, "input": number, "value": finding.value, "untrained": finding.untrained,
             "above": study.above, "unit": study.unit, "holds": finding.holds}
            for number, finding in enumerate(findings, 1)
        ]  # fmt: skip
        if not options.json:
            print(f"{name}: {study.title}")
            for finding in findings:
                beside = "" if finding.untrained is None else f" (untrained {finding.untrained:.3g})"
                verdict = "holds" if finding.holds else "FAILS"
                print(f"  {verdict}: {finding.value:.3g}{beside} > {study.above:g} {study.unit}")
    if options.json:
        print(json.dumps(told))
    return 0 if holds else 1
