"""Views: functions of a trace and a choice that return a figure.  They draw; they do not show, save or cache.

Each module has NEEDS, the axes that it wants, and `figure(trace, choice, …)`.
"""

from __future__ import annotations

from types import ModuleType

from triattn_core.views import cube, points

VIEWS: dict[str, ModuleType] = {
    "cube": cube,
    "points": points,
}
