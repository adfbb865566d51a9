"""What can go wrong, said in one line each.

TriattnError            anything a user can cause and mend
├── InputError          a text that cannot be read as asked: empty, too long, not text
├── DataError           a file of rows: names the file, the line and the field
│   └── TruncationError the rest of a file of rows, which is damaged or too large to read
├── ConfigError         a setting that is unknown or does not fit
├── CheckpointError     a checkpoint folder that is damaged, changed or not one of ours
├── TraceError          an axis, site or quantity that a trace does not have
└── CaseError           a case that is not in the case book, or has been changed meanwhile

A message says what was expected, what came, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType


class TriattnError(Exception):
    """Base of all errors that are shown to a user without a program's trace."""


class InputError(TriattnError):
    """A text that cannot be read as asked."""


class DataError(TriattnError):
    """A file of rows that cannot be read."""


class TruncationError(DataError):
    """The rest of a file of rows, which is damaged or too large to read."""


class ConfigError(TriattnError):
    """A setting that is unknown or does not fit."""


class CheckpointError(TriattnError):
    """A checkpoint folder that is damaged, changed or not one of ours."""


class TraceError(TriattnError):
    """An axis, site or quantity that a trace does not have."""


class CaseError(TriattnError):
    """A case that is not in the case book, or has been changed meanwhile: `now` is what stands there."""

    def __init__(self, message: str, now: object = None):
        super().__init__(message)
        self.now = now


LONGEST = 60  # characters of what was given, which an error repeats
MANY = 24  # names, of which an error lists some
LONGER = 3  # names that begin with what was given, which an error lists


def quote(given: str) -> str:
    """What was given, in quotes, for an error: the beginning of a long text."""
    return repr(given if len(given) <= LONGEST else given[:LONGEST] + "…")


def choices(name: str, options: Iterable[str]) -> str:
    """The tail of an error: the names that begin so, or the nearest, or all of them; of many the first ones."""
    names = sorted(options, key=lambda option: (len(option) if option.isdigit() else 0, option))
    longer = [option for option in names if option.startswith(f"{name}-")]
    if near := longer[:LONGER] or get_close_matches(name[:LONGEST], names, n=1):
        return f"did you mean {' or '.join(map(repr, near))}?"
    more_text = f" and {len(names) - MANY // 2} more" if len(names) > MANY else ""
    return f"known: {', '.join(names[: MANY // 2] if more_text else names) or 'none'}{more_text}"


NO_MEMORY = ("out of memory", "can't allocate", "not enough memory")
DEVICE = ("cuda error", "cudnn error", "hip error")


def is_machine_failure(error: BaseException) -> bool:
    """Whether an error is of the machine, and of no row or text: no memory, a device that failed, a file that cannot be
    read or written, a package that cannot be imported.

    torch raises plain RuntimeErrors for some of these; its own classes are known by name, so that torch is not loaded.
    """
    if isinstance(error, (MemoryError, OSError)) or _is_import_failure(error):
        return True
    names, text = {kind.__name__ for kind in type(error).__mro__}, str(error).lower()
    if names & {"OutOfMemoryError", "AcceleratorError"}:
        return True
    return isinstance(error, RuntimeError) and any(part in text for part in (*NO_MEMORY, *DEVICE))


def _is_import_failure(error: BaseException) -> bool:
    """Whether a package is missing, damaged or of another version: an ImportError, or a name that a module lacks."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, ModuleType)
    return isinstance(error, ImportError) or isinstance(error.__cause__, ImportError)


def describe_machine_failure(error: BaseException) -> str:
    """The same in one line, such as "OutOfMemoryError: CUDA out of memory"."""
    reason = (str(error).strip().splitlines() or ["not enough memory" if isinstance(error, MemoryError) else ""])[0]
    return f"{type(error).__name__}: {reason}" if reason else type(error).__name__


def cause(error: Exception) -> str:
    """The first line of a library's error if it may help a user: a sentence, not a number, a key or an attribute."""
    line = (str(error).strip().splitlines() or [""])[0]
    programs = isinstance(error, (AttributeError, KeyError, IndexError, TypeError))
    return "" if programs or len([word for word in line.split() if word.isalpha()]) < 2 else line
