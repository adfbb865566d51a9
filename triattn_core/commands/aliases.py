"""Renamed options: old spellings keep working, and are not listed in the help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# By command, old to new.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "explain": {"--off": "--ablate", "--read": "--group-by"},
    "heads": {"--switch-off": "--ablate"},
    "evaluate": {"--apart": "--exclude-overlap"},
}


def current_spelling(arguments: Sequence[str]) -> list[str]:
    """Command-line arguments with the current names of options; arguments after `--` are unchanged."""
    renamed = OPTIONS.get(arguments[0], {}) if arguments else {}
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    spelled = []
    for argument in arguments[:end]:
        name, equals, value = argument.partition("=")
        spelled.append(renamed.get(name, name) + equals + value)
    return [*spelled, *arguments[end:]]
