"""The registry: the checkpoints on disk, from folder names and JSON alone, without heavy imports."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from triattn_core.checkpoint import transformer_folder
from triattn_core.checkpoint.listed_settings import wrong_setting
from triattn_core.checkpoint.old_names import current_config
from triattn_core.errors import CheckpointError, choices
from triattn_core.kinds import Kind, listed_kind

VARIABLE = "TRIATTN_CHECKPOINTS"
WEIGHTS = "model.safetensors"
SHIPPED = Path(__file__).parents[2] / "checkpoints"  # the project's own
LABORATORY = "laboratory"  # the folder of laboratory models under a root
OPERANDS = "operands"  # that of the models that find the operands of a number
# Folders of a root that hold no data set's checkpoints: they are not listed.
UNLISTED = {"encoders", LABORATORY, OPERANDS, "baselines", "full-size", "results", "runs"}
PARTS = ("config.json", "metrics.json")
# Names no longer shipped: one similarity per data set remains of the published form, under another name.
RENAMED = re.compile(r"(gsm8k|[a-z-]+-tri)-pairwise")  # before its score had its authors' name
REMEMBERED = 4096  # folders
LONGEST_NAME = 80  # letters of a name in an error


@dataclass(frozen=True)
class Entry:
    """A checkpoint as the registry lists it, without loading it; shared, so never modify `config` or `metrics`.

    size: bytes of its weights.  problem: one line that says why it cannot be read, or None.
    """

    name: str
    path: Path
    config: dict
    metrics: dict
    digest: str
    size: int
    problem: str | None = None

    @property
    def kind(self) -> Kind:
        """The kind that its config names; one of which no fact holds if it names none."""
        return listed_kind(self.config)


def roots() -> tuple[Path, ...]:
    """The folders that hold checkpoints: those in TRIATTN_CHECKPOINTS, separated as in PATH, or `checkpoints` next to
    the package."""
    paths = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return tuple(map(Path, paths)) or (SHIPPED,)


def root() -> Path:
    """The first root."""
    return roots()[0]


def add_roots(folders: Sequence[Path]) -> None:
    """Adds folders to the roots, for this process and its children; each holds checkpoints or is one.  Raises
    CheckpointError if it is neither."""
    for folder in folders:
        if not folder.is_dir():
            raise CheckpointError(f"{folder}: no such folder; name one that holds checkpoints, or is one")
        if not _folders(folder):
            raise CheckpointError(f"{folder}: no checkpoint in it; a checkpoint is a folder with a config.json")
    new = [folder.resolve() for folder in folders]
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys(str(path) for path in (*roots(), *new)))


def encoder_root() -> Path:
    """The folder of the shared encoders."""
    return root() / "encoders"


def find_encoder(name: str) -> Path | None:
    """The folder of an encoder by name, from the first root that has it, or None."""
    return next((path for folder in roots() if (path := folder / "encoders" / name).is_dir()), None)


def find_checkpoint(name: str | Path) -> Path:
    """The folder of a checkpoint by name or path. Raises CheckpointError with the nearest name."""
    apart = [entry for folder in (LABORATORY, OPERANDS) for entry in list_checkpoints(root() / folder)]
    path_of = {entry.name: entry.path for entry in apart} | _find_all()
    path = path_of.get(str(name)) or path_of.get(current_name(str(name))) or Path(name)
    if not os.path.isfile(path / "config.json"):  # Path.is_file raises where a name is too long for the system
        if os.path.isfile(path / transformer_folder.ADAPTER):
            raise CheckpointError(f"{shorten(str(name))}: {transformer_folder.UNMERGED}")
        quoted = repr(shorten(str(name)))
        raise CheckpointError(
            f"no checkpoint {quoted}; one of yours: its folder; {choices(shorten(str(name)), path_of)}"
        )
    return path


def current_name(name: str) -> str:
    """The current name for an older one: `gsm8k-pairwise` → `gsm8k-strassen`; other names are unchanged."""
    renamed = RENAMED.fullmatch(name)
    return f"{renamed[1]}-strassen" if renamed else name


def shorten(name: str) -> str:
    """A name as errors quote it: only its first and last letters if it is long."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 20]}…{name[-19:]}"


