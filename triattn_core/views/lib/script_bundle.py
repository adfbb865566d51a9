"""The script of a figure in one piece: its modules, each in a scope of its own, those first that others import.

The files are ES modules, so that node and a browser read them as they are.  A component, a notebook and an offline file
take one string: `import` and `export` become constants.  Only named imports of files at the top and `export` before a
declaration are understood; anything else raises ValueError.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function\*?|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def bundle_script(entry: str) -> str:
    """JavaScript that defines what the module `entry` exports; a path from the views, as "start/start.js".

    Raises ValueError for a circle, for a name that a module does not export, and for syntax that is not understood.
    """
    modules: dict[Path, tuple[str, list[str]]] = {}
    _add((ROOT / entry).resolve(), modules, ())
    *_, (_, exports) = modules.values()
    last = f"const {{ {', '.join(exports)} }} = {_name(ROOT / entry)};\n"
    return "\n".join([*(text for text, _ in modules.values()), last])


def _add(path: Path, modules: dict[Path, tuple[str, list[str]]], above: tuple[Path, ...]) -> None:
    """Puts a module after those that it imports."""
    if path in modules:
        return
    if path in above:
        raise ValueError(f"modules import each other: {' -> '.join(file.name for file in (*above, path))}")
    code = path.read_text(encoding="utf-8")
    needs = []
    for names, file in _IMPORT.findall(code):
        target = (path.parent / file).resolve()
        _add(target, modules, (*above, path))
        wanted = [name.strip() for name in names.split(",") if name.strip()]
        missing = {name.partition(" as ")[0] for name in wanted} - set(modules[target][1])
        if missing:
            raise ValueError(f"{path.name}: {target.name} does not export {', '.join(sorted(missing))}")
        needs.append(f"const {{ {', '.join(name.replace(' as ', ': ') for name in wanted)} }} = {_name(target)};")
    exports = _EXPORT.findall(code)
    body = _EXPORT.sub("", _IMPORT.sub("", code)).strip()
    if other := _OTHER.search(body):
        raise ValueError(f"{path.name}: not understood: {other[0]}")
    lines = [f"const {_name(path)} = (() => {{", *needs, body, f"return {{ {', '.join(exports)} }};", "})();", ""]
    modules[path] = "\n".join(lines), exports


def _name(path: Path) -> str:
    return "module_" + re.sub(r"\W", "_", os.path.relpath(path.resolve().with_suffix(""), ROOT.resolve()))
