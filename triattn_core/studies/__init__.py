"""The guided studies.  To add one: a file here that sets `STUDY`; its claim is then tested automatically."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from triattn_core.studies.study import Finding, Study, run

__all__ = ["Finding", "Study", "run", "studies"]


@cache
def studies() -> dict[str, Study]:
    """The studies by name (of their file), in their order on the page."""
    by_name = {}
    for module in pkgutil.iter_modules(__path__):
        study = getattr(import_module(f"{__name__}.{module.name}"), "STUDY", None)
        if study is not None:
            by_name[module.name.replace("_", "-")] = study
    return dict(sorted(by_name.items(), key=lambda item: item[1].order))