def require_regular(path: Path) -> Path:
    """Returns the path.  Raises CheckpointError if it is a pipe or a device, on which reading would block."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise CheckpointError(f"{path}: not a regular file; copy the checkpoint again")
    return path


def checkpoint_name(path: Path) -> str:
    """The registered name of a checkpoint's folder, which may be prefixed with its parent folder's name."""
    return next((name for name, folder in _find_all().items() if folder.resolve() == path.resolve()), path.name)


def is_unlisted(path: Path) -> bool:
    """Whether a folder is under the first root, and its checkpoint is not listed."""
    return root().resolve() in path.resolve().parents and path.resolve() not in map(Path.resolve, _find_all().values())


def laboratory_checkpoints() -> tuple[Entry, ...]:
    """The models of laboratory tasks; they read codes instead of texts, so only their own page lists them."""
    return list_checkpoints(root() / LABORATORY)


def operands_checkpoints() -> tuple[Entry, ...]:
    """The models that find the operands of a number: the folders of `operands/` with a config.json, sorted by name."""
    return list_checkpoints(root() / OPERANDS)


def list_checkpoints(folder: Path | None = None) -> tuple[Entry, ...]:
    """All checkpoints of ours under a folder, sorted by name; by default those of all `roots`.

    If there are several roots, a missing one is an entry with a problem.
    """
    if folder is not None:
        return tuple(_entry(path.name, path) for path in _folders(folder))
    return tuple(entry for entry in _list_all() if "source" not in entry.config)


def list_transformers() -> tuple[Entry, ...]:
    """The folders of Hugging Face models in all `roots`, sorted by name."""
    return tuple(entry for entry in _list_all() if "source" in entry.config)


def _list_all() -> tuple[Entry, ...]:
    missing = [path for path in roots() if not path.is_dir()] if len(roots()) > 1 else []
    absent = [Entry(path.name, path, {}, {}, "", 0, f"{path}: no such folder; {VARIABLE} names it") for path in missing]
    present = [_entry(name, path) for name, path in _find_all().items()]
    return tuple(sorted([*present, *absent], key=lambda entry: entry.name))


def _folders(folder: Path) -> list[Path]:
    """The checkpoints in a folder and in its folders of data sets; or the folder itself."""
    if _has_config(folder):
        return [folder]
    checkpoints: list[Path] = []
    for path in _subfolders(folder):
        checkpoints += [path] if _has_config(path) else filter(_has_config, _subfolders(path))
    return checkpoints


def _subfolders(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # not a folder, or not readable
        return []
    return [folder / name for name in names if name not in UNLISTED and not name.startswith(".")]


def _has_config(folder: Path) -> bool:
    return os.path.isfile(f"{folder}/{PARTS[0]}")


def _find_all() -> dict[str, Path]:
    """The checkpoints of all roots by unique name: a later duplicate is prefixed with the name of its root, then
    numbered."""
    origins: dict[Path, str] = {}
    for top in roots():
        for path in _folders(top):
            origins.setdefault(path, (top.parent if path == top else top).name)
    folders: dict[str, Path] = {}
    for path, origin in origins.items():
        name = path.name if path.name not in folders else f"{origin}/{path.name}"
        number = sum(other_name == name or other_name.startswith(f"{name} (") for other_name in folders)
        folders[f"{name} ({number + 1})" if number else name] = path
    return folders


def _entry(name: str, path: Path) -> Entry:
    """The entry of a folder, parsed once for every state of its files."""
    return parse_folder(name, path, tuple(_stamp(f"{path}/{part}") for part in (*PARTS, WEIGHTS)))


def _stamp(file: str) -> tuple[int, ...]:
    """A stamp that changes when a file is written or replaced; empty if there is no file."""
    try:
        status = os.stat(file)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


@lru_cache(REMEMBERED)
def parse_folder(name: str, path: Path, stamps: tuple) -> Entry:
    """The entry of a folder, cached by `stamps`: the states of its files."""
    weights = path / WEIGHTS
    size = weights.stat().st_size if weights.is_file() else 0
    state = "a pipe or device, not a file" if weights.exists() and not weights.is_file() else "no such file"
    parts, problem = {}, None if size else f"{weights}: {state}; train it, or copy the checkpoint again"
    for part in PARTS:
        file = path / part
        try:
            parts[part] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
            if not isinstance(parts[part], dict):
                raise ValueError("an object was expected")
        except (OSError, ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else error
            parts[part], problem = {}, f"{file}: not JSON ({reason}); copy the checkpoint again"
    config = current_config(parts["config.json"])
    if transformer_folder.is_transformer(config):
        return Entry(name, path, *transformer_folder.facts(path, config))
    if wrong := wrong_setting(config):
        # Pages and commands that list checkpoints rely on these types: a config with other types is not returned.
        problem, config = problem or f"{path / 'config.json'}: {wrong}", {}
    return Entry(name, path, config, parts["metrics.json"], str(config.get("digest") or ""), size, problem)
