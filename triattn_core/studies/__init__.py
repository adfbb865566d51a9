"""The guided studies of Home.  To add one: a file here that sets `STUDY`; its claim is tested by itself."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from triattn_core.studies.study import Finding, Study, run

__all__ = ["Finding", "Study", "run", "studies"]


@cache
def studies() -> dict[str, Study]:
    """By name, the file's, in the order of Home."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        study = getattr(import_module(f"{__name__}.{module.name}"), "STUDY", None)
        if study is not None:
            found[module.name.replace("_", "-")] = study
    return dict(sorted(found.items(), key=lambda item: item[1].order))
