"""Options that have another name now: the old spelling keeps working, and stands in no help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# By command, old to new.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "explain": {"--off": "--ablate", "--read": "--group-by"},
    "evaluate": {"--apart": "--exclude-overlap"},
}


def current_spelling(arguments: Sequence[str]) -> list[str]:
    """Arguments of the command line with the options' names of today; what follows `--` stays."""
    renamed = OPTIONS.get(arguments[0], {}) if arguments else {}
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    found = []
    for argument in arguments[:end]:
        name, equals, value = argument.partition("=")
        found.append(renamed.get(name, name) + equals + value)
    return [*found, *arguments[end:]]
